"""F and its slopes at points, compiled once for a fixed number of them, in real components."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..problem import Problem

_CHUNK = 4096


class Pointwise:
    """F(D, t, x), which is uₜ or uₜₜ, with all arguments D as real arrays: derivative × component × point.

    The `open` parameters of the problem are further rows of the coordinates.
    """

    def __init__(self, problem: Problem, open: Sequence[str] = ()):
        self.problem, self.open = problem, tuple(open)
        self.count = len(problem.components)
        self.orders = problem.derivatives

    def __call__(self, values: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """F, components × points, at `coordinates`, axes × points."""
        return self._chunked(self._compiled, values, coordinates, (self.count,))

    def slopes(self, values: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """∂F/∂D: derivative × component of D × component of F × point."""
        shape = (len(self.orders), self.count, self.count)
        return self._chunked(self._compiled_slopes, values, coordinates, shape)

    def _chunked(
        self, function: Any, values: np.ndarray, at: np.ndarray, shape: tuple[int, ...]
    ) -> np.ndarray:
        total = values.shape[-1]
        result = np.empty((*shape, total))
        for first in range(0, total, _CHUNK):
            part = slice(first, min(first + _CHUNK, total))
            size = part.stop - first
            v, c = values[..., part], at[..., part]
            if size < _CHUNK:
                v = np.concatenate([v, np.repeat(v[..., -1:], _CHUNK - size, -1)], -1)
                c = np.concatenate([c, np.repeat(c[..., -1:], _CHUNK - size, -1)], -1)
            result[..., part] = np.asarray(function(v, c))[..., :size]
        return result

    def _evaluate(self, values: Array, coordinates: Array, parameters: Any = None) -> Array:
        problem = self.problem
        fields = {
            index: problem.to_fields(jnp.moveaxis(values[number], 0, -1))
            for number, index in enumerate(self.orders)
        }
        at, rows = list(coordinates[: len(problem.axes)]), coordinates[len(problem.axes) :]
        if self.open:
            parameters = {**problem.parameters, **dict(zip(self.open, rows, strict=True))}
        rates = problem.evaluate_rhs(lambda n, index: fields[index][n], at, parameters)
        shape = coordinates[0].shape
        rates = [jnp.broadcast_to(jnp.asarray(r) + 0.0, shape) for r in rates]
        return jnp.moveaxis(problem.to_components(rates), -1, 0)

    @cached_property
    def _compiled(self) -> Any:
        return jax.jit(self._evaluate)

    @cached_property
    def _compiled_slopes(self) -> Any:
        def run(values: Array, coordinates: Array) -> Array:
            columns = []
            for number in range(len(self.orders)):
                for component in range(self.count):
                    direction = jnp.zeros_like(values).at[number, component].set(1.0)
                    along = jax.jvp(lambda v: self._evaluate(v, coordinates), (values,), (direction,))[1]
                    columns.append(along)
            shape = (len(self.orders), self.count, self.count, values.shape[-1])
            return jnp.stack(columns).reshape(shape)

        return jax.jit(run)


class PointwiseAt:
    """A `Pointwise` with its open parameters at given values."""

    def __init__(self, shared: Pointwise, values: Sequence[float]):
        self.shared, self.values, self.orders = shared, np.asarray(values, float), shared.orders

    def __call__(self, values: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """F at coordinates."""
        return self.shared(values, self._with(coordinates))

    def slopes(self, values: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """∂F/∂D at coordinates."""
        return self.shared.slopes(values, self._with(coordinates))

    def _with(self, coordinates: np.ndarray) -> np.ndarray:
        own = np.broadcast_to(self.values[:, None], (len(self.values), coordinates.shape[1]))
        return np.concatenate([coordinates, own])
