"""Adam: robust first-order descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp
import optax
from jaxtyping import Array

from .rates import Constant, Schedule
from .stage import Stage, Step, Target


@dataclass(frozen=True)
class Adam(Stage):
    """Adam, with a constant learning rate unless a schedule changes it."""

    steps: int = 50_000
    """Steps of the stage."""
    rate: float = 1e-3
    """The learning rate."""
    schedule: Schedule = Constant()
    """How the rate changes: `Constant()`, `Exponential(…)` or `Cosine(…)`."""
    precision: str = "float32"
    """"float32" or "float64"."""
    label: ClassVar[str] = "Adam"
    tolerant: ClassVar[bool] = True

    def init(self, target: Target, theta: Array) -> Any:
        return self.optimiser.init(theta)

    def step(self, target: Target, theta: Array, state: Any) -> Step:
        here = target(theta)
        change: Any
        change, state = self.optimiser.update(here.gradient, state)
        return Step(theta + change, state, here.loss, here.terms, theta, here.squares)

    def renew(self, fresh: Any, before: Any) -> Any:
        return before

    def work(self, points: int, parameters: int) -> float:
        return float(points * parameters)

    def terminate(self, state: Any) -> Array:
        return jnp.int32(0)

    @property
    def optimiser(self) -> optax.GradientTransformation:
        """Optax's own Adam."""
        # A plain number, where it is one, keeps the schedule's counter out of the state.
        rate = self.rate if isinstance(self.schedule, Constant) else self.schedule.rate(self.rate, self.steps)
        return optax.adam(rate)
