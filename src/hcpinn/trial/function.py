"""What lifts, gates and embeddings become for a problem: functions of the coordinates."""

from __future__ import annotations

from collections.abc import Callable

from jaxtyping import Array, Float

from ..problem import Problem

Function = Callable[[Float[Array, "points axes"]], Float[Array, "points outputs"]]
"""A function of coordinates (t in the first column), elementwise over points."""


def columns(problem: Problem, coordinates: Float[Array, "points axes"]) -> list[Array]:
    """The coordinates t, x, … as separate arrays."""
    return [coordinates[:, i] for i in range(len(problem.axes))]
