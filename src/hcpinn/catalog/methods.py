"""Methods by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from ..descent import LBFGS, Adam, Exponential, Method, load_method
from ..errors import unknown_name
from ..objective import Attention, Causal, InitialPenalty
from ..papers.hao2026.rows import SWITCHES, is_row, modes, row
from ..problem import Periodic, Problem
from ..trial import MLP, Characteristic, Decay, ModifiedMLP, NoGate, NoLift
from .expert import expert
from .parts import edges, embedding
from .problems import ENTRIES


def paper(problem: Problem) -> Method:
    """The study's best settings for this problem: 7×32 network, 16,384 points, Adam 50,000, L-BFGS 5,000."""
    if problem.name in ENTRIES:
        return ENTRIES[problem.name].paper
    periodic = any(isinstance(b, Periodic) for b in problem.boundaries)
    return row("pbc+ic1+sa" if periodic else "ic1+sa", problem, name="paper")


def quick(problem: Problem) -> Method:
    """A small network trained mostly by L-BFGS: minutes on a laptop."""
    return Method(
        name="quick",
        lift=Decay(1.0),
        embedding=embedding(problem, 5),
        network=MLP(24, 4),
        penalties=edges(problem, exact=True),
        points=4096,
        stages=(Adam(steps=1000, rate=3e-3), LBFGS(steps=3000)),
    )


def baseline(problem: Problem) -> Method:
    """The plain soft PINN: penalties on initial data and boundary, no lift, no periodic embedding."""
    return row("", problem, name="baseline")


def causal(problem: Problem) -> Method:
    """Causal training as its authors ran it: 4×128, soft initial data, ε = 100, all 300,000 steps of Adam."""
    return _rival(
        problem,
        name="causal",
        network=MLP(128, 4),
        weights=Causal(tolerances=(100.0,), threshold=1.0),
        stages=(_decaying(300_000),),
    )


def rba(problem: Problem) -> Method:
    """Residual-based attention as its authors ran it: modified MLP 6×128, 300,000 steps of Adam."""
    return _rival(
        problem,
        name="rba",
        network=ModifiedMLP(128, 6),
        weights=Attention(),
        stages=(_decaying(300_000),),
    )


def causal_50k(problem: Problem) -> Method:
    """Causal training within the study's budget: its points, features, 7×32 network and step counts."""
    return dataclasses.replace(
        causal(problem),
        name="causal-50k",
        embedding=embedding(problem, modes(problem)),
        network=MLP(32, 7),
        weights=Causal(tolerances=(100.0,)),
        points=16_384,
        stages=(_decaying(50_000), LBFGS()),
    )


def rba_50k(problem: Problem) -> Method:
    """Residual-based attention within the study's budget and features, with a modified MLP of 7×32."""
    return dataclasses.replace(
        rba(problem),
        name="rba-50k",
        embedding=embedding(problem, modes(problem)),
        network=ModifiedMLP(32, 7),
        points=16_384,
        stages=(_decaying(50_000), LBFGS()),
    )


def cinn(problem: Problem) -> Method:
    """For transport: a network of x − ct alone, with penalties on initial data and periodicity."""
    return dataclasses.replace(row("", problem), name="cinn", embedding=Characteristic())


def _rival(problem: Problem, **settings: object) -> Method:
    """What the authors of causal and attention weights have in common."""
    return Method(
        lift=NoLift(),
        gate=NoGate(),
        embedding=embedding(problem, 10),
        penalties=(InitialPenalty(512, weight=100.0), *edges(problem, exact=False)),
        points=25_600,
        **settings,  # type: ignore[arg-type]
    )


def _decaying(steps: int) -> Adam:
    return Adam(steps=steps, schedule=Exponential(0.9, 5000))


METHODS: dict[str, Callable[[Problem], Method]] = {
    "expert": expert,
    "paper": paper,
    "quick": quick,
    "baseline": baseline,
    "causal": causal,
    "rba": rba,
    "causal-50k": causal_50k,
    "rba-50k": rba_50k,
    "cinn": cinn,
}
"""Named methods; the docstring of each says what it is."""

DEFAULT = "expert"
"""The method used when none is named."""


def find_method(name: str, problem: Problem) -> Method:
    """The method of this name with its settings for `problem`.

    A name made of the study's switches, such as 'pbc+ic1+sa', is a row of its tables; one that ends
    in .toml is a file.
    """
    if name.endswith(".toml"):
        return load_method(Path(name))
    if name in METHODS:
        return METHODS[name](problem)
    if is_row(name):
        return row(name, problem)
    raise unknown_name("method", name, (*METHODS, *SWITCHES))
