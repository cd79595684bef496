"""A problem whose parameters are functions of a vector θ: F, its lift, and their slopes, compiled once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ...problem import Index, Problem
from ...trial import jet_of
from ...trial.edges import join_edges
from ...trial.function import columns
from ..lift import _chunked, depends, swung, walled
from ..motion import fading
from ..pointwise import Pointwise

Named = Callable[[Any], Mapping[str, Any]]
"""The vector θ as the values of the problem's parameters, traceable."""


class OpenPointwise(Pointwise):
    """F at points, compiled once for all values of θ."""

    def __init__(self, problem: Problem, named: Named):
        super().__init__(problem)
        self.named = named
        self.theta = np.zeros(0)

    def __call__(self, values: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        function = partial(self._open, self.theta)
        return self._chunked(function, values, coordinates, (self.count,))

    def slopes(self, values: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        shape = (len(self.orders), self.count, self.count)
        return self._chunked(partial(self._open_slopes, self.theta), values, coordinates, shape)

    def by_theta(self, values: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """∂F/∂θ: parameter × component × point."""
        shape = (len(self.theta), self.count)
        return self._chunked(partial(self._open_theta, self.theta), values, coordinates, shape)

    def _at(self, theta: Array, values: Array, coordinates: Array) -> Array:
        return self._evaluate(values, coordinates, {**self.problem.parameters, **self.named(theta)})

    @cached_property
    def _open(self) -> Any:
        return jax.jit(self._at)

    @cached_property
    def _open_slopes(self) -> Any:
        def run(theta: Array, values: Array, coordinates: Array) -> Array:
            flat = (-1, values.shape[-1])

            def along(row: Array) -> Array:
                direction = jnp.broadcast_to(row[:, None], (row.size, values.shape[-1])).reshape(values.shape)
                return jax.jvp(lambda v: self._at(theta, v, coordinates), (values,), (direction,))[1]

            size = len(self.orders) * self.count
            found = jax.lax.map(along, jnp.eye(size))
            return found.reshape(len(self.orders), self.count, self.count, *flat[1:])

        return jax.jit(run)

    @cached_property
    def _open_theta(self) -> Any:
        def run(theta: Array, values: Array, coordinates: Array) -> Array:
            return jnp.moveaxis(jax.jacfwd(lambda th: self._at(th, values, coordinates))(theta), -1, 0)

        return jax.jit(run)


def with_values(problem: Problem, values: Mapping[str, Any]) -> Problem:
    """The same problem with other values of parameters, which may be traced; nothing is checked again."""
    other = copy.copy(problem)
    object.__setattr__(other, "parameters", {**problem.parameters, **values})
    return other


class Shift:
    """w(θ), the lift without waves: what initial and boundary data do with θ, and its slopes."""

    def __init__(self, problem: Problem, named: Named, indices: Sequence[Index], theta: np.ndarray):
        self.problem, self.named, self.indices = problem, named, tuple(indices)
        self.rate = fading(problem) if problem.order == 2 else 0.0
        self.moves = self._depends(theta)
        """Whether the data depend on θ at all."""

    def _lift(self, theta: Array, points: Array) -> Array:
        problem = with_values(self.problem, self.named(theta))
        found = jet_of(_data_lift(problem, self.rate), points, self.indices)
        return jnp.stack([found[i] for i in self.indices])

    def _depends(self, theta: np.ndarray) -> bool:
        inside = self.problem.domain.inside(np.full((1, self.problem.domain.dimension), 0.3))
        points = jnp.asarray(np.column_stack([[self.problem.start], inside]))
        return depends(lambda th: self._lift(th, points), jnp.asarray(theta))

    def values(self, theta: np.ndarray, base: np.ndarray, points: np.ndarray) -> np.ndarray:
        """w(θ) − w(θ₀) at points: index × point × component."""
        return _chunked(partial(self._compiled, jnp.asarray(theta), jnp.asarray(base)), points)

    def slopes(self, theta: np.ndarray, points: np.ndarray) -> np.ndarray:
        """∂w/∂θ at points: index × point × component × parameter."""
        return _chunked(partial(self._compiled_slopes, jnp.asarray(theta)), points)

    def over(self, theta: np.ndarray, base: np.ndarray, space: np.ndarray, times: np.ndarray) -> np.ndarray:
        """w(θ) − w(θ₀) at all places and times: index × component × place × time."""
        found = self.values(theta, base, _rows(space, times))
        return np.moveaxis(found.reshape(len(found), len(space), len(times), -1), 3, 1)

    def slopes_over(self, theta: np.ndarray, space: np.ndarray, times: np.ndarray) -> np.ndarray:
        """∂w/∂θ at all places and times: index × component × place × time × parameter."""
        found = self.slopes(theta, _rows(space, times))
        return np.moveaxis(found.reshape(len(found), len(space), len(times), *found.shape[2:]), 3, 1)

    @cached_property
    def _compiled(self) -> Any:
        return jax.jit(lambda theta, base, points: self._lift(theta, points) - self._lift(base, points))

    @cached_property
    def _compiled_slopes(self) -> Any:
        return jax.jit(lambda theta, points: jax.jacfwd(self._lift)(theta, points))


def _rows(space: np.ndarray, times: np.ndarray) -> np.ndarray:
    """All places at all times, the times of each place together."""
    return np.column_stack([np.tile(times, len(space)), np.repeat(space, len(times), axis=0)])


def _data_lift(problem: Problem, rate: float) -> Callable[[Array], Array]:
    """The initial data joined with those at the walls, without layers: those of θ₀ stay in ψ(θ₀)."""
    if problem.pieces:
        return walled(problem, problem.parameters, rate)

    def start(t: Array, space: list[Array]) -> Array:
        value = problem.to_components(problem.initial_values(space))
        since = (t - problem.start)[:, None]
        return swung(rate, since, value, lambda: problem.to_components(problem.initial_velocities(space)))

    held = {(side.part, c) for side in problem.sides for c in range(len(problem.components))}
    joined = join_edges(problem, held, problem.parameters, start)

    def lift(points: Array) -> Array:
        t, *space = columns(problem, points)
        return joined(t, space)

    return lift


class Opened:
    """A problem whose parameters are functions of a vector θ, and all that is compiled for it once."""

    def __init__(self, problem: Problem, named: Named, theta: np.ndarray):
        """`problem` is closed at some θ; `named` makes parameters of any."""
        self.problem, self.named, self.theta = problem, named, np.asarray(theta, float)
        self.pointwise = OpenPointwise(problem, named)
        self._shifts: dict[tuple[Index, ...], Shift] = {}

    def shift(self, indices: Sequence[Index]) -> Shift:
        """w with its derivatives."""
        key = tuple(indices)
        if key not in self._shifts:
            self._shifts[key] = Shift(self.problem, self.named, key, self.theta)
        return self._shifts[key]

    @cached_property
    def gap_slopes(self) -> Any:
        """∂u₀/∂θ, and ∂v₀/∂θ behind it, at rows (x, …): level × point × component × parameter."""

        def run(theta: Array, space: Array) -> Array:
            problem = with_values(self.problem, self.named(theta))
            found = [problem.to_components(problem.initial_values(list(space.T)))]
            if problem.order == 2:
                found.append(problem.to_components(problem.initial_velocities(list(space.T))))
            return jnp.stack(found)

        return jax.jit(jax.jacfwd(run))
