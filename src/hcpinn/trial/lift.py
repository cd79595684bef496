"""Lifts ψ(t, x): functions that carry the initial and Dirichlet data exactly."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..errors import MethodError
from ..problem import Problem
from ..problem.calling import evaluate_data
from .function import Function, columns


class Lift(abc.ABC):
    """A choice of lift; `bind` turns it into a function for one problem."""

    @abc.abstractmethod
    def bind(self, problem: Problem, parameters: Mapping[str, Any]) -> Function:
        """ψ as a function of coordinates, with one column per real component."""


@dataclass(frozen=True)
class Decay(Lift):
    """Data that fade into the boundary's: ψ = G(t, x) + e^{−C(t−t₀)} (u₀(x) − G(t₀, x)).

    G carries the Dirichlet data, joined by straight lines between opposite faces, and is zero
    for periodic problems, which leaves ψ = e^{−Ct} u₀(x). On an interval with g constant and
    equal at both ends this is ψ = u₀ e^{−Ct} + g (1 − e^{−Ct}).

    For an equation of second order in time, with v₀ the initial velocity and s = t − t₀, it is
    ψ = G + e^{−Cs} ((1 + C s) (u₀ − G(t₀, ·)) + s (v₀ − Gₜ(t₀, ·))), which for C > 0 stays bounded.
    """

    rate: float = 1.0
    """C, the rate of decay."""

    def __post_init__(self) -> None:
        if not (isinstance(self.rate, int | float) and math.isfinite(self.rate) and self.rate >= 0):
            raise MethodError(f"The decay rate of a lift must be zero or positive, but is {self.rate!r}.")

    def bind(self, problem: Problem, parameters: Mapping[str, Any]) -> Function:
        axes = problem.prescribed_axes

        def lift(coordinates: Array) -> Array:
            t, *space = columns(problem, coordinates)
            start = problem.to_components(problem.initial_values(space, parameters))
            since = (t - problem.start)[:, None]
            decay = jnp.exp(-self.rate * since)
            if problem.order == 1 and not axes:
                return decay * start
            edges = join_edges(problem, axes, parameters)
            begin = jnp.full_like(t, problem.start)
            if problem.order == 1:
                return edges(t, space) + decay * (start - edges(begin, space))
            first, moving = jax.jvp(lambda s: edges(s, space), (begin,), (jnp.ones_like(begin),))
            velocity = problem.to_components(problem.initial_velocities(space, parameters)) - moving
            swing = (1 + self.rate * since) * (start - first) + since * velocity
            return edges(t, space) + decay * swing

        return lift


def join_edges(
    problem: Problem, axes: Sequence[int], parameters: Mapping[str, Any]
) -> Callable[[Array, list[Array]], Array]:
    """G(t, x): equal to the Dirichlet data on the faces of `axes` (transfinite interpolation).

    The last axis adds, on straight lines between its faces, what is still missing there. On
    the faces of the axes before it nothing is missing, since data agree where faces meet.
    """
    if not axes:
        return lambda t, space: jnp.zeros((len(t), len(problem.components)), t.dtype)
    *others, axis = axes
    before = join_edges(problem, others, parameters)
    (low, high), at = problem.domain.bounds[axis], axis
    sides, fields = problem.boundaries[axis].sides, problem.component_fields

    def edges(t: Array, space: list[Array]) -> Array:
        across = [x for i, x in enumerate(space) if i != at]
        share = ((space[at] - low) / (high - low))[:, None]
        total = before(t, space)
        for weight, edge, side in zip((1.0 - share, share), (low, high), sides, strict=True):
            on_face = [jnp.full_like(t, edge) if i == at else x for i, x in enumerate(space)]
            data = problem.boundary_components(side, t, across, parameters=parameters)
            values = jnp.stack(
                [
                    own[0] / side.conditions[field][0].factors[0]
                    for own, field in zip(data, fields, strict=True)
                ],
                axis=-1,
            )
            total = total + weight * (values - before(t, on_face))
        return total

    return edges


@dataclass(frozen=True)
class NoLift(Lift):
    """ψ = 0: with `NoGate`, initial and boundary data are left to penalties."""

    def bind(self, problem: Problem, parameters: Mapping[str, Any]) -> Function:
        return lambda coordinates: jnp.zeros((len(coordinates), len(problem.components)), coordinates.dtype)


@dataclass(frozen=True)
class CustomLift(Lift):
    """A lift of your own: a function of `t`, `x` and named parameters, one value per field."""

    function: Callable[..., Any]

    def bind(self, problem: Problem, parameters: Mapping[str, Any]) -> Function:
        def lift(coordinates: Array) -> Array:
            named = dict(zip(problem.axes, columns(problem, coordinates), strict=True))
            values = evaluate_data(self.function, "lift", named, parameters, problem.space)
            if len(values) != len(problem.fields):
                raise MethodError(
                    f"The lift gives {len(values)} value(s) for {len(problem.fields)} field(s)."
                )
            return problem.to_components(values)

        return lift
