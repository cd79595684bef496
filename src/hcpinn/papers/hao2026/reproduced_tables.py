"""The paper's tables with what was found beside the published figures, and the tables beyond them.

    tables = read_tables(store.records())
    print(tables[0].markdown())

Every published row is there, run or not; records that belong to none get a table of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from ...catalog import ENTRIES
from ...descent.runs import Run
from ...problem import HORIZON
from ...study import Record, Section
from ...study.numbers import number
from ...study.record import recorded_settings, unnamed
from ...study.rows import by_seed
from ...study.tables import alike
from .explanations import explanations
from .matching import deviations, same_parameters, same_scheme, settings_of
from .published import ADVECTION_HORIZON, PublishedRow
from .reproduced import ReproducedRow, ReproducedTable, reproduced_table
from .studies import (
    EXPERT_ACCURACY,
    ablations,
    advection_by_speed,
    best_row,
    comparison,
    dirichlet,
    labelled_rows,
    modes,
    originals,
    two_dimensions,
)


def read_tables(records: Sequence[Record]) -> list[ReproducedTable]:
    """All tables of the paper, every row of them, and what was run beyond them."""
    pool = _Pool(records, _sections())
    rows: dict[str, list[ReproducedRow]] = {}
    titles: dict[str, str] = {}
    for section in _sections():
        name = section.name.removesuffix(" originals")  # the paper shows both in one table
        titles.setdefault(name, section.title)
        rows.setdefault(name, []).extend(pool.rows_of(section))
    found = [
        reproduced_table(name, titles[name], _about(name, entries), entries) for name, entries in rows.items()
    ]
    besides = [table for table in found if table.name in _BESIDES]
    found = [table for table in found if table not in besides]
    return [*found, pool.experts(found), *[table for table in besides if _tried(table)], *pool.others()]


def reproduced_rows(tables: Sequence[ReproducedTable]) -> list[ReproducedRow]:
    """All rows that have published figures, without the table in which some of them stand again."""
    return [row for table in tables if table.name != "expert" for row in table.rows if row.published]


def row_of(tables: Iterable[ReproducedTable], published: PublishedRow) -> ReproducedRow | None:
    """The row of a published one, trained as published."""
    for table in tables:
        for row in table.rows:
            same = (row.problem, row.method) == (published.problem, published.method)
            if same and dict(row.parameters) == dict(published.parameters) and not row.deviations:
                return row
    return None


def own_rows(tables: Iterable[ReproducedTable]) -> list[ReproducedRow]:
    """Rows of the paper's own schemes: no rivals, no `expert`, no experiments."""
    others = ("comparison", "expert", "others", *_BESIDES)
    return [row for table in tables if table.name not in others for row in table.rows]


def _tried(table: ReproducedTable) -> bool:
    """Whether an experiment was run: their names say after a comma in what they differ from a row."""
    return any(row.records and "," in row.method for row in table.rows)


@cache
def _sections() -> tuple[Section, ...]:
    """The paper's tables in its order, and experiments on them.

    `expert` is found by its name, since declaring it takes seconds.
    """
    studies = (
        ablations(),
        advection_by_speed(),
        comparison(),
        originals(),
        two_dimensions(),
        modes(),
        dirichlet(),
        explanations(),
    )
    return tuple(section for study in studies for section in study.sections)


_ABOUT = {
    "advection by speed": "Three solvers at growing speed; the paper averages ten repetitions.",
    "comparison": "The paper's scheme beside causal training and residual-based attention at its own budget "
    "of steps (50k), and beside the figures their authors report at 300,000.",
    "two dimensions": "Relative L2 errors at two times, over the square.",
    "Dirichlet": "Boundary data instead of periodicity, and a plain network without Fourier features.",
    "modes": "The paper's best settings with m Fourier modes; 10 are those of the ablation here. The paper "
    "shows a curve and no numbers.",
    "explanation kink": "Lifts that let go of the kink of the initial data sooner or later: e^{−Ct} u₀ with "
    "C = 0.1 (IC2), 1 (IC1), 10 and 100, and the linear part of the equation applied to u₀.",
    "explanation slopes": "The periodic penalty on values, as the paper has it, and on slopes as well.",
    "explanation modes": "Two Fourier modes, ten, as for other problems, and, with the slow decay, one.",
    "explanation seeds": "The last stage four times as long; the first three times, as in the program of the "
    "paper's authors; four times the points; and points drawn anew every 1,000 steps.",
    "explanation waves": "Three Fourier modes, and ten, as for other problems.",
    "explanation plane": "Ten Fourier modes along each axis, and two, those of the initial data; two time "
    "segments, and one with the steps of both.",
    "explanation diffusivity": "γ₁ = 1e-3, as the paper states it, and 1e-4, as in its authors' program.",
    "explanation horizon": "T = 0.5, as in the tables of advection here, and T = 1, with one Fourier mode "
    "and with ten.",
    "explanation crossing": "The penalty on periodicity with a hundred times its weight; up to T = 0.5. "
    "Without the embedding this penalty alone brings the wave in again where it went out.",
}

