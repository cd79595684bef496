"""Unknown numbers to find from measurements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import ProblemError
from .parameters import Open


@dataclass(frozen=True)
class Unknown(Open):
    """A number to find from measurements, wherever it enters: equation, initial, boundary data or source.

    Args:
        guess: where the search starts; also its typical size.
        low, high: bounds; without them it is sought up to 100 times the guess away.
        log: whether it is positive and counted in powers, as diffusivities and rates are. By default where
            `low` is positive.
    """

    guess: float
    low: float | None = None
    high: float | None = None
    log: bool | None = None

    def __post_init__(self) -> None:
        for name in ("guess", "low", "high"):
            value = getattr(self, name)
            if value is None and name != "guess":
                continue
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise ProblemError(f"Unknown takes numbers, but {name} is {value!r}.")
            if not math.isfinite(value):
                raise ProblemError(
                    f"{name} of an Unknown is {value}. Give a finite number, or leave a bound out."
                )
            object.__setattr__(self, name, float(value))
        low, high = self.bounds
        if not low <= self.guess <= high or low == high:
            raise ProblemError(
                f"The guess {self.guess:g} of an Unknown must lie between {low:g} and {high:g}."
            )
        if self.log is None:
            object.__setattr__(self, "log", low > 0)
        if self.log and (self.guess <= 0 or (self.low is not None and self.low < 0)):
            raise ProblemError(
                f"An Unknown with log=True is positive, but its guess is {self.guess:g} and its lower bound "
                f"{low:g}. Leave log out, or give positive numbers."
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper bound, infinite where there is none."""
        return (
            -math.inf if self.low is None else self.low,
            math.inf if self.high is None else self.high,
        )

    @property
    def nominal(self) -> float:
        return self.guess

    @property
    def extremes(self) -> tuple[float, ...]:
        return tuple(v for v in (self.low, self.guess, self.high) if v is not None)

    @property
    def unit(self) -> float:
        """What z counts in where the unknown does not count in powers."""
        if self.guess:
            return abs(self.guess)
        low, high = self.bounds
        return (high - low) / 2 if math.isfinite(high - low) else 1.0

    def to_z(self, value: float) -> float:
        """log θ, or θ in units of its typical size."""
        if not self.log:
            return value / self.unit
        return math.log(value) if value > 0 else -math.inf

    def from_z(self, z: Any) -> Any:
        """θ, traceable."""
        if not self.log:
            return z * self.unit
        return jnp.exp(z) if not isinstance(z, float | np.ndarray) else np.exp(z)

    def slope(self, z: float) -> float:
        """∂θ/∂z."""
        return math.exp(z) if self.log else self.unit
