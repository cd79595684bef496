"""The residual of the equation, r = uₜ − F(u, uₓ, …, t, x) or uₜₜ − F, at points, and the slopes of F."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
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


def linearized(
    problem: Problem,
    jet: Mapping[Index, Array],
    points: Float[Array, "points axes"],
    parameters: Mapping[str, Any],
) -> tuple[Float[Array, "points components"], Float[Array, "arguments components points components"]]:
    """r at points, and how F answers there to its arguments.

    Args:
        problem: whose F.
        jet: u and its derivatives, one column per component; those left out are zero.
        points: rows (t, x, …).
        parameters: the problem's named parameters.

    Returns:
        The residual, and ∂Fₙ/∂(derivative a of component m) as an array [a, m, point, n], with the
        derivatives in the order of `problem.derivatives`.
    """
    arguments = problem.derivatives
    nothing = jnp.zeros((len(points), len(problem.components)), points.dtype)
    values = jnp.stack([jet.get(index, nothing) for index in arguments])

    def rates(values: Array) -> Array:
        own = {**dict(zip(arguments, values, strict=True)), problem.leading: nothing}
        return -_of_jet(problem, own, points, parameters)

    def along(direction: Array) -> Array:
        every = jnp.broadcast_to(direction[:, None, :], values.shape)
        return jax.jvp(rates, (values,), (every,))[1]

    count = values.shape[0] * values.shape[2]
    slopes = jax.vmap(along)(jnp.eye(count, dtype=points.dtype).reshape(count, len(values), -1))
    residual = jet.get(problem.leading, nothing) - rates(values)
    return residual, slopes.reshape(len(values), -1, *nothing.shape)


def _of_jet(
    problem: Problem, jet: Mapping[Index, Array], points: Array, parameters: Mapping[str, Any]
) -> Array:
    fields = {index: problem.to_fields(values) for index, values in jet.items()}

    def lookup(number: int, index: Index) -> Array:
        return fields[index][number] if index in fields else jnp.zeros(points.shape[:1], points.dtype)

    coordinates = [points[:, i] for i in range(len(problem.axes))]
    rates = problem.evaluate_rhs(lookup, coordinates, parameters)
    return problem.to_components([lookup(n, problem.leading) - rate for n, rate in enumerate(rates)])
