"""Unknowns to find from measurements, and the vector z that stands for all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import ProblemError
from ..problem import Open, Problem


@dataclass(frozen=True)
class Unknown(Open):
    """A number to find from measurements, wherever it enters: equation, initial, boundary data or source.

    Args:
        guess: where the search starts; also its typical size.
        low, high: bounds, if there are any.
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


class Layout:
    """Which entries of z belong to which unknown."""

    def __init__(self, problem: Problem):
        """`problem` has unknowns among its parameters, and nothing else that is open."""
        self.unknowns: dict[str, Unknown] = {}
        for name, value in problem.open.items():
            if not isinstance(value, Unknown):
                raise ProblemError(
                    f"The parameter '{name}' of {problem.name} is {value}, which measurements do not find. "
                    "Write Unknown(guess), or close it with problem.with_parameters(…)."
                )
            if name == "horizon":
                raise ProblemError("The horizon is no unknown: end the problem after the last measurement.")
            self.unknowns[name] = value
        if not self.unknowns:
            raise ProblemError(
                f"{problem.name} has no unknowns. Declare one: parameters={{'k': hcpinn.Unknown(1.0)}}."
            )
        self.names = tuple(self.unknowns)
        self.size = len(self.names)
        each = self.unknowns.values()
        self.start = np.array([u.to_z(u.guess) for u in each])
        self.lower = np.array([u.to_z(u.bounds[0]) for u in each])
        self.upper = np.array([u.to_z(u.bounds[1]) for u in each])

    def values(self, z: Any) -> Mapping[str, Any]:
        """The parameters that z stands for, traceable."""
        return {name: unknown.from_z(z[i]) for i, (name, unknown) in enumerate(self.unknowns.items())}

    def closed(self, problem: Problem, z: np.ndarray) -> Problem:
        """The problem with the parameters that z stands for."""
        return problem.with_parameters(**{name: float(v) for name, v in self.values(np.asarray(z)).items()})

    def drawn(self, rng: np.random.Generator) -> np.ndarray:
        """Another place to start from: anywhere between bounds, else within a few times the guess."""
        found = self.start + np.where(self.logs, 1.0, 0.5) * rng.standard_normal(self.size)
        bounded = np.isfinite(self.lower) & np.isfinite(self.upper)
        low, high = np.where(bounded, self.lower, 0.0), np.where(bounded, self.upper, 1.0)
        inside = low + (high - low) * rng.uniform(0.05, 0.95, self.size)
        return np.clip(np.where(bounded, inside, found), self.lower, self.upper)

    def prior(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals that are asked to be small beside those of the data, and their slopes."""
        return np.zeros(0), np.zeros((0, self.size))

    @property
    def logs(self) -> np.ndarray:
        """Which entries count in powers."""
        return np.array([bool(u.log) for u in self.unknowns.values()])
