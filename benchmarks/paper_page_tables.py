"""The tables of the paper's study as sections of a page: published figures and ours, and experiments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hcpinn.papers.hao2026.reproduced import ReproducedRow as Row, ReproducedTable as Table
from hcpinn.study.numbers import number

_LABELS = {
    "rel_l2": "",
    "rel_l2_u": "u, ",
    "rel_l2_v": "v, ",
    "rel_l2_real": "real part, ",
    "rel_l2_imag": "imaginary part, ",
    "rel_l2 at t=0.5": "t = 0.5, ",
    "rel_l2 at t=1": "t = 1, ",
}
"""What a relative L2 error is of, where a table has several."""


def published(tables: Sequence[Table]) -> dict[str, str]:
    """Every table of the paper, by a name in which hyphens stand for blanks."""
    known = {table.name: table for table in tables}
    found = {
        name.replace(" ", "-"): beside_published(table)
        for name, table in known.items()
        if not name.startswith(("explanation", "modes", "expert", "advection"))
    }
    return {
        **found,
        "speed": by_speed(known["advection by speed"].rows),
        "modes": by_modes(known["modes allen-cahn-1"].rows, known["modes allen-cahn-2"].rows),
    }


def beside_published(table: Table) -> str:
    """Each row with the published error and ours; with one field also the range over the seeds."""
    measures = [measure for measure in table.measures if measure.startswith("rel_l2")]
    heads = [*(["problem"] if len({row.problem for row in table.rows}) > 1 else []), "method"]
    first = len(heads)
    whats = ["published", "here", "range"][: 3 if len(measures) == 1 else 2]
    for measure in measures:
        heads += [f"{_LABELS[measure]}{what}" for what in whats]
    lines = []
    for row in table.rows:
        own = f" (γ₁ = {row.parameters['gamma1']:g})" if "gamma1" in row.parameters else ""
        cells = [row.problem, f"`{row.method}`{own}"][-first:]
        for measure in measures:
            figure, spread = row.published.get(measure), row.found(measure)
            cells += [number(figure) if figure else "–", number(spread.mean) if spread else "not run"]
            cells += [_range(row, measure)] if "range" in whats else []
        lines.append(cells)
    return _table(heads, lines, first)


def by_speed(rows: Iterable[Row]) -> str:
    """Advection: a line for each speed, a column for each method, the published error before ours."""
    found = {(row.parameters["c"], row.method): row for row in rows}
    methods = list(dict.fromkeys(method for _, method in found))
    lines = []
    for speed in dict.fromkeys(speed for speed, _ in found):
        pairs = [(found[speed, m].published["rel_l2"], found[speed, m].found("rel_l2")) for m in methods]
        lines.append(
            [f"{speed:g}", *(f"{number(theirs)} / {number(ours.mean)}" for theirs, ours in pairs if ours)]
        )
    return _table(["c", *(f"`{method}`" for method in methods)], lines, 0)


def by_modes(first: Iterable[Row], second: Iterable[Row]) -> str:
    """Error against the number of Fourier modes, for both cases of Allen–Cahn."""
    lines = [
        [str(a.modes), *(cell for row in (a, b) for cell in (_mean(row), _range(row, "rel_l2")))]
        for a, b in zip(first, second, strict=True)
    ]
    return _table(["m", "case I", "range", "case II", "range"], lines, 0)


def variants(table: Table) -> str:
    """An experiment: a line for each row it changes, a column for each change."""
    bases = list(dict.fromkeys(row.method.split(", ")[0] for row in table.rows))
    changes = list(dict.fromkeys(row.method.partition(", ")[2] for row in table.rows))
    found = {row.method: row for row in table.rows}
    lines = [
        [f"`{base}`", *(_told(found.get(", ".join(filter(None, (base, change))))) for change in changes)]
        for base in bases
    ]
    return _table(["method", *(change or "unchanged" for change in changes)], lines, 1)


def _told(row: Row | None) -> str:
    """The mean and the range over the seeds, and how many these are if some are missing."""
    spread = row.found("rel_l2") if row else None
    if row is None or spread is None:
        return "–"
    text = number(spread.mean)
    if len(spread.values) > 1 and ", " in row.method:  # of others the range stands in their own table
        text += f" ({number(spread.low)}–{number(spread.high)})"
    return text if len(row.done) >= row.expected else f"{text}, {len(row.done)} of {row.expected} seeds"


def _mean(row: Row) -> str:
    spread = row.found("rel_l2")
    return number(spread.mean) if spread else "–"


def _range(row: Row, measure: str) -> str:
    spread = row.found(measure)
    several = spread is not None and len(spread.values) > 1
    return f"{number(spread.low)}–{number(spread.high)}" if spread and several else "–"


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]], words: int) -> str:
    """Markdown; all columns but the first `words` are aligned to the right."""
    marks = ["---"] * words + ["---:"] * (len(heads) - words)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, marks, *lines))
