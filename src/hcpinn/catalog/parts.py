"""Choices that named methods have in common."""

from __future__ import annotations

from ..objective import BoundaryPenalty, Penalty
from ..problem import Problem
from ..trial import Even, Fourier, Plain, holding


def embedding(problem: Problem, modes: int, *, even: bool = False) -> Fourier | Plain | Even:
    """Fourier features where an axis is periodic; with `even` also features that hold slopes at walls."""
    if holding(problem, even=even).shaped:
        return Even(modes)
    return Fourier(modes) if any(b.periodic for b in problem.boundaries) else Plain()


def edges(problem: Problem, *, exact: bool, even: bool = False) -> tuple[Penalty, ...]:
    """A penalty on boundary data that a trial function, exact or not, leaves open.

    `even` says whether its features hold slopes at walls.
    """
    held = holding(problem, even=even)
    return (BoundaryPenalty(),) if (held.left_open if exact else held.bound) else ()
