"""The tables of a study: the published ones with what was found beside them, and those beyond.

    tables = read_tables(store.records())
    print(tables[0].markdown())

Every published row is there, run or not; records that belong to none get tables of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..catalog import ENTRIES, find_problem, published_rows
from ..catalog.published import PublishedRow
from .columns import Column, columns_of
from .matching import (
    Settings,
    deviations,
    recorded_settings,
    same_parameters,
    same_scheme,
    settings_of,
    without_modes,
)
from .record import Record
from .rows import MEASURES, Row
from .formats import to_csv, to_latex, to_markdown


@dataclass(frozen=True)
class Table:
    """Rows that belong together."""

    name: str
    title: str
    about: str
    rows: tuple[Row, ...]

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """What the table shows: the published figures, or else the relative L2 and L1 errors."""
        published = [name for row in self.rows for name in row.published]
        return tuple(name for name in MEASURES if name in published) or ("rel_l2", "rel_l1")

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The table column by column, for any format."""
        return columns_of(self.rows, self.measures)

    @property
    def run(self) -> bool:
        """Whether any of it was run."""
        return any(row.records for row in self.rows)

    def markdown(self) -> str:
        """The table in Markdown."""
        return to_markdown(self.columns)

    def csv(self) -> str:
        """The table as comma-separated values, with all digits, medians and extremes."""
        return to_csv(self.columns)

    def latex(self) -> str:
        """The table for LaTeX, with the rules of the package booktabs."""
        return to_latex(self.columns, self.title)


def read_tables(records: Sequence[Record]) -> list[Table]:
    """All tables of the study: every published row, then what was run beyond them."""
    pool = _Pool(records)
    rows: dict[str, list[Row]] = {}
    for published in published_rows():
        rows.setdefault(published.table, []).extend(pool.rows_of(published))
    found = [_published_table(name, tuple(entries)) for name, entries in rows.items()]
    found += pool.sensitivity()
    found += pool.experts()
    found += pool.others()
    return found


_SEEDS = {"advection by speed": 10}
"""Tables whose rows the study averages over several repetitions."""

_ABOUT = {
    "advection by speed": "Three solvers at growing speed; the study averages ten repetitions.",
    "comparison": "The study's scheme beside causal training and residual-based attention at its own budget "
    "of steps (50k), and beside the figures their authors report at 300,000 (300k).",
    "two dimensions": "Relative L2 errors at two times, over the square.",
    "Dirichlet": "Boundary data instead of periodicity, and a plain network without Fourier features.",
}

_TITLES = {
    "advection by speed": "Advection by speed",
    "comparison": "Comparison with causal training and attention",
    "two dimensions": "Allen–Cahn in the plane",
    "Dirichlet": "Allen–Cahn with Dirichlet data",
}


def _published_table(name: str, rows: tuple[Row, ...]) -> Table:
    if name in _TITLES:
        return Table(name, _TITLES[name], _ABOUT[name], rows)
    entry = ENTRIES[rows[0].problem]
    speed = f", c = {rows[0].parameters['c']:g}" if rows[0].parameters else ""
    return Table(
        name, f"Ablation: {entry.title}{speed}", f"{entry.equation}{speed}: {entry.stiffness}.", rows
    )


