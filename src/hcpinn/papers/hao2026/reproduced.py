"""Rows of the paper's tables with what was found beside the published figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ...study.columns import Column, error_columns, figure_column, outcome_columns, parameter_columns
from ...study.numbers import number, ratio
from ...study.rows import Row
from ...study.tables import Table

MEASURES = {
    "rel_l2": "L2",
    "rel_l1": "L1",
    "rel_l2_u": "L2 of u",
    "rel_l2_v": "L2 of v",
    "rel_l2_real": "L2 of real(u)",
    "rel_l2_imag": "L2 of imag(u)",
    "rel_l2 at t=0.5": "L2 at t = 0.5",
    "rel_l2 at t=1": "L2 at t = 1",
}
"""What was measured, by the names of the published figures: relative errors."""

_OURS = "Ours: the mean over the seeds, the smallest and the largest value"


@dataclass(frozen=True)
class ReproducedRow(Row):
    """A row with the figures that were published for it."""

    published: Mapping[str, float] = field(default_factory=dict)
    deviations: tuple[str, ...] = ()
    """In what the runs differ from the published settings."""
    modes: int | None = None
    """The number of Fourier modes, where that is what varies."""

    def ratio(self, measure: str) -> float | None:
        """Ours over published: the paper averages its repetitions, so means are compared."""
        found, published = self.found(measure), self.published.get(measure)
        return None if found is None or not published else found.mean / published

    @cached_property
    def published_error(self) -> float | None:
        """The published relative L2 error, of several fields the largest."""
        known = [value for name, value in self.published.items() if name.startswith("rel_l2")]
        return max(known, default=None)


@dataclass(frozen=True)
class ReproducedTable(Table):
    """A table of such rows."""

    rows: tuple[ReproducedRow, ...]

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """What the table shows: the published figures, or else the relative L2 and L1 errors."""
        return _measures(self.rows)


def reproduced_table(name: str, title: str, about: str, rows: Sequence[ReproducedRow]) -> ReproducedTable:
    """A table with a column of published figures beside each of ours."""
    columns = parameter_columns(rows)
    counts = [row.modes for row in rows]
    if any(count is not None for count in counts):
        columns = [column for column in columns if column.title != "method"]
        columns.append(figure_column("m", counts, str))
    columns = [column for column in columns if column.title not in ("label", "budget")]
    for measure in _measures(rows):
        columns += _compared(MEASURES[measure], rows, measure)
    notes = ["; ".join(filter(None, (*row.deviations, row.notes))) for row in rows]
    columns += outcome_columns(rows, notes, sizes=any(row.method == "expert" for row in rows))
    several = any(column.kind == "spread" for column in columns)
    return ReproducedTable(name, title, about, tuple(rows), tuple(columns), f". {_OURS}" if several else "")


def _measures(rows: Sequence[ReproducedRow]) -> tuple[str, ...]:
    published = [name for row in rows for name in row.published]
    return tuple(name for name in MEASURES if name in published) or ("rel_l2", "rel_l1")


def _compared(label: str, rows: Sequence[ReproducedRow], measure: str) -> list[Column]:
    ours = error_columns(f"{label} ours", rows, measure, middle="mean")
    if not any(measure in row.published for row in rows):
        return ours
    shown = 2 if len(ours) > 1 else 1  # ours and its range; the rest is for programs
    published = figure_column(f"{label} published", [row.published.get(measure) for row in rows], number)
    ratios = [row.ratio(measure) for row in rows]
    between = figure_column(f"{label} ours / published", ratios, ratio, kind="ratio")
    return [published, *ours[:shown], between, *ours[shown:]]
