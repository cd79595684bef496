"""Which figures a study's page shows: those of the paper, as far as the store holds what they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..catalog import ENTRIES
from ..errors import HcpinnError
from ..papers.hao2026.paper import best_row
from ..reference import solve_reference
from ..solution.figures import field_figure, slice_figure
from ..solution.solution import Solution
from .columns import number
from .figures import (
    advection_figure,
    comparison_figure,
    has_history,
    losses_figure,
    modes_figure,
    overview_figure,
    row_label,
    scatter_figure,
)
from .picture import to_svg
from .record import Record
from .rows import MEASURES, Row, measured
from .store import Store
from .tables import Table, own_rows, row_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Picture:
    """A figure for a page."""

    name: str
    title: str
    alt: str
    """What it shows, for those who do not see it."""
    svg: str


class Gallery:
    """Draws the figures of a store; a solution that two figures show is opened once."""

    def __init__(self, store: Store):
        self._store = store
        self._open: dict[str, Solution | None] = {}
        self.problems: list[str] = []
        """What could not be opened, and why."""

    @property
    def shown(self) -> set[str]:
        """The keys of the solutions that were opened for the figures so far."""
        return {key for key, solution in self._open.items() if solution is not None}

    def overview(self, tables: Sequence[Table]) -> list[Picture]:
        """Published against found over all tables, and the fields of every problem on an interval."""
        pictures = []
        rows = [row for table in tables if table.name != "expert" for row in table.rows]
        both = [row for row in rows if row.published_error is not None and row.found("rel_l2") is not None]
        if both:
            pictures.append(
                _drawn(
                    "published-and-found",
                    "Every row that was run: published error and ours",
                    f"Scatter plot on logarithmic axes of {len(both)} rows; points below the diagonal have a "
                    "lower error than published.",
                    lambda: scatter_figure(both),
                )
            )
        featured = [
            (entry.title, self.featured(tables, name))
            for name, entry in ENTRIES.items()
            if len(entry.problem.space) == 1
        ]
        found = [(title, solution) for title, solution in featured if solution is not None]
        if len(found) > 1:
            pictures.append(
                _drawn(
                    "overview",
                    "Truth, prediction and absolute error of the study's best row for each problem",
                    "Colour maps over time and space, one row for each of "
                    + ", ".join(title for title, _ in found)
                    + ".",
                    lambda: overview_figure(found),
                )
            )
        return pictures

    def of(self, table: Table) -> list[Picture]:
        """The figures that go with a table."""
        if not table.run:
            return []
        pictures = []
        if len(table.rows) > 1 and not table.name.startswith("modes"):
            pictures += [
                _drawn(
                    f"{table.name} {measure}",
                    f"{table.title}: relative {MEASURES[measure]} errors",
                    _said(table.rows, measure),
                    lambda measure=measure: comparison_figure(table.rows, measure),
                )
                for measure in table.measures
                if any(row.found(measure) for row in table.rows)
            ]
        if table.name.startswith("modes") and sum(bool(row.done) for row in table.rows) > 1:
            pictures.append(self._modes(table))
        histories = any(has_history(record) for row in table.rows for record in row.done)
        if histories and table.name != "expert":  # the losses of nine problems cannot be compared
            pictures.append(
                _drawn(
                    f"{table.name} losses",
                    f"{table.title}: loss over the steps",
                    "Line plot of the loss of each method on a logarithmic axis.",
                    lambda: losses_figure(table.rows),
                )
            )
        if table.name == "advection by speed":
            return pictures + self._advection(table)
        for problem in dict.fromkeys(row.problem for row in table.rows):
            if table.name not in ("comparison", "others") and not table.name.startswith("modes"):
                pictures += self._fields(table, problem)
        return pictures

    def featured(self, tables: Sequence[Table], problem: str) -> Solution | None:
        """The best seed of the row that the study has the lowest error for, or else of its other rows."""
        published = best_row(ENTRIES[problem].problem)
        row = row_of(tables, published) if published else None
        chosen = self.best([row], problem) if row else None
        return chosen or self.best(own_rows(tables), problem)

    def best(self, rows: Iterable[Row], problem: str) -> Solution | None:
        """The solution with the smallest error among the runs of a problem that were kept."""
        known = [
            (error, record.key, record)
            for row in rows
            if row.problem == problem
            for record in row.done
            if (error := measured(record, "rel_l2")) is not None
        ]
        for _, _, record in sorted(known, key=lambda item: item[:2]):
            solution = self._solution(record)
            if solution is not None:
                return solution
        return None

    def _fields(self, table: Table, problem: str) -> list[Picture]:
        solution = self.best(table.rows, problem)
        if solution is None:
            return []
        label = f"{ENTRIES[problem].title if problem in ENTRIES else problem}, {solution.method.name}"
        error = "" if not solution.rel_l2 else f"; relative L2 error {number(max(solution.rel_l2.values()))}"
        return [
            _drawn(
                f"{table.name} {problem} fields",
                f"{label}: reference, solution and error",
                f"Colour maps of the reference, the solution and their absolute difference{error}.",
                lambda: field_figure(solution),
            ),
            _drawn(
                f"{table.name} {problem} slices",
                f"{label}: profiles at the start, the middle and the end",
                "Line plots of reference and solution at three times.",
                lambda: slice_figure(solution),
            ),
        ]

    def _advection(self, table: Table) -> list[Picture]:
        cases: dict[float, dict[str, Solution]] = {}
        for row in table.rows:
            solution = next((s for s in map(self._solution, row.done) if s is not None), None)
            if solution is not None and row.method in ("paper", "baseline"):
                cases.setdefault(row.parameters["c"], {}).setdefault(row.method, solution)
        if not cases:
            return []
        return [
            _drawn(
                "advection fields",
                "Advection: exact solution, the study's scheme and the baseline",
                f"Colour maps over time and space at speeds {', '.join(f'{c:g}' for c in sorted(cases))}.",
                lambda: advection_figure(cases),
            )
        ]

    def _modes(self, table: Table) -> Picture:
        return _drawn(
            table.name,
            f"{table.title}: error against m",
            _said(table.rows, "rel_l2"),
            lambda: modes_figure({table.title.partition(": ")[2]: table.rows}),
        )

    def _solution(self, record: Record) -> Solution | None:
        if record.key not in self._open:
            try:
                self._open[record.key] = _compared(self._store.solution(record.key))
            except HcpinnError as error:
                self._open[record.key] = None
                self.problems.append(f"{record.problem}, {record.method}, seed {record.seed}: {error}")
        return self._open[record.key]


def _compared(solution: Solution | None) -> Solution | None:
    """A solution with its reference, which a store leaves out, if there is one."""
    if solution is None or solution.reference is not None or solution.rel_l2 is None:
        return solution
    return replace(solution, reference=solve_reference(solution.problem))


def _said(rows: Sequence[Row], measure: str) -> str:
    """A figure of errors in words: its smallest and its largest value."""
    labels = [row_label(row, rows) if row.modes is None else f"m = {row.modes}" for row in rows]
    found = [(label, row.found(measure)) for label, row in zip(labels, rows, strict=True)]
    known = sorted((spread.mean, label) for label, spread in found if spread is not None)
    (low, first), (high, last) = known[0], known[-1]
    return f"Errors from {number(low)} ({first}) to {number(high)} ({last}); the table has all figures."


def _drawn(name: str, title: str, alt: str, draw: Callable[[], Figure]) -> Picture:
    return Picture(name, title, alt, to_svg(draw(), name))
