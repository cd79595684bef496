"""The weak form of a declared equation: ∫ F v = ∫ (S v − q · ∇v) + ∮ (q · n) v.

F = A : ∇∇u + f is linear in second derivatives, with A depending on t, x and u: then q = A ∇u and
S = f − (div A) · ∇u. At a wall with α u + β ∂u/∂n = g the normal slope in q · n is the prescribed one.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..errors import NoReferenceError
from ..problem import Condition, Index, Problem

_CHUNK = 4096


class WeakForm:
    """S, q and their slopes at points, compiled for a fixed number of them.

    Values are arrays level × component × (u, uₓ, …) × point, levels being u and, for the second order in
    time, uₜ.
    """

    def __init__(self, problem: Problem):
        self.problem, self.axes = problem, len(problem.space)
        self.count, self.levels = len(problem.components), problem.order
        self.second = [i for i in problem.derivatives if i[0] == 0 and sum(i[1:]) == 2]
        high = [i for i in problem.derivatives if sum(i[1:]) > 2 or (i[0] and sum(i[1:]) > 1)]
        if high:
            raise NoReferenceError(
                f"{problem.name} has derivatives of an order that finite elements do not cover here. "
                "Write it as a system of second order, or rely on the estimate."
            )
        self._refuse_nonlinear()

    def _rates(self, values: Array, bends: Array, coordinates: Sequence[Array]) -> Array:
        """F in components, from values and second derivatives (index × component × point)."""
        problem = self.problem

        def known(index: Index) -> list[Array]:
            if index in self.second:
                parts = bends[self.second.index(index)]
            else:
                which = 0 if not any(index[1:]) else 1 + index[1:].index(1)
                parts = values[index[0], :, which]
            return problem.to_fields(jnp.moveaxis(parts, 0, -1))

        jets = {index: known(index) for index in problem.derivatives}
        rates = problem.evaluate_rhs(lambda n, index: jets[index][n], list(coordinates))
        shape = coordinates[0].shape
        rates = [jnp.broadcast_to(jnp.asarray(r) + 0.0, shape) for r in rates]
        return jnp.moveaxis(problem.to_components(rates), -1, 0)

    def _tensor(self, values: Array, coordinates: Sequence[Array]) -> Array:
        """A: target × component × axes × axes × point."""
        nothing = jnp.zeros((len(self.second), self.count, coordinates[0].shape[0]))
        shape = self.count, self.count, self.axes, self.axes, coordinates[0].shape[0]
        result = jnp.zeros(shape)
        for number, index in enumerate(self.second):
            for source in range(self.count):
                way = nothing.at[number, source].set(1.0)
                slope = jax.jvp(lambda b: self._rates(values, b, coordinates), (nothing,), (way,))[1]
                first, second = (axis for axis, times in enumerate(index[1:]) for _ in range(times))
                result = result.at[:, source, first, second].add(slope / 2)
                result = result.at[:, source, second, first].add(slope / 2)
        return result

    def _inside(self, values: Array, coordinates: Array) -> Array:
        """(S, q₁, …) for each component: component × (1 + axes) × point."""
        at = list(coordinates)
        nothing = jnp.zeros((len(self.second), self.count, at[0].shape[0]))
        source = self._rates(values, nothing, at)
        if not self.second:
            return jnp.stack([source, *[0 * source] * self.axes], axis=1)
        tensor = self._tensor(values, at)
        gradient = values[0, :, 1:]
        flux = jnp.einsum("abijp,bip->ajp", tensor, gradient)
        for axis in range(self.axes):
            along = jnp.zeros_like(coordinates).at[1 + axis].set(1.0)
            moving = jnp.zeros_like(values).at[:, :, 0].set(values[:, :, 1 + axis])
            change = jax.jvp(lambda v, c: self._tensor(v, list(c)), (values, coordinates), (moving, along))[1]
            source = source - jnp.einsum("abip,bip->ap", change[:, :, :, axis], gradient)
        return jnp.concatenate([source[:, None], flux], axis=1)

    def _at_wall(self, values: Array, coordinates: Array, normals: Array, slopes: Array) -> Array:
        """q · n with given normal slopes, component × point."""
        if not self.second:
            return jnp.zeros((self.count, coordinates.shape[1]))
        tensor = self._tensor(values, list(coordinates))
        across = jnp.einsum("bip,ip->bp", values[0, :, 1:], normals)
        gradient = values[0, :, 1:] + (slopes - across)[:, None] * normals
        return jnp.einsum("abijp,bip,jp->ap", tensor, gradient, normals)

    def at_wall(
        self,
        conditions: Sequence[Condition | None],
        values: np.ndarray,
        coordinates: np.ndarray,
        normals: np.ndarray,
        data: np.ndarray,
    ) -> np.ndarray:
        """q · n, component × point, where α u + β ∂u/∂n = g for the components with a condition.

        The slope of the others is their own.
        """
        slopes = np.einsum("bip,ip->bp", values[0, :, 1:], normals)
        for component, condition in enumerate(conditions):
            if condition is not None:
                a, b = condition.factors
                slopes[component] = (data[component] - a * values[0, component, 0]) / b
        return self._chunked(self._compiled_wall, values, coordinates, normals, slopes, size=512)

    @cached_property
    def _compiled_wall(self) -> Any:
        return jax.jit(self._at_wall)

    def inside(self, values: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """(S, q) at points."""
        return self._chunked(self._compiled, values, coordinates)

    def slopes(self, values: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """∂(S, q)/∂values: (level × component × (1 + axes)) × component × (1 + axes) × point."""
        return self._chunked(self._compiled_slopes, values, coordinates)

    @cached_property
    def _compiled(self) -> Any:
        return jax.jit(self._inside)

    @cached_property
    def _compiled_slopes(self) -> Any:
        def run(values: Array, coordinates: Array) -> Array:
            found = []
            for which in itertools.product(range(self.levels), range(self.count), range(1 + self.axes)):
                way = jnp.zeros_like(values).at[which].set(1.0)
                found.append(jax.jvp(lambda v: self._inside(v, coordinates), (values,), (way,))[1])
            return jnp.stack(found)

        return jax.jit(run)

    @staticmethod
    def _chunked(function: Any, *arrays: np.ndarray, size: int = _CHUNK) -> np.ndarray:
        """A compiled function of arrays whose last axis are points, for any number of them."""
        parts, total = [], arrays[0].shape[-1]
        for first in range(0, total, size):
            some = [a[..., first : first + size] for a in arrays]
            own = some[0].shape[-1]
            some = [np.concatenate([a, np.repeat(a[..., -1:], size - own, -1)], -1) for a in some]
            parts.append(np.asarray(function(*some))[..., :own])
        return np.concatenate(parts, axis=-1)

    def _refuse_nonlinear(self) -> None:
        """F must be linear in second derivatives, with factors that do not depend on slopes."""
        rng = np.random.default_rng(0)
        count = 16
        values = jnp.asarray(rng.uniform(0.2, 1.0, (self.levels, self.count, 1 + self.axes, count)))
        points = self.problem.domain.inside(rng.random((count, self.axes)))
        at = [jnp.full(count, self.problem.start + 0.3 * self.problem.duration), *jnp.asarray(points).T]
        bends = jnp.asarray(rng.uniform(0.2, 1.0, (len(self.second), self.count, count)))
        first, third = self._rates(values, 0 * bends, at), self._rates(values, 2 * bends, at)
        middle = self._rates(values, bends, at)
        straight = jnp.allclose(first + third, 2 * middle, rtol=1e-9, atol=1e-9)
        other = values.at[:, :, 1:].multiply(1.7)
        same = jnp.allclose(self._tensor(values, at), self._tensor(other, at), rtol=1e-9, atol=1e-9)
        if not (straight and same):
            raise NoReferenceError(
                f"{self.problem.name} is not linear in its second derivatives, or their factors "
                "depend on slopes, so that finite elements do not cover it here. Only the engine's own "
                "estimate speaks for the solution."
            )
