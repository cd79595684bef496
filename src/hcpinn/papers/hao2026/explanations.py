"""Experiments on why rows of the paper come out as they do, each beside the rows it is about.

An experiment differs from its row in one thing, which its name says after a comma.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...catalog import ENTRIES, find_method
from ...descent import Method, Resampling, with_budget
from ...descent.runs import Run
from ...objective import PeriodicPenalty
from ...problem import Problem
from ...study import Section, Study
from ...study.trained_groups import catalogued
from ...trial import Decay, Fourier, Semigroup
from . import PAGE
from .studies import SEEDS, rows_of

Pairs = list[tuple[Problem, Method]]


def explanations() -> Study:
    """Experiments on why rows come out as they do; not a part of `paper`."""
    experiments = (
        ("kink", "Why the first case has a floor", _kink()),
        ("diffusivity", "The first case with a tenth of its diffusivity", _diffusivity()),
        ("slopes", "Why penalties leave the second case at a few percent", _slopes()),
        ("modes", "Why Cahn–Hilliard has two Fourier modes", _modes()),
        ("seeds", "Why some seeds fail on Cahn–Hilliard", _seeds()),
        ("waves", "Why Schrödinger has three", _waves()),
        ("plane", "What holds the plane back", _plane()),
        ("horizon", "Why advection ends at T = 0.5", _horizon()),
        ("crossing", "Why the wave fades without the embedding", _crossing()),
    )
    sections = [
        Section(
            f"explanation {name}", title, tuple(Run(*pair, seed=seed) for pair in pairs for seed in SEEDS)
        )
        for name, title, pairs in experiments
    ]
    return Study("explanations", "Experiments on why rows come out as they do", tuple(sections), PAGE)


def _kink() -> Pairs:
    """Lifts that let go of the kink of the initial data sooner."""
    problem, (slow, fast) = _rows("allen-cahn-1", "pbc+ic2", "pbc+ic1")
    lifts = {"C = 10": Decay(10.0), "C = 100": Decay(100.0), "semigroup": Semigroup()}
    tried = [replace(fast, name=f"pbc+ic1, {name}", lift=lift) for name, lift in lifts.items()]
    return [(problem, method) for method in (slow, fast, *tried)]


def _diffusivity() -> Pairs:
    """γ₁ = 1e-4, which the program of the paper's authors has."""
    problem, rows = _rows("allen-cahn-1", "pbc+ic1+sa", "pbc+ic2+sa", "pbc+ic1", "pbc+ic2")
    thin = problem.with_parameters(gamma1=1e-4)
    return [
        pair for row in rows for pair in ((problem, row), (thin, replace(row, name=f"{row.name}, γ₁ = 1e-4")))
    ]


def _slopes() -> Pairs:
    """A periodic penalty that matches slopes as well as values."""
    problem, rows = _rows("allen-cahn-2", "ic1", "ic2", "ic1+sa", "ic2+sa")
    found = []
    for row in rows:
        found += [(problem, row), (problem, _penalised(row, "slopes matched", order=1))]
    return found


def _modes() -> Pairs:
    """As many Fourier modes as other problems have; for rows that not every seed brings to their end, one."""
    names = ("pbc+ic1+sa", "pbc+ic2+sa", "pbc+ic1", "pbc+ic2", "pbc", "pbc+sa", "causal-50k", "rba-50k")
    problem, rows = _rows("cahn-hilliard", *names)
    return [pair for row in rows for pair in _counted(problem, row, (1, 10) if "ic2" in row.name else (10,))]


def _seeds() -> Pairs:
    """More steps, more points and fresh ones, for rows that not every seed brings to their end."""
    problem, rows = _rows("cahn-hilliard", "pbc+ic2+sa", "pbc+ic2")
    found = []
    for row in rows:
        adam, last = (stage.steps for stage in row.stages)
        tried = {
            "L-BFGS × 4": with_budget(row, steps=[adam, 4 * last]),
            "Adam × 3": with_budget(row, steps=[3 * adam, last]),
            "points × 4": with_budget(row, points=4 * row.points),
            "fresh points": replace(row, resampling=Resampling()),
        }
        found += [row, *(replace(method, name=f"{row.name}, {name}") for name, method in tried.items())]
    return [(problem, method) for method in found]


def _waves() -> Pairs:
    """As many Fourier modes as other problems have."""
    problem, rows = _rows("schrodinger", "pbc+ic1+sa+mb", "pbc+ic2+sa+mb")
    return [pair for row in rows for pair in _counted(problem, row, (10,))]


def _plane() -> Pairs:
    """The Fourier modes of the initial data, and one time segment with the steps of both."""
    problem, (row,) = _rows("allen-cahn-2d", "paper")
    whole = replace(with_budget(row, steps=[row.windows * s.steps for s in row.stages]), windows=1)
    return [*_counted(problem, row, (2,)), (problem, replace(whole, name="paper, one segment"))]


def _horizon() -> Pairs:
    """Advection up to T = 1, with one Fourier mode and with ten."""
    whole, found = ENTRIES["advection"].problem, []
    for row in rows_of("ablation advection-c60"):
        half = catalogued(row.problem, tuple(row.parameters.items()))
        method = find_method(row.method, whole)
        longer = replace(method, name=f"{method.name}, T = 1")
        counts = (10,) if isinstance(method.embedding, Fourier) else ()
        found += [(half, method), *_counted(whole, longer, counts)]
    return found


def _crossing() -> Pairs:
    """A larger weight on periodicity, by which alone the wave comes in again where it went out."""
    half = catalogued("advection", tuple(rows_of("ablation advection-c60")[0].parameters.items()))
    rows = [find_method(name, half) for name in ("ic1", "ic1+sa")]
    return [
        pair
        for row in rows
        for pair in ((half, row), (half, _penalised(row, "periodicity × 100", weight=100.0)))
    ]


def _penalised(row: Method, said: str, **changes: float) -> Method:
    """A row with another penalty on periodicity."""
    penalties = [replace(p, **changes) if isinstance(p, PeriodicPenalty) else p for p in row.penalties]
    return replace(row, name=f"{row.name}, {said}", penalties=tuple(penalties))


def _rows(problem: str, *names: str) -> tuple[Problem, list[Method]]:
    """A problem of the catalogue and rows of its tables."""
    found = ENTRIES[problem].problem
    return found, [find_method(name, found) for name in names]


def _counted(problem: Problem, row: Method, counts: Sequence[int]) -> Pairs:
    """A row, and behind it the same with other numbers of Fourier modes."""
    others = [replace(row, name=f"{row.name}, m = {m}", embedding=Fourier(m)) for m in counts]
    return [(problem, method) for method in (row, *others)]
