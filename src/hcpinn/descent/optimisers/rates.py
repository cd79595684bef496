"""Learning rates that change during training."""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from typing import Any

import optax

from ...errors import MethodError


class Schedule(abc.ABC):
    """How a learning rate develops from its first value."""

    @abc.abstractmethod
    def rate(self, first: float, steps: int) -> Any:
        """The rate as a function of the step, for a stage of so many steps."""


@dataclass(frozen=True)
class Constant(Schedule):
    """The same rate throughout."""

    def rate(self, first: float, steps: int) -> Any:
        return optax.constant_schedule(first)


@dataclass(frozen=True)
class Exponential(Schedule):
    """The rate shrinks by `factor` over each `every` steps, smoothly."""

    factor: float = 0.9
    every: int = 5000

    def __post_init__(self) -> None:
        if not (0 < self.factor <= 1 and isinstance(self.every, int) and self.every >= 1):
            raise MethodError(
                f"An exponential schedule needs a factor between 0 and 1 and a whole number of steps, not "
                f"{self.factor!r} and {self.every!r}."
            )

    def rate(self, first: float, steps: int) -> Any:
        return optax.exponential_decay(first, self.every, self.factor)


@dataclass(frozen=True)
class Cosine(Schedule):
    """After `warmup` steps of linear growth, half a cosine down to `final` times the first rate."""

    final: float = 0.0
    warmup: int = 0

    def __post_init__(self) -> None:
        if not (0 <= self.final <= 1 and math.isfinite(self.final)):
            raise MethodError(
                f"A cosine schedule ends at a share of its rate from 0 to 1, not {self.final!r}."
            )
        if not (isinstance(self.warmup, int) and self.warmup >= 0):
            raise MethodError(f"warmup must be a whole number of steps, but is {self.warmup!r}.")

    def rate(self, first: float, steps: int) -> Any:
        if self.warmup >= steps:
            raise MethodError(f"A warm-up of {self.warmup:,} steps leaves none of the stage's {steps:,}.")
        down = optax.cosine_decay_schedule(first, steps - self.warmup, self.final)
        if not self.warmup:
            return down
        up = optax.linear_schedule(first / self.warmup, first, self.warmup)
        return optax.join_schedules([up, down], [self.warmup])
