"""Causal weights (Wang, Sankaran and Perdikaris): later times count once earlier ones are solved.

Time is cut into chunks with mean squared residuals L₁, …, L_M, and chunk i weighs
wᵢ = exp(−ε Σ_{k<i} L_k). When the smallest weight exceeds δ the next, larger ε of the
schedule is taken; when that happens with the last one, training stops. With δ = 1 it goes on
through all its steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ...errors import MethodError
from .rule import WeightRule, take


class _State(eqx.Module):
    chunk: Int[Array, " points"]
    """The chunk of each point."""
    losses: Float[Array, " chunks"]
    """L of each chunk; zero before it is first measured."""
    level: Int[Array, ""]
    """Which tolerance is in use; past the last one, training is over."""


@dataclass(frozen=True)
class Causal(WeightRule):
    """Weights that follow the arrow of time."""

    chunks: int = 100
    """M, how many chunks time is cut into."""
    tolerances: tuple[float, ...] = (1e-2, 1e-1, 1.0, 10.0, 100.0)
    """The values of ε, in turn."""
    threshold: float = 0.99
    """δ, the smallest weight at which a tolerance is done. One that no weight exceeds, 1, ends nothing."""

    def __post_init__(self) -> None:
        if not (isinstance(self.chunks, int) and self.chunks >= 2):
            raise MethodError(f"Causal weights need at least 2 chunks of time, not {self.chunks!r}.")
        good = isinstance(self.tolerances, tuple) and all(0 < e < math.inf for e in self.tolerances)
        if not (good and self.tolerances and 0 < self.threshold <= 1):
            raise MethodError(
                "Causal weights need a tuple of positive tolerances and a threshold above 0 and up to 1, "
                f"not {self.tolerances!r} and {self.threshold!r}."
            )

    def covers(self, term: str) -> bool:
        return term == "residual"

    def init(self, when: Array) -> _State:
        losses = jnp.zeros(self.chunks, when.dtype)
        return _State(self._chunk(when), losses, jnp.int32(0))

    def weights(self, state: _State) -> Array:
        return self.by_chunk(state)[state.chunk]

    def by_chunk(self, state: _State) -> Float[Array, " chunks"]:
        """w₁ = 1, …, w_M."""
        earlier = jnp.concatenate([jnp.zeros_like(state.losses[:1]), jnp.cumsum(state.losses[:-1])])
        tolerances = jnp.asarray(self.tolerances, state.losses.dtype)
        return jnp.exp(-tolerances[jnp.minimum(state.level, len(self.tolerances) - 1)] * earlier)

    def update(self, state: _State, squares: Array, share: Array, at: Any) -> _State:
        chunk = take(state.chunk, at)
        total = jax.ops.segment_sum(squares, chunk, self.chunks)
        count = jax.ops.segment_sum(jnp.ones_like(squares), chunk, self.chunks)
        losses = jnp.where(count > 0, total / jnp.maximum(count, 1), state.losses)
        measured = _State(state.chunk, losses, state.level)
        done = jnp.min(self.by_chunk(measured)) > self.threshold
        return _State(state.chunk, losses, state.level + done.astype(state.level.dtype))

    def renew(self, state: _State, when: Array, nearest: Array) -> _State:
        return _State(self._chunk(when), state.losses, state.level)

    def finished(self, state: _State) -> Bool[Array, ""]:
        return state.level >= len(self.tolerances)

    def _chunk(self, when: Array) -> Int[Array, " points"]:
        return jnp.clip(jnp.floor(when * self.chunks), 0, self.chunks - 1).astype(jnp.int32)
