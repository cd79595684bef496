"""The residual of the equation, r = uₜ − F(u, uₓ, …, t, x), at points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..problem import Index
from ..trial import Fixed, MarchedTrial, Trial
from ..trial.trial import MarchedFixed


def residual(
    trial: Trial | MarchedTrial, network: Any, fixed: Fixed | MarchedFixed, parameters: Mapping[str, Any]
) -> Float[Array, "points components"]:
    """r at the points of `fixed`, for a network's parameters and the problem's named parameters."""
    problem = trial.problem
    given: Any = fixed
    jet = trial.jet(network, given)
    fields = {index: problem.to_fields(values) for index, values in jet.items()}
    shape = fixed.coordinates.shape[:1]

    def lookup(number: int, index: Index) -> Array:
        return fields[index][number] if index in fields else jnp.zeros(shape, fixed.coordinates.dtype)

    coordinates = [fixed.coordinates[:, i] for i in range(len(problem.axes))]
    rates = problem.evaluate_rhs(lookup, coordinates, parameters)
    first: Index = (1, *(0 for _ in problem.space))
    return problem.to_components([lookup(n, first) - rate for n, rate in enumerate(rates)])
