"""Choices that named methods have in common."""

from __future__ import annotations

from ..objective import BoundaryPenalty, Penalty
from ..problem import Problem
from ..trial import Fourier, Plain


def embedding(problem: Problem, modes: int) -> Fourier | Plain:
    """Fourier features where an axis is periodic."""
    return Fourier(modes) if any(b.periodic for b in problem.boundaries) else Plain()


def edges(problem: Problem, *, exact: bool) -> tuple[Penalty, ...]:
    """A penalty on boundary data that a trial function, exact or not, leaves open."""
    left = any(b.bound and not (exact and b.prescribes_values) for b in problem.boundaries)
    return (BoundaryPenalty(),) if left else ()
