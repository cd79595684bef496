"""Self-adaptive weights (McClenny and Braga-Neto): each point's weight climbs where the network lags.

The loss Σ shareᵢ F(λᵢ) rᵢ² is descended in the network's parameters and, at the same time,
ascended in the λᵢ by Adam, with the mask F increasing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...errors import MethodError, unknown_name
from .rule import WeightRule, put, take

MASKS: dict[str, Callable[[Array], Array]] = {
    "identity": lambda x: x,
    "square": lambda x: x**2,
    "sigmoid": jax.nn.sigmoid,
}
"""Masks F by name."""

_DECAY_1, _DECAY_2, _SMALL = 0.9, 0.999, 1e-8
"""Adam's own settings."""


class _State(eqx.Module):
    value: Float[Array, " points"]
    """λ."""
    first: Float[Array, " points"]
    second: Float[Array, " points"]
    count: Float[Array, " points"]
    """How often the point was visited."""


@dataclass(frozen=True)
class SelfAdaptive(WeightRule):
    """A trainable weight F(λ) for every point of every term of the loss."""

    mask: str = "square"
    """F: 'identity', 'square' or 'sigmoid'."""
    rate: float = 5e-3
    """Learning rate of Adam's ascent."""
    initial: float = 1.0
    """λ before training."""

    def __post_init__(self) -> None:
        if self.mask not in MASKS:
            raise unknown_name("mask", self.mask, MASKS)
        if not (math.isfinite(self.rate) and self.rate > 0 and math.isfinite(self.initial)):
            raise MethodError(
                f"SelfAdaptive needs a positive rate and a finite initial value, not {self.rate!r} and "
                f"{self.initial!r}."
            )

    def covers(self, term: str) -> bool:
        return True

    def init(self, when: Array) -> _State:
        zero = jnp.zeros_like(when)
        return _State(jnp.full_like(when, self.initial), zero, zero, zero)

    def weights(self, state: _State) -> Array:
        return MASKS[self.mask](state.value)

    def update(self, state: _State, squares: Array, share: Array, at: Any) -> _State:
        value, first, second, count = (
            take(v, at) for v in (state.value, state.first, state.second, state.count)
        )
        slope = jax.grad(lambda v: jnp.sum(share * squares * MASKS[self.mask](v)))(value)
        first = _DECAY_1 * first + (1 - _DECAY_1) * slope
        second = _DECAY_2 * second + (1 - _DECAY_2) * slope**2
        count = count + 1
        size = jnp.sqrt(second / (1 - _DECAY_2**count)) + _SMALL
        value = value + self.rate * first / (1 - _DECAY_1**count) / size
        return _State(
            put(state.value, at, value),
            put(state.first, at, first),
            put(state.second, at, second),
            put(state.count, at, count),
        )
