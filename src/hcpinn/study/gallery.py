"""The figures of a study's page, as far as its store has the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..catalog import ENTRIES
from ..errors import HcpinnError
from ..solution.figures import field_figure, slice_figure
from ..solution.shown import Shown
from .columns import measures_of
from .fields import fields_of
from .numbers import number
from .picture import to_svg
from .record import Record
from .rows import Middle, Row, measured
from .run_figures import errors_figure, has_history, losses_figure, row_label
from .store import Store
from .tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Picture:
    """A figure for a page."""

    name: str
    title: str
    alt: str
    """A description for readers who cannot see it."""
    svg: str


class Gallery:
    """Draws the figures of a store; fields that two figures show are opened once."""

    def __init__(self, store: Store):
        self._store = store
        self._open: dict[str, Shown | None] = {}
        self.problems: list[str] = []
        """What could not be opened, and why."""

    @property
    def shown(self) -> set[str]:
        """The keys of the runs that were opened for the figures so far."""
        return {key for key, shown in self._open.items() if shown is not None}

    def of(self, table: Table) -> list[Picture]:
        """The figures that go with a table: errors, losses, and fields of the best run of each problem."""
        if not table.run:
            return []
        rows, pictures = table.rows, []
        if len(rows) > 1:
            for measure, label in measures_of(rows).items():
                if any(row.found(measure) for row in rows):
                    pictures.append(errors_picture(table, measure, label))
        pictures += losses_pictures(table)
        alike: dict[tuple[str, str], list[Row]] = {}
        for row in rows:
            values = "".join(f", {name} = {value:g}" for name, value in row.parameters.items())
            alike.setdefault((row.problem, values if varied(rows, row) else ""), []).append(row)
        for (_, values), own in alike.items():
            pictures += self.fields(table, own, values)
        return pictures

    def fields(self, table: Table, rows: Sequence[Row], values: str = "") -> list[Picture]:
        """Fields and profiles of the best run of some rows of a table, which are of one problem.

        Args:
            table: from whose name the pictures are named.
            rows: those of the problem.
            values: its parameters, if the captions are to state them.
        """
        best = self.best(rows)
        if best is None:
            return []
        record, shown = best
        title = ENTRIES[record.problem].title if record.problem in ENTRIES else record.problem
        label, name = f"{title}{values}, {record.method}", f"{table.name} {record.problem}{values}"
        error = measured(record, "rel_l2")
        said = "" if error is None else f"; relative L2 error {number(error)}"
        return [
            drawn(
                f"{name} fields",
                f"{label}: reference, solution and error",
                f"Colour maps of the reference, the solution and their absolute difference{said}.",
                lambda: field_figure(shown),
            ),
            drawn(
                f"{name} slices",
                f"{label}: profiles at the start, the middle and the end",
                "Line plots of reference and solution at three times.",
                lambda: slice_figure(shown),
            ),
        ]

    def best(self, rows: Iterable[Row]) -> tuple[Record, Shown] | None:
        """The run with the smallest error among those whose fields were kept."""
        known = [
            (error, record.key, record)
            for row in rows
            for record in row.done
            if (error := measured(record, "rel_l2")) is not None
        ]
        for _, _, record in sorted(known, key=lambda item: item[:2]):
            shown = self.shown_of(record)
            if shown is not None:
                return record, shown
        return None

    def shown_of(self, record: Record) -> Shown | None:
        """What a figure of a run shows, if that was kept and can be opened."""
        if record.key not in self._open:
            try:
                self._open[record.key] = fields_of(self._store, record)
            except HcpinnError as error:
                self._open[record.key] = None
                self.problems.append(f"{record.problem}, {record.method}, seed {record.seed}: {error}")
        return self._open[record.key]


def varied(rows: Iterable[Row], row: Row) -> bool:
    """Whether some rows have the same problem with other parameters."""
    return any(other.problem == row.problem and other.parameters != row.parameters for other in rows)


def errors_picture(
    table: Table,
    measure: str,
    label: str,
    *,
    middle: Middle = "median",
    others: Sequence[float | None] = (),
    source: str = "",
) -> Picture:
    """The errors of a table's rows, with figures from elsewhere if there are any; see `errors_figure`."""
    return drawn(
        f"{table.name} {measure}",
        f"{table.title}: relative {label} errors",
        said(table.rows, measure),
        lambda: errors_figure(
            table.rows, measure, f"relative {label} error", middle=middle, others=others, source=source
        ),
    )


def losses_pictures(table: Table) -> list[Picture]:
    """The losses of a table's rows, if any were kept."""
    if not any(has_history(record) for row in table.rows for record in row.done):
        return []
    return [
        drawn(
            f"{table.name} losses",
            f"{table.title}: loss over the steps",
            "Line plot of the loss of each method on a logarithmic axis.",
            lambda: losses_figure(table.rows),
        )
    ]


def said(rows: Sequence[Row], measure: str) -> str:
    """A figure of errors in words: its smallest and its largest value."""
    found = [(row_label(row, rows), row.found(measure)) for row in rows]
    known = sorted((spread.mean, label) for label, spread in found if spread is not None)
    (low, first), (high, last) = known[0], known[-1]
    return f"Errors from {number(low)} ({first}) to {number(high)} ({last}); the table has all figures."


def drawn(name: str, title: str, alt: str, draw: Callable[[], Figure]) -> Picture:
    """A figure as a picture; it is closed."""
    return Picture(name, title, alt, to_svg(draw(), name))
