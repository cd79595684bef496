"""F and its slopes at points, compiled once for a fixed number of them, in real components."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..problem import Problem

_CHUNK = 4096


class Pointwise:
    """F(D, t, x), which is uₜ or uₜₜ, with all arguments D as real arrays: derivative × component × point."""

    def __init__(self, problem: Problem):
        self.problem = problem
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
        rates = problem.evaluate_rhs(lambda n, index: fields[index][n], list(coordinates), parameters)
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
