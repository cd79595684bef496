"""The residual of the equation, r = uₜ − F(u, uₓ, …, t, x) or uₜₜ − F, at points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..problem import Index, Problem
from ..trial import Fixed, MarchedTrial, Trial
from ..trial.trial import MarchedFixed


def residual(
    trial: Trial | MarchedTrial, network: Any, fixed: Fixed | MarchedFixed, parameters: Mapping[str, Any]
) -> Float[Array, "points components"]:
    """r at the points of `fixed`, for a network's parameters and the problem's named parameters."""
    given: Any = fixed
    return _of_jet(trial.problem, trial.jet(network, given), fixed.coordinates, parameters)


def residual_of(
    problem: Problem, derivative: Callable[[Array, Index], Array], points: Float[Array, "points axes"]
) -> Float[Array, "points components"]:
    """r at points of any function, given its derivatives by index."""
    jet = {index: derivative(points, index) for index in (*problem.derivatives, problem.leading)}
    return _of_jet(problem, jet, points, problem.parameters)


def _of_jet(
    problem: Problem, jet: Mapping[Index, Array], points: Array, parameters: Mapping[str, Any]
) -> Array:
    fields = {index: problem.to_fields(values) for index, values in jet.items()}

    def lookup(number: int, index: Index) -> Array:
        return fields[index][number] if index in fields else jnp.zeros(points.shape[:1], points.dtype)

    coordinates = [points[:, i] for i in range(len(problem.axes))]
    rates = problem.evaluate_rhs(lookup, coordinates, parameters)
    return problem.to_components([lookup(n, problem.leading) - rate for n, rate in enumerate(rates)])
