"""Ready-made studies: every table and figure of the paper, from its published rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from ...catalog import ENTRIES, find_method, find_problem
from ...catalog.expert import expert as expert_method
from ...descent import Method
from ...descent.runs import Run
from ...problem import HORIZON, Problem
from ...study.declaration import Section, Study
from ...trial import Fourier
from .published import PublishedRow, published_rows, tables

MODES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80)
"""Numbers of Fourier modes, from too few to far too many. The paper shows a curve and no numbers."""

SEEDS = (0, 1, 2)
"""Seeds of every row that a claim of the study rests on, so that luck can be told from effect.

That is every row: taken together the claims ask for all published rows and for all numbers of modes. Three
against three is the smallest number of seeds at which a rank test can tell two rows apart.
"""

REPETITIONS = 10
"""Seeds of the advection table, as in the paper."""

EXPERT_ACCURACY = 1e-6
"""The relative L2 error at which `expert` may stop early here: below every published figure."""


def ablation(table: str) -> Study:
    """One of the seven ablation tables, each row from three seeds."""
    problem = rows_of(f"ablation {table}")[0].problem
    speed = " at c = 60" if problem == "advection" else ""
    section = _section(f"ablation {table}", f"Ablation: {ENTRIES[problem].title}{speed}")
    return _single(section, f"ablation-{table}")


def ablations() -> Study:
    """All seven ablation tables."""
    sections = [section for table in tables()["ablation"] for section in ablation(table).sections]
    return Study("ablation", "The seven ablations", tuple(sections))


def advection_by_speed() -> Study:
    """Three solvers of linear advection at four speeds, from ten seeds each."""
    section = _section("advection by speed", "Linear advection by speed", seeds=range(REPETITIONS))
    return _single(section, "advection-by-speed")


def comparison() -> Study:
    """Causal training and residual-based attention at the study's own budget, beside its method."""
    rows = [row for row in rows_of("comparison") if row.method not in ("causal", "rba")]
    return _single(_from_rows("comparison", "Comparison at equal budget", rows), "comparison")


def originals() -> Study:
    """Causal training and residual-based attention as their authors ran them; not a part of `paper`.

    One seed: by the model of cost these three take longer than all of `paper`.
    """
    rows = [row for row in rows_of("comparison") if row.method in ("causal", "rba")]
    section = _from_rows("comparison originals", "Rivals at their authors' budget", rows, seeds=(0,))
    return _single(section, "comparison-originals")


def two_dimensions() -> Study:
    """Allen–Cahn in the plane."""
    return _single(_section("two dimensions", "Allen–Cahn in the plane"), "two-dimensions")


def dirichlet() -> Study:
    """Allen–Cahn with Dirichlet data and a plain network."""
    return _single(_section("Dirichlet", "Allen–Cahn with Dirichlet data"), "dirichlet")


def modes() -> Study:
    """Error against the number of Fourier modes, for both Allen–Cahn cases."""

    def method(problem: Problem, count: int) -> Method:
        return replace(find_method("paper", problem), name=f"m={count}", embedding=Fourier(count))

    sections = []
    for name in ("allen-cahn-1", "allen-cahn-2"):
        problem = ENTRIES[name].problem
        runs = [(count, Run(problem, method(problem, count), seed)) for count in MODES for seed in SEEDS]
        sections.append(
            Section(
                f"modes {name}",
                f"Number of Fourier modes: {ENTRIES[name].title}",
                tuple(run for _, run in runs),
                labels=tuple(f"m = {count}" for count, _ in runs),
            )
        )
    return Study("modes", "Sensitivity to the number of Fourier modes", tuple(sections))


def expert() -> Study:
    """hcpinn's own best method on every problem, beside the best published figures."""
    problems = [entry.problem for entry in ENTRIES.values()]
    section = Section(
        "expert",
        "hcpinn's own best method on every problem",
        tuple(Run(problem, expert_method(problem, accelerator=True)) for problem in problems),
        labels=tuple(problem.name for problem in problems),
        published=tuple(best_row(problem) for problem in problems),
        accuracy=EXPERT_ACCURACY,
    )
    return _single(section, "expert")


def paper() -> Study:
    """Every table and figure of the paper, and `expert` on every problem."""
    parts = (ablations, advection_by_speed, comparison, two_dimensions, modes, dirichlet, expert)
    return Study("paper", "The whole study", tuple(s for part in parts for s in part().sections))


def _single(section: Section, name: str) -> Study:
    return Study(name, section.title, (section,))


def rows_of(table: str) -> list[PublishedRow]:
    """The published rows of a table."""
    return [row for row in published_rows() if row.table == table]


def _section(table: str, title: str, *, seeds: Sequence[int] = SEEDS) -> Section:
    return _from_rows(table, title, rows_of(table), seeds=seeds)


def _from_rows(
    name: str, title: str, rows: Iterable[PublishedRow], *, seeds: Sequence[int] = SEEDS
) -> Section:
    """A section of published rows, seed by seed; rows of one problem share its declaration."""
    runs, labels, published = [], [], []
    rows = list(rows)
    several = len({row.problem for row in rows}) > 1
    varied = len({tuple(row.parameters.items()) for row in rows}) > 1
    for row in rows:
        problem = declared(row.problem, tuple(row.parameters.items()))
        values = ", ".join(f"{name} = {value:g}" for name, value in row.parameters.items())
        parts = [row.problem] * several + [row.method] + [values] * (varied and bool(values))
        for seed in seeds:
            runs.append(Run(problem, find_method(row.method, problem), seed))
            labels.append(", ".join(parts))
            published.append(row)
    return Section(name, title, tuple(runs), labels=tuple(labels), published=tuple(published))


@cache
def declared(name: str, parameters: tuple[tuple[str, float], ...]) -> Problem:
    """A problem of the catalogue with these parameters, always the same object."""
    problem = find_problem(name)
    changed = {key: value for key, value in parameters if problem.parameters.get(key) != value}
    return problem.with_parameters(**changed) if changed else problem


def best_row(problem: Problem) -> PublishedRow | None:
    """The published row with the smallest error for a problem as the catalogue has it, over any horizon."""

    def values(declared: Problem) -> dict[str, float]:
        return {name: value for name, value in declared.parameters.items() if name != HORIZON}

    rows = [
        row
        for row in published_rows()
        if row.problem == problem.name and values(row.declare()) == values(problem)
    ]
    own = [row for row in rows if not row.table.startswith("comparison")]
    return min(own, key=lambda row: max(row.figures.values()), default=None)
