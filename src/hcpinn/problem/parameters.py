"""Open parameters: those without one value yet, such as a range to solve for or an unknown to find."""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ProblemError

if TYPE_CHECKING:
    from .declaration import Problem


class Open(abc.ABC):
    """A parameter without a value of its own yet.

    A problem with open parameters is checked with their nominal values, and becomes an ordinary problem with
    `problem.with_parameters(name=3.3)`.
    """

    @property
    @abc.abstractmethod
    def nominal(self) -> float:
        """A typical value, by which a declaration is checked."""

    @property
    @abc.abstractmethod
    def extremes(self) -> tuple[float, ...]:
        """The values that must lie within the problem's `ranges`, such as the ends of an interval."""


@dataclass(frozen=True)
class Between(Open):
    """Every value from `low` to `high`: solved for all at once, as a family.

    With `log=True` the range counts in powers, as from 1e-3 to 1e-1, where the solution changes as much from
    1e-3 to 1e-2 as from 1e-2 to 1e-1.
    """

    low: float
    """The smallest value."""
    high: float
    """The largest value."""
    log: bool = False
    """Whether the range counts in powers."""

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            if isinstance(value, bool) or not (isinstance(value, int | float | np.number)):
                raise ProblemError(f"Between(low, high) takes two numbers, but {name} is {value!r}.")
            object.__setattr__(self, name, float(value))
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ProblemError(
                f"A range goes from a finite number to a larger one, but is {self.low:g} to {self.high:g}."
            )
        if self.log and self.low <= 0:
            raise ProblemError(
                f"A range with log=True holds positive numbers, but starts at {self.low:g}. Leave log out."
            )

    @property
    def nominal(self) -> float:
        """The middle, of the powers where they count."""
        return float(self.at(0.5))

    @property
    def extremes(self) -> tuple[float, ...]:
        return self.low, self.high

    def at(self, share: Any) -> Any:
        """The value at a share of the way, 0 to 1."""
        if not self.log:
            return self.low + (self.high - self.low) * share
        value = self.low * (self.high / self.low) ** share
        return np.clip(value, self.low, self.high) if isinstance(value, float | np.ndarray) else value


def find_open(parameters: Mapping[str, Any], horizon: Any, name: str) -> dict[str, Open]:
    """The open ones among all parameters, in order; `name` is what the horizon is called."""
    found = {key: value for key, value in parameters.items() if isinstance(value, Open)}
    if isinstance(horizon, Open):
        found[name] = horizon
    return found


def check_ranges(problem: Problem) -> None:
    """Refuse open parameters that may leave the sensible range of their problem."""
    for name, value in problem.open.items():
        low, high = problem.ranges.get(name, (-math.inf, math.inf))
        outside = [v for v in value.extremes if not low <= v <= high]
        if outside:
            raise ProblemError(
                f"The parameter '{name}' of {problem.name} lies between {low:g} and {high:g}, but may be "
                f"{outside[0]:g}."
            )


def ranges_of(problem: Problem) -> dict[str, Between]:
    """The parameters of a problem that a family is solved over."""
    return {name: own for name, own in problem.open.items() if isinstance(own, Between)}


def refuse_open(problem: Problem, way_out: str) -> None:
    """Raise, with a sentence on what to do instead, where numbers are needed and a parameter is open."""
    for name, value in problem.open.items():
        raise ProblemError(f"The parameter '{name}' of {problem.name} is open: {value}. {way_out}")
