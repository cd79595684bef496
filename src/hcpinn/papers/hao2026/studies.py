"""The paper's tables and figures as studies, each from its published rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...catalog import ENTRIES, find_method
from ...catalog.expert import expert as expert_method
from ...descent import Method
from ...descent.runs import Run
from ...problem import HORIZON, Problem
from ...study import Section, Study
from ...study.trained_groups import catalogued
from ...trial import Fourier
from . import PAGE
from .published import PublishedRow, published_rows, tables

MODES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80)
"""Numbers of Fourier modes, from too few to far too many. The paper shows a curve and no numbers."""

SEEDS = (0, 1, 2)
"""Seeds of every row that a claim of the paper rests on, so that luck can be told from effect.

That is every row: taken together the claims ask for all published rows and for all numbers of modes. Three
against three is the smallest number of seeds at which a rank test can tell two rows apart.
"""

REPETITIONS = 10
"""Seeds of the advection table, as in the paper."""

_ORIGINALS = " originals"
"""What follows the name of a table in that of the section with its rivals at their authors' budget."""

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
    return Study("ablation", "The seven ablations", tuple(sections), PAGE)


def advection_by_speed() -> Study:
    """Three solvers of linear advection at four speeds, from ten seeds each."""
    section = _section("advection by speed", "Linear advection by speed", seeds=range(REPETITIONS))
    return _single(section, "advection-by-speed")


def comparison() -> Study:
    """Causal training and residual-based attention at the paper's own budget, beside its method."""
    return _single(_section("comparison", "Comparison at equal budget"), "comparison")


def originals() -> Study:
    """Causal training and residual-based attention as their authors ran them; not a part of `paper`.

    One seed: by the model of cost these three take longer than all of `paper`.
    """
    section = _section("comparison originals", "Rivals at their authors' budget", seeds=(0,))
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
    return Study("modes", "Sensitivity to the number of Fourier modes", tuple(sections), PAGE)


def expert() -> Study:
    """hcpinn's own best method on every problem, beside the best published figures."""
    problems = [entry.problem for entry in ENTRIES.values()]
    section = Section(
        "expert",
        "hcpinn's own best method on every problem",
        tuple(Run(problem, expert_method(problem, accelerator=True)) for problem in problems),
        labels=tuple(problem.name for problem in problems),
        accuracy=EXPERT_ACCURACY,
    )
    return _single(section, "expert")


def paper() -> Study:
    """Every table and figure of the paper, and `expert` on every problem."""
    parts = (ablations, advection_by_speed, comparison, two_dimensions, modes, dirichlet, expert)
    return Study("paper", "The whole study", tuple(s for part in parts for s in part().sections), PAGE)


def _single(section: Section, name: str) -> Study:
    return Study(name, section.title, (section,), PAGE)


def named() -> dict[str, Callable[[], Study]]:
    """Every study here by name."""
    from .explanations import explanations

    def one(table: str) -> Callable[[], Study]:
        def make() -> Study:
            return ablation(table)

        make.__doc__ = f"The ablation of {table}."
        return make

    found: dict[str, Callable[[], Study]] = {"paper": paper, "ablation": ablations}
    found.update({f"ablation-{table}": one(table) for table in tables()["ablation"]})
    others = (advection_by_speed, comparison, two_dimensions, modes, dirichlet, expert)
    found.update({part.__name__.replace("_", "-"): part for part in others})
    return {**found, "comparison-originals": originals, "explanations": explanations}


def rows_of(table: str) -> list[PublishedRow]:
    """The published rows of a table."""
    return [row for row in published_rows() if row.table == table]


def labelled_rows(section: str) -> dict[str, PublishedRow]:
    """The published rows of a section by the labels of their runs; none where nothing was published."""
    table = section.removesuffix(_ORIGINALS)
    rows = rows_of(table)
    if table == "comparison":
        rows = [row for row in rows if (row.method in ("causal", "rba")) == (section != table)]
    several = len({row.problem for row in rows}) > 1
    varied = len({tuple(row.parameters.items()) for row in rows}) > 1
    found = {}
    for row in rows:
        values = ", ".join(f"{name} = {value:g}" for name, value in row.parameters.items())
        parts = [row.problem] * several + [row.method] + [values] * (varied and bool(values))
        found[", ".join(parts)] = row
    return found


def _section(name: str, title: str, *, seeds: Sequence[int] = SEEDS) -> Section:
    """A section of published rows, seed by seed; rows of one problem share its declaration."""
    runs, labels = [], []
    for label, row in labelled_rows(name).items():
        problem = catalogued(row.problem, tuple(row.parameters.items()))
        for seed in seeds:
            runs.append(Run(problem, find_method(row.method, problem), seed))
            labels.append(label)
    return Section(name, title, tuple(runs), labels=tuple(labels))


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
