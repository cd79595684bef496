"""A table column by column: what each cell says, and the value it is sorted by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from .numbers import number, seconds
from .record import budget
from .rows import Middle, Row, Spread, components

_Row = TypeVar("_Row", bound=Row)

NORMS = {"rel_l2": "L2", "rel_l1": "L1"}


@dataclass(frozen=True)
class Cell:
    """A text for readers and a value for programs."""

    text: str
    value: float | str | None = None
    hint: str = ""
    """More detail, shown on hover."""


@dataclass(frozen=True)
class Column:
    """A titled column of cells."""

    title: str
    cells: tuple[Cell, ...]
    kind: str = "text"
    """What it holds: text, figure, ratio, spread, verdict or note."""
    data: bool = True
    """Whether it goes into CSV files."""
    shown: bool = True
    """Whether readers see it."""

    @property
    def numeric(self) -> bool:
        """Whether it is aligned to the right."""
        return self.kind in ("figure", "ratio", "spread")


def columns_of(rows: Sequence[Row]) -> tuple[Column, ...]:
    """The columns that the rows of any study need."""
    columns = parameter_columns(rows)
    if any(len(row.done) > 0 for row in rows):
        for measure, label in measures_of(rows).items():
            columns += error_columns(f"{label} error", rows, measure)
    return (*columns, *outcome_columns(rows, [row.notes for row in rows]))


def measures_of(rows: Sequence[Row]) -> dict[str, str]:
    """Which errors rows have, each with its label: of several fields the largest, and that of each."""
    fields = dict.fromkeys(name for row in rows for record in row.done for name in components(record))
    found = {norm: label for norm, label in NORMS.items() if any(row.found(norm) for row in rows)}
    if len(fields) > 1:
        found |= {f"rel_l2_{name}": f"L2 of {name}" for name in fields}
    return found or {"rel_l2": NORMS["rel_l2"]}


def parameter_columns(rows: Sequence[Row]) -> list[Column]:
    """What tells rows apart: problem, method and parameters, or else the label."""
    columns = []
    if len({row.problem for row in rows}) > 1:
        columns.append(text_column("problem", rows, lambda row: row.problem))
    columns.append(text_column("method", rows, lambda row: row.method))
    for name in sorted({name for row in rows for name in row.parameters}):
        values = [row.parameters.get(name) for row in rows]
        if len(set(values)) > 1:
            cells = (Cell("" if v is None else f"{v:g}", v) for v in values)
            columns.append(Column(name, tuple(cells), "figure"))
    alike = [(row.problem, row.method, tuple(row.parameters.items())) for row in rows]
    if len(set(alike)) < len(rows):
        labels = [row.label for row in rows]
        if len(set(labels)) > 1:
            columns.append(text_column("label", rows, lambda row: row.label))
        if len(set(zip(alike, labels, strict=True))) < len(rows):
            columns.append(
                text_column("budget", rows, lambda row: budget(row.records[0]) if row.records else "")
            )
    return columns


def error_columns(
    title: str, rows: Sequence[_Row], measure: str, *, middle: Middle = "median"
) -> list[Column]:
    """A figure over the seeds, its range, and more for programs.

    Args:
        title: of the first column; in the others something else stands in place of its last word.
        rows: those of the table.
        measure: which figure, as `measured` knows it.
        middle: what stands for several seeds.
    """
    found = [row.found(measure) for row in rows]
    cells = tuple(_error(spread, row, middle) for spread, row in zip(found, rows, strict=True))
    columns = [Column(title, cells, "figure")]
    if any(spread is not None and len(spread.values) > 1 for spread in found):
        label = title.rpartition(" ")[0]
        columns.append(Column(f"{label} min–max", tuple(map(_range, found)), "spread", data=False))
        for name in (*({"mean", "median"} - {middle}), "low", "high"):
            values = (getattr(spread, name) if spread else None for spread in found)
            columns.append(figure_column(f"{label} {name}", values, number, shown=False))
    return columns


def outcome_columns(rows: Sequence[Row], notes: Sequence[str], *, sizes: bool = False) -> list[Column]:
    """How the runs ended, with a note on each row if there are any."""
    columns = [
        text_column("seeds", rows, lambda row: row.runs),
        Column("verdict", tuple(Cell(row.verdict, row.verdict) for row in rows), "verdict"),
        figure_column("parameters", (row.size for row in rows), lambda size: f"{size:,.0f}", shown=sizes),
        figure_column("seconds", (row.seconds for row in rows), seconds),
    ]
    if any(notes):
        columns.append(Column("note", tuple(Cell(note, note) for note in notes), "note"))
    return columns


def text_column(title: str, rows: Sequence[_Row], say: Callable[[_Row], str]) -> Column:
    """A column of words."""
    return Column(title, tuple(Cell(say(row), say(row)) for row in rows))


def figure_column(
    title: str,
    values: Iterable[float | None],
    say: Callable[[float], str],
    *,
    kind: str = "figure",
    shown: bool = True,
) -> Column:
    """A column of figures, of which some may be missing."""
    cells = (Cell("–") if value is None else Cell(say(value), value) for value in values)
    return Column(title, tuple(cells), kind, shown=shown)


def _error(spread: Spread | None, row: Row, middle: Middle) -> Cell:
    if spread is None:
        return Cell("failed" if row.failed else ("no figure" if row.done else "–"))
    count, value = len(spread.values), getattr(spread, middle)
    if count == 1:
        return Cell(number(value), value)
    other = "median" if middle == "mean" else "mean"
    return Cell(number(value), value, f"{other} {number(getattr(spread, other))} of {count} seeds")


def _range(spread: Spread | None) -> Cell:
    if spread is None or len(spread.values) == 1:
        return Cell("–")
    return Cell(f"{number(spread.low)} – {number(spread.high)}", spread.high / max(spread.low, 1e-300))
