"""Ready-made studies: every table and figure of the paper, from its published rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache

from ..catalog import ENTRIES, PublishedRow, find_method, published_rows, tables
from ..catalog.expert import expert as expert_method
from ..errors import unknown_name
from ..method import Method
from ..objective import PeriodicPenalty
from ..problem import HORIZON, Problem
from ..runs import Run
from ..trial import Decay, Fourier, Semigroup
from .declaration import Section, Study

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
    problem = _rows(f"ablation {table}")[0].problem
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
    rows = [row for row in _rows("comparison") if row.method not in ("causal", "rba")]
    return _single(_from_rows("comparison", "Comparison at equal budget", rows), "comparison")


def originals() -> Study:
    """Causal training and residual-based attention as their authors ran them; not a part of `paper`.

    One seed: by the model of cost these three take longer than all of `paper`.
    """
    rows = [row for row in _rows("comparison") if row.method in ("causal", "rba")]
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


def explanations() -> Study:
    """Experiments on why rows come out as they do; not a part of `paper`.

    For the kink of the initial data in the first Allen–Cahn case, lifts that let go of it sooner; for the
    penalty on values alone in the second, slopes matched too; for Cahn–Hilliard and Schrödinger, as many
    Fourier modes as the other problems have, and for rows that not every seed brings to their end, only one;
    for the first case, the diffusivity that its authors' program has; for advection, twice the time. The
    study's own rows stand beside them.
    """
    lifts = {"C = 10": Decay(10.0), "C = 100": Decay(100.0), "semigroup": Semigroup()}
    kinked, smooth = (ENTRIES[name].problem for name in ("allen-cahn-1", "allen-cahn-2"))
    slow, fast = (find_method(name, kinked) for name in ("pbc+ic2", "pbc+ic1"))
    lifted = [replace(fast, name=f"pbc+ic1, {name}", lift=lift) for name, lift in lifts.items()]
    rows = [find_method(name, smooth) for name in ("ic1", "ic2", "ic1+sa", "ic2+sa")]
    matched = [method for row in rows for method in (row, _with_slopes(row))]
    hilliard, wave = (ENTRIES[name].problem for name in ("cahn-hilliard", "schrodinger"))
    periodic = ("pbc+ic1+sa", "pbc+ic2+sa", "pbc+ic1", "pbc+ic2", "pbc", "pbc+sa", "causal-50k", "rba-50k")
    few = [(find_method(name, hilliard), (1, 10) if "ic2" in name else (10,)) for name in periodic]
    shorter = [(find_method(name, wave), (10,)) for name in ("pbc+ic1+sa+mb", "pbc+ic2+sa+mb")]
    parts = (
        ("explanation kink", "Why the first case has a floor", kinked, [slow, fast, *lifted]),
        ("explanation slopes", "Why penalties leave the second case at a few percent", smooth, matched),
        ("explanation modes", "Why Cahn–Hilliard has two Fourier modes", hilliard, _counted(few)),
        ("explanation waves", "Why Schrödinger has three", wave, _counted(shorter)),
    )
    sections = [
        Section(name, title, tuple(Run(problem, method, seed) for method in methods for seed in SEEDS))
        for name, title, problem, methods in parts
    ]
    for name, title, pairs in (
        ("explanation diffusivity", "The first case with a tenth of its diffusivity", _thinner()),
        ("explanation horizon", "Why advection ends at T = 0.5", _longer()),
    ):
        runs = tuple(Run(problem, method, seed) for problem, method in pairs for seed in SEEDS)
        sections.append(Section(name, title, runs))
    return Study("explanations", "Experiments on why rows come out as they do", tuple(sections))


def paper() -> Study:
    """Every table and figure of the paper, and `expert` on every problem."""
    parts = (ablations, advection_by_speed, comparison, two_dimensions, modes, dirichlet, expert)
    return Study("paper", "The whole study", tuple(s for part in parts for s in part().sections))


@cache
def ready_made() -> dict[str, Callable[[], Study]]:
    """Every ready-made study by name; the docstring of each says what it is."""

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


def find_study(name: str) -> Study:
    """The ready-made study of this name."""
    if name not in ready_made():
        raise unknown_name("study", name, ready_made())
    return ready_made()[name]()


def _with_slopes(method: Method) -> Method:
    """A method whose periodic penalty matches slopes as well."""
    penalties = [replace(p, order=1) if isinstance(p, PeriodicPenalty) else p for p in method.penalties]
    return replace(method, name=f"{method.name}, slopes matched", penalties=tuple(penalties))


def _thinner() -> list[tuple[Problem, Method]]:
    """Rows of the first Allen–Cahn case as the study's table has them, and with γ₁ = 1e-4."""
    own = ENTRIES["allen-cahn-1"].problem
    thin = own.with_parameters(gamma1=1e-4)
    rows = [find_method(name, own) for name in ("pbc+ic1+sa", "pbc+ic2+sa", "pbc+ic1", "pbc+ic2")]
    renamed = [replace(row, name=f"{row.name}, γ₁ = 1e-4") for row in rows]
    return [pair for row, new in zip(rows, renamed, strict=True) for pair in ((own, row), (thin, new))]


def _longer() -> list[tuple[Problem, Method]]:
    """Rows of advection as the study's tables have them, and up to T = 1."""
    whole, found = ENTRIES["advection"].problem, []
    for row in _rows("ablation advection-c60"):
        half = _declared(row.problem, tuple(row.parameters.items()))
        method = find_method(row.method, whole)
        found += [(half, method), (whole, replace(method, name=f"{method.name}, T = 1"))]
        if isinstance(method.embedding, Fourier):
            more = replace(method, name=f"{method.name}, T = 1, m = 10", embedding=Fourier(10))
            found.append((whole, more))
    return found


def _counted(rows: Iterable[tuple[Method, Sequence[int]]]) -> list[Method]:
    """Each method, and behind it the same with other numbers of Fourier modes."""
    return [
        method
        for row, counts in rows
        for method in (
            row,
            *(replace(row, name=f"{row.name}, m = {m}", embedding=Fourier(m)) for m in counts),
        )
    ]


def _single(section: Section, name: str) -> Study:
    return Study(name, section.title, (section,))


def _rows(table: str) -> list[PublishedRow]:
    return [row for row in published_rows() if row.table == table]


def _section(table: str, title: str, *, seeds: Sequence[int] = SEEDS) -> Section:
    return _from_rows(table, title, _rows(table), seeds=seeds)


def _from_rows(
    name: str, title: str, rows: Iterable[PublishedRow], *, seeds: Sequence[int] = SEEDS
) -> Section:
    """A section of published rows, seed by seed; rows of one problem share its declaration."""
    runs, labels, published = [], [], []
    rows = list(rows)
    several = len({row.problem for row in rows}) > 1
    varied = len({tuple(row.parameters.items()) for row in rows}) > 1
    for row in rows:
        problem = _declared(row.problem, tuple(row.parameters.items()))
        values = ", ".join(f"{name} = {value:g}" for name, value in row.parameters.items())
        parts = [row.problem] * several + [row.method] + [values] * (varied and bool(values))
        for seed in seeds:
            runs.append(Run(problem, find_method(row.method, problem), seed))
            labels.append(", ".join(parts))
            published.append(row)
    return Section(name, title, tuple(runs), labels=tuple(labels), published=tuple(published))


@cache
def _declared(name: str, parameters: tuple[tuple[str, float], ...]) -> Problem:
    problem = ENTRIES[name].problem
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
