"""The figures of the paper's page, as far as the store holds what they need."""

from __future__ import annotations

from collections.abc import Sequence

from ...catalog import ENTRIES
from ...solution.shown import Shown
from ...study import Store
from ...study.gallery import Gallery, Picture, drawn, errors_picture, losses_pictures, said
from .reproduced import MEASURES, ReproducedTable
from .reproduced_figures import advection_figure, modes_figure, overview_figure, scatter_figure
from .reproduced_tables import own_rows, reproduced_rows, row_of
from .studies import best_row


class PaperGallery:
    """Draws the figures of the paper's page."""

    def __init__(self, store: Store):
        self._fields = Gallery(store)

    @property
    def problems(self) -> list[str]:
        """What could not be opened, and why."""
        return self._fields.problems

    @property
    def shown(self) -> set[str]:
        """The keys of the runs that were opened for the figures so far."""
        return self._fields.shown

    def overview(self, tables: Sequence[ReproducedTable]) -> list[Picture]:
        """Published against found over all tables, and the fields of every problem on an interval."""
        pictures = []
        rows = reproduced_rows(tables)
        both = [row for row in rows if row.published_error is not None and row.found("rel_l2") is not None]
        if both:
            pictures.append(
                drawn(
                    "published-and-found",
                    "Every row that was run: published error and ours",
                    f"Scatter plot on logarithmic axes of {len(both)} rows; points below the diagonal have a "
                    "lower error than published.",
                    lambda: scatter_figure(both),
                )
            )
        found = self.featured(tables)
        if len(found) > 1:
            pictures.append(
                drawn(
                    "overview",
                    "Reference, solution and absolute error of the paper's best row for each problem",
                    "Colour maps over time and space, one row for each of "
                    + ", ".join(title for title, _ in found)
                    + ".",
                    lambda: overview_figure(found),
                )
            )
        return pictures

    def of(self, table: ReproducedTable) -> list[Picture]:
        """The figures that go with a table."""
        if not table.run:
            return []
        pictures, counted = [], table.name.startswith("modes")
        if len(table.rows) > 1 and not counted:
            pictures += [
                errors_picture(
                    table,
                    measure,
                    MEASURES[measure],
                    middle="mean",
                    others=[row.published.get(measure) for row in table.rows],
                    source="published",
                )
                for measure in table.measures
                if any(row.found(measure) for row in table.rows)
            ]
        if counted and sum(bool(row.done) for row in table.rows) > 1:
            pictures.append(_modes(table))
        if table.name != "expert":  # the losses of nine problems cannot be compared
            pictures += losses_pictures(table)
        if table.name == "advection by speed":
            return pictures + self._advection(table)
        for problem in dict.fromkeys(row.problem for row in table.rows):
            if table.name not in ("comparison", "others") and not counted:
                pictures += self._fields.fields(table, [row for row in table.rows if row.problem == problem])
        return pictures

    def featured(self, tables: Sequence[ReproducedTable]) -> list[tuple[str, Shown]]:
        """For each problem on an interval, by its title, the best run of the paper's best row for it.

        Where no run of that row was kept, the best run of the paper's other rows.
        """
        found = []
        for name, entry in ENTRIES.items():
            if len(entry.problem.space) > 1:
                continue
            published = best_row(entry.problem)
            row = row_of(tables, published) if published else None
            chosen = self._fields.best([row]) if row else None
            chosen = chosen or self._fields.best(r for r in own_rows(tables) if r.problem == name)
            if chosen is not None:
                found.append((entry.title, chosen[1]))
        return found

    def _advection(self, table: ReproducedTable) -> list[Picture]:
        cases: dict[float, dict[str, Shown]] = {}
        for row in table.rows:
            if row.method in ("paper", "baseline"):
                shown = next((s for s in map(self._fields.shown_of, row.done) if s is not None), None)
                if shown is not None:
                    cases.setdefault(row.parameters["c"], {}).setdefault(row.method, shown)
        if not cases:
            return []
        return [
            drawn(
                "advection fields",
                "Advection: exact solution, the paper's scheme and the baseline",
                f"Colour maps over time and space at speeds {', '.join(f'{c:g}' for c in sorted(cases))}.",
                lambda: advection_figure(cases),
            )
        ]


def _modes(table: ReproducedTable) -> Picture:
    return drawn(
        table.name,
        f"{table.title}: error against m",
        said(table.rows, "rel_l2"),
        lambda: modes_figure({table.title.partition(": ")[2]: table.rows}),
    )
