"""What lifts, gates and embeddings share: a setting that is bound to a problem."""

from __future__ import annotations

from collections.abc import Callable

from jaxtyping import Array, Float

from ..problem import Dirichlet, Problem

Condition = tuple[str, int | None]
"""What must hold: ("initial", None), or ("periodic" or "boundary", axis)."""

Function = Callable[[Float[Array, "points axes"]], Float[Array, "points outputs"]]
"""A function of coordinates (t in the first column), elementwise over points."""


def columns(problem: Problem, coordinates: Float[Array, "points axes"]) -> list[Array]:
    """The coordinates t, x, … as separate arrays."""
    return [coordinates[:, i] for i in range(len(problem.axes))]


def prescribed_axes(problem: Problem) -> list[int]:
    """The space axes with Dirichlet data at their ends."""
    return [axis for axis, condition in enumerate(problem.boundaries) if isinstance(condition, Dirichlet)]


def edge_factor(problem: Problem, coordinates: Float[Array, "points axes"]) -> Array | float:
    """Zero where values are prescribed, at most one inside: Π 4 (x − a)(b − x) / (b − a)² over those axes."""
    factor: Array | float = 1.0
    for axis in prescribed_axes(problem):
        low, high = problem.domain.bounds[axis]
        x = coordinates[:, axis + 1]
        factor = factor * 4.0 * (x - low) * (high - x) / (high - low) ** 2
    return factor
