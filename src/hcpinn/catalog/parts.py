"""Choices that named methods have in common."""

from __future__ import annotations

from ..objective import BoundaryPenalty, Penalty
from ..problem import Problem
from ..trial import Even, Fourier, Plain, Walls


def embedding(problem: Problem, modes: int, *, even: bool = False) -> Fourier | Plain | Even:
    """Fourier features where an axis is periodic; with `even` also features that hold slopes at walls."""
    walls = Walls(problem, even=even)
    if any(walls.flat(axis) != (0, 0) for axis in range(len(problem.space))):
        return Even(modes)
    return Fourier(modes) if any(b.periodic for b in problem.boundaries) else Plain()


def edges(problem: Problem, *, exact: bool, even: bool = False) -> tuple[Penalty, ...]:
    """A penalty on boundary data that a trial function, exact or not, leaves open.

    `even` says whether its features hold slopes at walls.
    """
    walls = Walls(problem, even=even)
    left = any(
        ends.bound and not (exact and not walls.left_open(axis))
        for axis, ends in enumerate(problem.boundaries)
    )
    return (BoundaryPenalty(),) if left else ()
