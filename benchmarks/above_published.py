"""Rows with exact initial data that end above the published figures, and the experiments on them."""

from __future__ import annotations

from collections.abc import Sequence

from hcpinn.papers.hao2026.reproduced import ReproducedRow as Row, ReproducedTable as Table
from hcpinn.papers.hao2026.reproduced_tables import reproduced_rows
from hcpinn.study.numbers import number, ratio
from hcpinn.study.record import exact_start


def exact_rows(tables: Sequence[Table]) -> list[tuple[Row, float]]:
    """Every published row with exact initial data that was run as published, with ours over published."""
    run = [row for row in reproduced_rows(tables) if row.done]
    once = {tuple(r.key for r in row.done): row for row in reversed(run)}  # some stand in two tables
    exact = [row for row in reversed(once.values()) if exact_start(row.done[0]) and not row.deviations]
    return [(row, _worst(row, row)[0]) for row in exact]


def above(tables: Sequence[Table]) -> str:
    """The rows that end above the published error, each with the experiment on it that ends lowest."""
    lines = ["| row | published | here | experiment | error there |", "| --- | ---: | ---: | --- | ---: |"]
    rows = [(row, found) for row, found in exact_rows(tables) if found > 1]
    for row, found in sorted(rows, key=lambda item: -item[1]):
        _, measure = _worst(row, row)
        cells = [f"{row.problem}, `{row.method}`", number(row.published[measure]), _told(row, measure, found)]
        tried = _experiments(tables, row)
        if tried:
            factor, best = min(((_worst(t, row)[0], t) for t in tried), key=lambda item: item[0])
            changed = best.method.removeprefix(f"{row.method}, ")
            seeds = "" if len(best.done) >= best.expected else f" ({best.runs} seeds)"
            cells += [changed + seeds, _told(best, measure, factor)]
        else:
            cells += ["–", "–"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _experiments(tables: Sequence[Table], row: Row) -> list[Row]:
    """Experiments on a row that were run: their names say after a comma in what they differ from it."""
    return [
        other
        for table in tables
        for other in table.rows
        if table.name.startswith("explanation")
        and other.problem == row.problem
        and other.method.startswith(f"{row.method}, ")
        and other.done
    ]


def _worst(row: Row, published: Row) -> tuple[float, str]:
    """The largest ratio to what was published, and the measure that has it."""
    found = {m: (row.found(m), figure) for m, figure in published.published.items() if m.startswith("rel_l2")}
    return max((spread.mean / figure, m) for m, (spread, figure) in found.items() if spread is not None)


def _told(row: Row, measure: str, factor: float) -> str:
    """The mean over seeds, and how many times the published figure that is."""
    spread = row.found(measure)
    return f"{number(spread.mean)} ({ratio(factor)}×)" if spread else "–"
