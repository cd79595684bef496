"""What lifts, gates and embeddings share: a setting that is bound to a problem."""

from __future__ import annotations

from collections.abc import Callable

from jaxtyping import Array, Float

from ..problem import Dirichlet, Problem

Function = Callable[[Float[Array, "points axes"]], Float[Array, "points outputs"]]
"""A function of coordinates (t in the first column), elementwise over points."""


def columns(problem: Problem, coordinates: Float[Array, "points axes"]) -> list[Array]:
    """The coordinates t, x, … as separate arrays."""
    return [coordinates[:, i] for i in range(len(problem.axes))]


def edge_factor(problem: Problem, coordinates: Float[Array, "points axes"]) -> Array | float:
    """Zero on Dirichlet boundaries, at most one inside: 4 (x − a)(b − x) / (b − a)²; else 1."""
    if not isinstance(problem.boundary, Dirichlet):
        return 1.0
    factor: Array | float = 1.0
    for axis, (low, high) in enumerate(zip(problem.domain.lower, problem.domain.upper, strict=True)):
        x = coordinates[:, axis + 1]
        factor = factor * 4.0 * (x - low) * (high - x) / (high - low) ** 2
    return factor