_BESIDES = tuple(name for name in _ABOUT if name.startswith("explanation"))
"""Tables of experiments, which are shown if any were made."""


def _about(name: str, rows: Sequence[ReproducedRow]) -> str:
    if name.startswith("ablation"):
        entry = ENTRIES[rows[0].problem]
        return f"{entry.equation}: {entry.stiffness}."
    return _ABOUT["modes" if name.startswith("modes") else name]


class _Pool:
    """Records to be handed out to rows; what no row takes is left over."""

    def __init__(self, records: Iterable[Record], sections: Iterable[Section]):
        self._records = [(record, recorded_settings(record)) for record in records]
        self._taken: set[str] = set()
        declared: dict[tuple[str, str], list[Mapping[str, float]]] = {}
        for run in (run for section in sections for run in section.runs):
            line = (run.problem.name, unnamed(settings_of(run.method)))
            declared.setdefault(line, []).append(run.problem.parameters)
        self._as_declared = {
            record.key
            for record, settings in self._records
            if any(
                same_parameters(record.parameters, wanted)
                for wanted in declared.get((record.problem, unnamed(settings)), ())
            )
        }
        """Runs that are a line of some table as they stand, and so no deviating run of another."""

    def rows_of(self, section: Section) -> list[ReproducedRow]:
        """A section's rows with their runs; runs at another budget get a row of their own below."""
        published = labelled_rows(section.name)
        wanted: dict[str, list[int]] = {}
        for index, label in enumerate(section.labels):
            wanted.setdefault(label, []).append(index)
        return [
            row
            for label, indices in wanted.items()
            for row in self._rows(
                section.runs[indices[0]],
                published.get(label),
                len(indices),
                counted=section.name.startswith("modes"),
            )
        ]

    def _rows(
        self, run: Run, published: PublishedRow | None, expected: int, *, counted: bool
    ) -> list[ReproducedRow]:
        """The rows of one line of a table, `counted` if it is known by its Fourier modes."""
        settings = settings_of(run.method)
        found: dict[tuple[str, ...], list[Record]] = {}
        for record, recorded in self._records:
            if (
                record.problem == run.problem.name
                and same_parameters(record.parameters, run.problem.parameters)
                and same_scheme(recorded, settings)
            ):
                differing = deviations(recorded, settings)
                if differing and record.key in self._as_declared:
                    continue
                self._taken.add(record.key)
                found.setdefault(differing, []).append(record)
        return [
            ReproducedRow(
                problem=run.problem.name,
                method=published.method if published else run.method.name,
                parameters=published.parameters if published else {},
                published=published.figures if published else {},
                records=by_seed(records),
                expected=expected,
                label="(other budget)" if differing else "",
                deviations=differing,
                modes=settings["embedding"].get("modes") if counted else None,
            )
            for differing, records in sorted(found.items(), key=lambda item: len(item[0])) or [((), [])]
        ]

    def experts(self, tables: Sequence[ReproducedTable]) -> ReproducedTable:
        """The method of this library beside the paper's best row, problem by problem."""
        rows = []
        for name, entry in ENTRIES.items():
            records = [
                record
                for record, _ in self._records
                if record.problem == name
                and record.method == "expert"
                and same_parameters(record.parameters, entry.problem.parameters)
            ]
            self._taken.update(record.key for record in records)
            best = best_row(entry.problem)
            theirs = row_of(tables, best) if best else None
            if theirs is None or theirs.published_error is None:
                rows.append(ReproducedRow(name, "expert", records=by_seed(records)))
                continue
            published = {"rel_l2": theirs.published_error}
            rows.append(replace(theirs, parameters={}, published=published))
            rows.append(ReproducedRow(name, "expert", published=published, records=by_seed(records)))
        about = (
            "The paper's best row for each problem, and below it the method `expert`, which the paper does "
            "not have. Errors are the largest over fields; the published one in the plane is the larger of "
            f"two times. `expert` was asked for {number(EXPERT_ACCURACY)}, and its verdict is for that; "
            "advection it solves up to T = 1, the row above it goes up to "
            f"{ADVECTION_HORIZON[HORIZON]:g}."
        )
        return reproduced_table("expert", "Past the paper: expert", about, rows)

    def others(self) -> list[ReproducedTable]:
        """Whatever belongs to no other table."""
        left = (record for record, _ in self._records if record.key not in self._taken)
        rows = tuple(
            ReproducedRow(records[0].problem, records[0].method, records[0].parameters, by_seed(records))
            for records in alike(left)
        )
        about = "Runs that belong to no table of the paper."
        return [reproduced_table("others", "Other runs", about, rows)] if rows else []
