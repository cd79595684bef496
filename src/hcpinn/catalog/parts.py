"""Parts that named methods have in common."""

from __future__ import annotations

from ..objective import BoundaryPenalty, Penalty
from ..problem import Dirichlet, Periodic, Problem
from ..trial import Fourier, Plain


def embedding(problem: Problem, modes: int) -> Fourier | Plain:
    """Fourier features where an axis is periodic."""
    return Fourier(modes) if any(isinstance(b, Periodic) for b in problem.boundaries) else Plain()


def edges(problem: Problem, *, exact: bool) -> tuple[Penalty, ...]:
    """A penalty on boundary data that a trial function, exact or not, leaves open."""
    left = [b for b in problem.boundaries if not isinstance(b, (Periodic, Dirichlet) if exact else Periodic)]
    return (BoundaryPenalty(),) if left else ()
