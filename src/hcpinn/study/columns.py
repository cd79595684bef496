"""A table column by column: what each cell says, and the value it is sorted by."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .rows import MEASURES, Row, Spread


@dataclass(frozen=True)
class Cell:
    """What a reader sees, and what a program reads."""

    text: str
    value: float | str | None = None
    hint: str = ""
    """More to say about it, where there is room."""


@dataclass(frozen=True)
class Column:
    """A titled column of cells."""

    title: str
    cells: tuple[Cell, ...]
    kind: str = "text"
    """What it holds: text, figure, ratio, spread, verdict or note."""
    data: bool = True
    """Whether a program wants it."""
    shown: bool = True
    """Whether a reader wants it."""

    @property
    def numeric(self) -> bool:
        """Whether it is aligned to the right."""
        return self.kind in ("figure", "ratio", "spread")


def columns_of(rows: Sequence[Row], measures: Sequence[str]) -> tuple[Column, ...]:
    """The columns that these rows need."""
    columns = []
    if len({row.problem for row in rows}) > 1:
        columns.append(_text("problem", rows, lambda row: row.problem))
    if not any(row.modes is not None for row in rows):
        columns.append(_text("method", rows, lambda row: row.method))
    for name in sorted({name for row in rows for name in row.parameters}):
        values = [row.parameters.get(name) for row in rows]
        if len(set(values)) > 1:
            cells = (Cell("" if v is None else f"{v:g}", v) for v in values)
            columns.append(Column(name, tuple(cells), "figure"))
    if any(row.modes is not None for row in rows):
        columns.append(Column("m", tuple(Cell(str(row.modes), row.modes) for row in rows), "figure"))
    for measure in measures:
        columns += _measured(MEASURES[measure], rows, measure)
    columns += [
        _text("seeds", rows, lambda row: row.runs),
        Column("verdict", tuple(Cell(row.verdict, row.verdict) for row in rows), "verdict"),
        Column(
            "parameters",
            tuple(_figure(row.size, lambda size: f"{size:,.0f}") for row in rows),
            "figure",
            shown=any(row.method == "expert" for row in rows),
        ),
        Column("seconds", tuple(_figure(row.seconds, seconds) for row in rows), "figure"),
        Column("note", tuple(Cell(row.notes, row.notes) for row in rows), "note"),
    ]
    return tuple(column for column in columns if column.title != "note" or any(c.text for c in column.cells))


def _measured(label: str, rows: Sequence[Row], measure: str) -> list[Column]:
    found = [row.found(measure) for row in rows]
    ours = Column(
        f"{label} ours", tuple(_mean(spread, row) for spread, row in zip(found, rows, strict=True)), "figure"
    )
    columns = [ours]
    several = any(spread is not None and len(spread.values) > 1 for spread in found)
    if several:
        columns.append(Column(f"{label} min–max", tuple(map(_range, found)), "spread", data=False))
    if any(measure in row.published for row in rows):
        published = tuple(_figure(row.published.get(measure), number) for row in rows)
        ratios = tuple(_figure(row.ratio(measure), ratio) for row in rows)
        columns = [
            Column(f"{label} published", published, "figure"),
            *columns,
            Column(f"{label} ours / published", ratios, "ratio"),
        ]
    if several:
        for name in ("median", "low", "high"):
            cells = tuple(_figure(getattr(spread, name) if spread else None, number) for spread in found)
            columns.append(Column(f"{label} {name}", cells, "figure", shown=False))
    return columns


def _text(title: str, rows: Sequence[Row], say: Callable[[Row], str]) -> Column:
    return Column(title, tuple(Cell(say(row), say(row)) for row in rows))


def _figure(value: float | None, say: Callable[[float], str]) -> Cell:
    return Cell("–") if value is None else Cell(say(value), value)


def _mean(spread: Spread | None, row: Row) -> Cell:
    if spread is None:
        return Cell("failed" if row.failed else ("no figure" if row.done else "–"))
    if len(spread.values) == 1:
        return Cell(number(spread.mean), spread.mean)
    return Cell(
        number(spread.mean), spread.mean, f"median {number(spread.median)} of {len(spread.values)} seeds"
    )


def _range(spread: Spread | None) -> Cell:
    if spread is None or len(spread.values) == 1:
        return Cell("–")
    return Cell(f"{number(spread.low)} – {number(spread.high)}", spread.high / max(spread.low, 1e-300))


def number(value: float) -> str:
    """A figure in three digits: 8.29e-4, 0.403, 12.4."""
    if math.isinf(value):
        return "∞"
    if value == 0 or 0.1 <= abs(value) < 1000:
        return f"{value:#.3g}".rstrip(".")
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def ratio(value: float) -> str:
    """A ratio in two digits: 1.8, 0.028, 2.3e-4."""
    if 0.001 <= value < 1000:
        return f"{value:#.2g}".rstrip(".") if value < 100 else f"{value:.0f}"
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def seconds(value: float) -> str:
    """A time in seconds."""
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"
