"""Methods by name."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import unknown_name
from ..method import Method
from ..problem import Periodic, Problem
from ..training import LBFGS, Adam
from ..trial import MLP, Decay, Fourier, Plain
from .problems import ENTRIES


def paper(problem: Problem) -> Method:
    """The study's best settings for this problem: 7×32 network, 16,384 points, Adam 50,000, L-BFGS 5,000."""
    if problem.name in ENTRIES:
        return ENTRIES[problem.name].paper
    return Method(name="paper", lift=Decay(1.0), embedding=_embedding(problem, 10))


def quick(problem: Problem) -> Method:
    """A small network trained mostly by L-BFGS: minutes on a laptop."""
    return Method(
        name="quick",
        lift=Decay(1.0),
        embedding=_embedding(problem, 5),
        network=MLP(24, 4),
        points=4096,
        stages=(Adam(steps=1000, rate=3e-3), LBFGS(steps=3000)),
    )


def _embedding(problem: Problem, modes: int) -> Fourier | Plain:
    return Fourier(modes) if any(isinstance(b, Periodic) for b in problem.boundaries) else Plain()


METHODS: dict[str, Callable[[Problem], Method]] = {"paper": paper, "quick": quick}
"""Named methods; the docstring of each says what it is."""

DEFAULT = "quick"
"""The method used when none is named."""


def find_method(name: str, problem: Problem) -> Method:
    """The method of this name, with its settings for `problem`."""
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    return METHODS[name](problem)
