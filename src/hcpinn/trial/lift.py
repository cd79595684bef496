"""Lifts ψ(t, x): functions that carry the initial and boundary data exactly."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..errors import MethodError
from ..problem import Problem
from ..problem.calling import evaluate_data
from .edges import join_edges
from .function import Function, columns
from .layers import layers_of, with_layers
from .pieces import holding, on_pieces
from .walls import Held


class Lift(abc.ABC):
    """A choice of lift; `bind` turns it into a function for one problem."""

    @abc.abstractmethod
    def bind(self, problem: Problem, parameters: Mapping[str, Any], walls: Held | None = None) -> Function:
        """ψ as a function of coordinates, with one column per real component.

        `walls` says which conditions at walls it carries data for; by default those that need nothing of the
        network.
        """


@dataclass(frozen=True)
class Decay(Lift):
    """Data that fade into the boundary's: ψ = G(t, x) + e^{−C(t−t₀)} (u₀(x) − G(t₀, x)).

    G carries the data at walls, joined by polynomials between opposite faces (straight lines for
    Dirichlet data), and is zero for periodic problems, which leaves ψ = e^{−Ct} u₀(x). On an interval with
    u = g constant and equal at both ends this is ψ = u₀ e^{−Ct} + g (1 − e^{−Ct}). On a curved domain G joins
    the values prescribed on its parts.

    For an equation of second order in time, with v₀ the initial velocity and s = t − t₀, it is
    ψ = G + e^{−Cs} ((1 + C s) (u₀ − G(t₀, ·)) + s (v₀ − Gₜ(t₀, ·))), which for C > 0 stays bounded.
    """

    rate: float = 1.0
    """C, the rate of decay."""

    def __post_init__(self) -> None:
        if not (isinstance(self.rate, int | float) and math.isfinite(self.rate) and self.rate >= 0):
            raise MethodError(f"The decay rate of a lift must be zero or positive, but is {self.rate!r}.")

    def bind(self, problem: Problem, parameters: Mapping[str, Any], walls: Held | None = None) -> Function:
        walls = holding(problem) if walls is None else walls
        if problem.pieces:
            return on_pieces(problem, partial(self._faded, problem.order), parameters)
        held = walls.held
        layered = any((layer.side.part, layer.component) in held for layer in layers_of(problem))

        def lift(coordinates: Array) -> Array:
            t, *space = columns(problem, coordinates)
            start = problem.to_components(problem.initial_values(space, parameters))
            since = (t - problem.start)[:, None]
            decay = jnp.exp(-self.rate * since)
            if problem.order == 1 and not walls.held:
                return decay * start
            edges = join_edges(problem, walls.held, parameters)
            if layered:
                spread = with_layers(problem, held, parameters, begun)
                whole = join_edges(problem, held, parameters, spread)
                return decay * whole(t, space) + (1 - decay) * edges(t, space)
            begin = jnp.full_like(t, problem.start)
            if problem.order == 1:
                return edges(t, space) + decay * (start - edges(begin, space))
            first, moving = jax.jvp(lambda s: edges(s, space), (begin,), (jnp.ones_like(begin),))
            velocity = problem.to_components(problem.initial_velocities(space, parameters)) - moving
            swing = (1 + self.rate * since) * (start - first) + since * velocity
            return edges(t, space) + decay * swing

        def begun(t: Array, space: list[Array]) -> Array:
            return problem.to_components(problem.initial_values(space, parameters))

        return lift

    def _faded(self, order: int, since: Array, value: Array, velocity: Callable[[], Array]) -> Array:
        """What the initial data do in time."""
        decay = jnp.exp(-self.rate * since)
        return decay * (value if order == 1 else (1 + self.rate * since) * value + since * velocity())


@dataclass(frozen=True)
class NoLift(Lift):
    """ψ = 0: with `NoGate`, initial and boundary data are left to penalties."""

    def bind(self, problem: Problem, parameters: Mapping[str, Any], walls: Held | None = None) -> Function:
        return lambda coordinates: jnp.zeros((len(coordinates), len(problem.components)), coordinates.dtype)


@dataclass(frozen=True)
class CustomLift(Lift):
    """A custom lift: a function of `t`, `x` and named parameters, one value per field."""

    function: Callable[..., Any]
    """Of `t`, `x`, … and named parameters; a tuple of values for a system."""

    def bind(self, problem: Problem, parameters: Mapping[str, Any], walls: Held | None = None) -> Function:
        def lift(coordinates: Array) -> Array:
            named = dict(zip(problem.axes, columns(problem, coordinates), strict=True))
            values = evaluate_data(self.function, "lift", named, parameters, problem.space)
            if len(values) != len(problem.fields):
                raise MethodError(
                    f"The lift gives {len(values)} value(s) for {len(problem.fields)} field(s)."
                )
            return problem.to_components(values)

        return lift
