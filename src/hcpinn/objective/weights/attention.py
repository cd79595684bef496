"""Residual-based attention (Anagnostopoulos et al.): weights that remember where the residual was large.

After each step λᵢ ← γ λᵢ + η |rᵢ| / max|r|, and the loss is the mean of (λᵢ rᵢ)².
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from ...errors import MethodError
from .rule import WeightRule, put, take


@dataclass(frozen=True)
class Attention(WeightRule):
    """Residual-based attention; λ stays below η / (1 − γ)."""

    rate: float = 1e-2
    """η, how much one step adds at most."""
    memory: float = 0.999
    """γ, what a step leaves of the past."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.rate) and self.rate > 0 and 0 <= self.memory < 1):
            raise MethodError(
                f"Attention needs a positive rate and a memory from 0 to below 1, not {self.rate!r} and "
                f"{self.memory!r}."
            )

    def covers(self, term: str) -> bool:
        return term == "residual"

    def init(self, when: Array) -> Array:
        return jnp.zeros_like(when)

    def weights(self, state: Array) -> Array:
        return state**2

    def update(self, state: Array, squares: Array, share: Array, at: Any) -> Array:
        size = jnp.sqrt(squares)
        largest = jnp.maximum(jnp.max(size), jnp.finfo(size.dtype).tiny)
        return put(state, at, self.memory * take(state, at) + self.rate * size / largest)
