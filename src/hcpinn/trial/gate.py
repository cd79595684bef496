"""Gates φ(t, x): factors that switch the network off where data are prescribed."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from ..errors import MethodError
from ..problem import Problem
from ..problem.calling import evaluate_data
from .function import Function, columns
from .pieces import holding
from .walls import Held


class Gate(abc.ABC):
    """A choice of gate; `bind` turns it into a function for one problem."""

    @abc.abstractmethod
    def bind(self, problem: Problem, walls: Held | None = None) -> Function:
        """φ as a function of coordinates: one column, or one for each output of the network.

        `walls` says which conditions at walls it holds; by default those that need nothing of the network.
        """


@dataclass(frozen=True)
class LinearGate(Gate):
    """φ = (t − t₀)/(T − t₀), times 4 (x − a)(b − x)/(b − a)² for each axis with Dirichlet data at both ends.

    For an equation of second order in time, whose initial velocity holds too, the first factor is squared.
    Other conditions at walls have other factors, see `Walls`.
    """

    def bind(self, problem: Problem, walls: Held | None = None) -> Function:
        edges = _edges(problem, walls)

        def gate(coordinates: Array) -> Array:
            share = ((coordinates[:, 0] - problem.start) / problem.duration) ** problem.order
            return share[:, None] * edges(coordinates)

        return gate


@dataclass(frozen=True)
class ExponentialGate(Gate):
    """φ = (1 − e^{−C(t − t₀)}) / (1 − e^{−C(T − t₀)}), with `LinearGate`'s edges: steep, then flat.

    It is squared for an equation of second order in time.
    """

    rate: float = 1.0
    """C."""

    def __post_init__(self) -> None:
        if not (isinstance(self.rate, int | float) and math.isfinite(self.rate) and self.rate > 0):
            raise MethodError(f"The rate of a gate must be positive, but is {self.rate!r}.")

    def bind(self, problem: Problem, walls: Held | None = None) -> Function:
        full, edges = -math.expm1(-self.rate * problem.duration), _edges(problem, walls)

        def gate(coordinates: Array) -> Array:
            share = (-jnp.expm1(-self.rate * (coordinates[:, 0] - problem.start)) / full) ** problem.order
            return share[:, None] * edges(coordinates)

        return gate


@dataclass(frozen=True)
class NoGate(Gate):
    """φ = 1: with `NoLift`, the trial function is the plain network."""

    def bind(self, problem: Problem, walls: Held | None = None) -> Function:
        return lambda coordinates: jnp.ones_like(coordinates[:, :1])


@dataclass(frozen=True)
class CustomGate(Gate):
    """A custom gate: a function of `t` and `x`, one value for all fields."""

    function: Callable[..., Any]
    """Of `t` and `x`, …, such as `lambda t, x: t * (1 - x**2)`."""

    def bind(self, problem: Problem, walls: Held | None = None) -> Function:
        def gate(coordinates: Array) -> Array:
            named = dict(zip(problem.axes, columns(problem, coordinates), strict=True))
            values = evaluate_data(self.function, "gate", named, problem.parameters, problem.space)
            if len(values) != 1:
                raise MethodError(f"The gate gives {len(values)} values; it must give one for all fields.")
            return values[0][:, None]

        return gate


def _edges(problem: Problem, walls: Held | None) -> Callable[[Array], Array]:
    """The factors that hold conditions at walls, as a function of coordinates."""
    return (holding(problem) if walls is None else walls).factors