class _Pool:
    """Records to be handed out to rows; what no row takes is left over."""

    def __init__(self, records: Iterable[Record]):
        self._records = [(record, recorded_settings(record)) for record in records]
        self._taken: set[str] = set()

    def _matching(self, published: PublishedRow, settings: Settings) -> dict[tuple[str, ...], list[Record]]:
        """The records of a row, by their deviations from it."""
        wanted = published.declare().parameters
        found: dict[tuple[str, ...], list[Record]] = {}
        for record, recorded in self._records:
            if (
                record.problem == published.problem
                and same_parameters(record.parameters, wanted)
                and same_scheme(recorded, settings)
            ):
                self._taken.add(record.key)
                found.setdefault(deviations(recorded, settings), []).append(record)
        return found

    def rows_of(self, published: PublishedRow) -> list[Row]:
        """A row with the runs of its settings; runs at another budget get a row of their own below."""
        found = self._matching(published, settings_of(published.train()))
        groups = sorted(found.items(), key=lambda item: len(item[0])) or [((), [])]
        return [
            Row(
                problem=published.problem,
                method=published.method,
                parameters=published.parameters,
                published=published.figures,
                records=_by_seed(records),
                expected=_SEEDS.get(published.table, 1),
                deviations=differing,
            )
            for differing, records in groups
        ]

    def sensitivity(self) -> list[Table]:
        """For each Allen–Cahn case, the study's best settings with other numbers of Fourier modes."""
        tables = []
        for problem in ("allen-cahn-1", "allen-cahn-2"):
            usual, _ = without_modes(settings_of(ENTRIES[problem].paper))
            groups: dict[tuple[int, tuple[str, ...]], list[Record]] = {}
            for record, recorded in self._records:
                rest, modes = without_modes(recorded)
                usual_problem = record.problem == problem and same_parameters(
                    record.parameters, find_problem(problem).parameters
                )
                if modes is not None and usual_problem and same_scheme(rest, usual):
                    groups.setdefault((modes, deviations(rest, usual)), []).append(record)
            if len({modes for modes, _ in groups}) < 2:
                groups = {}  # the one value of the other tables is no sweep
            self._taken.update(record.key for records in groups.values() for record in records)
            rows = [
                Row(problem, "paper", {}, {}, _by_seed(records), 1, differing, modes)
                for (modes, differing), records in sorted(groups.items())
            ]
            title = f"Number of Fourier modes: {ENTRIES[problem].title}"
            about = "The study's best settings with m Fourier modes in place of 10. It shows this as a figure, without numbers."
            tables.append(Table(f"modes {problem}", title, about, tuple(rows)))
        return tables

    def experts(self) -> list[Table]:
        """The method of this library beside the best figures published, problem by problem."""
        published = {
            row.problem: row for row in published_rows() if row.method == "paper" and not row.parameters
        }
        published["advection"] = next(
            row for row in published_rows() if row.method == "paper" and row.parameters == {"c": 60.0}
        )
        for row in published_rows():  # the systems stand in the ablation alone, under their switches
            if row.problem not in published and settings_of(row.train())["lift"]:
                best = settings_of(ENTRIES[row.problem].paper)
                if not deviations(settings_of(row.train()), best):
                    published[row.problem] = row
        rows = []
        for problem, entry in ENTRIES.items():
            records = [
                record
                for record, _ in self._records
                if record.problem == problem
                and record.method == "expert"
                and same_parameters(record.parameters, entry.problem.parameters)
            ]
            self._taken.update(record.key for record in records)
            figures = published[problem].figures if problem in published else {}
            rows.append(Row(problem, "expert", {}, figures, _by_seed(records)))
        about = "The method `expert` of this library, which the study does not have, beside the study's best figure for each problem."
        return [Table("expert", "Past the study: expert", about, tuple(rows))]

    def others(self) -> list[Table]:
        """Whatever belongs to no other table."""
        groups: dict[tuple[str, str, str, str], list[Record]] = {}
        for record, _ in self._records:
            if record.key not in self._taken:
                parameters = ", ".join(f"{k} = {v:g}" for k, v in record.parameters.items())
                groups.setdefault((record.problem, record.method, parameters, record.method_text), []).append(
                    record
                )
        if not groups:
            return []
        rows = tuple(
            Row(problem, method, records[0].parameters, {}, _by_seed(records))
            for (problem, method, _, _), records in sorted(groups.items(), key=lambda item: item[0])
        )
        return [Table("others", "Other runs", "Runs that belong to no table of the study.", rows)]


def _by_seed(records: Iterable[Record]) -> tuple[Record, ...]:
    return tuple(sorted(records, key=lambda record: record.seed))
