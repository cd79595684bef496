"""Lifts ψ(t, x): functions that carry the initial and Dirichlet data exactly."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from ..errors import MethodError
from ..problem import Dirichlet, Problem
from ..problem.calling import evaluate_data
from .part import Function, columns


class Lift(abc.ABC):
    """A choice of lift; `bind` turns it into a function for one problem."""

    @abc.abstractmethod
    def bind(self, problem: Problem, parameters: Mapping[str, Any]) -> Function:
        """ψ as a function of coordinates, with one column per real component."""


@dataclass(frozen=True)
class Decay(Lift):
    """Data that fade into the boundary's: ψ = G(t, x) + e^{−Ct} (u₀(x) − G(0, x)).

    G joins the Dirichlet data at the two ends by a straight line, and is zero for periodic
    problems, which leaves ψ = e^{−Ct} u₀(x). With g constant and equal at both ends this is
    ψ = u₀ e^{−Ct} + g (1 − e^{−Ct}).
    """

    rate: float = 1.0
    """C, the rate of decay."""

    def __post_init__(self) -> None:
        if not (isinstance(self.rate, int | float) and jnp.isfinite(self.rate) and self.rate >= 0):
            raise MethodError(f"The decay rate of a lift must be zero or positive, but is {self.rate!r}.")

    def bind(self, problem: Problem, parameters: Mapping[str, Any]) -> Function:
        def lift(coordinates: Array) -> Array:
            t, *x = columns(problem, coordinates)
            start = problem.to_components(problem.initial_values(x, parameters))
            decay = jnp.exp(-self.rate * t)[:, None]
            if not isinstance(problem.boundary, Dirichlet):
                return decay * start
            edge_now = _join(problem, t, x[0], parameters)
            edge_start = _join(problem, jnp.zeros_like(t), x[0], parameters)
            return edge_now + decay * (start - edge_start)

        return lift


def _join(problem: Problem, t: Array, x: Array, parameters: Mapping[str, Any]) -> Array:
    """G(t, x): the straight line between the Dirichlet data at the two ends."""
    lower, upper = problem.boundary_values(t, parameters)
    share = ((x - problem.domain.lower[0]) / problem.domain.lengths[0])[:, None]
    return (1.0 - share) * problem.to_components(lower) + share * problem.to_components(upper)


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
