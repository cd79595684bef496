"""Derivatives of any pointwise function of the coordinates, by nested forward mode."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..problem import Index

Jet = dict[Index, Array]
"""Index → values, one row per point."""


def nested(
    function: Callable[[Array], Array],
    coordinates: Float[Array, "points axes"],
    indices: Iterable[Index],
) -> Jet:
    """The jet of any pointwise function of the coordinates, by nested forward mode.

    Slower than propagation, and always available: it serves lifts, gates and networks
    that a user brings.
    """

    @cache
    def derivative(index: Index) -> Callable[[Array], Array]:
        if not any(index):
            return function
        axis = next(i for i, n in enumerate(index) if n)
        lower = derivative(tuple(n - (i == axis) for i, n in enumerate(index)))

        def along(points: Array) -> Array:
            direction = jnp.zeros_like(points).at[:, axis].set(1.0)
            return jax.jvp(lower, (points,), (direction,))[1]

        return along

    return {index: derivative(index)(coordinates) for index in indices}
