"""Adam: robust first-order descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from .stage import Loss, Stage, Step
from .validation import check_stage


@dataclass(frozen=True)
class Adam(Stage):
    """Adam with a constant learning rate."""

    steps: int = 50_000
    rate: float = 1e-3
    precision: str = "float32"

    def __post_init__(self) -> None:
        check_stage(self)

    @property
    def label(self) -> str:
        return "Adam"

    def init(self, loss: Loss, theta: Array) -> Any:
        return optax.adam(self.rate).init(theta)

    def step(self, loss: Loss, theta: Array, state: Any) -> Step:
        value, gradient = jax.value_and_grad(loss)(theta)
        change: Any
        change, state = optax.adam(self.rate).update(gradient, state)
        return Step(theta + change, state, value, theta)

    def terminate(self, state: Any) -> Array:
        return jnp.int32(0)
