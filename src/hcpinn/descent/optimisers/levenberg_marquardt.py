"""Levenberg–Marquardt: damped Gauss–Newton on the vector of mismatches.

A step δ minimises |ρ + J δ|² + μ |δ|², by Cholesky on JᵀJ + μ I.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ...objective import jacobian_chunk
from .damped import Damped, DampedState, Model, is_flat
from .stage import Target


@dataclass(frozen=True)
class LevenbergMarquardt(Damped):
    """Damped Gauss–Newton steps; a few dozen do what first-order methods need tens of thousands for."""

    steps: int = 100
    damping: float = 1e-3
    """μ before the first step, as a share of the largest entry of JᵀJ."""
    tries: int = 8
    """How many values of μ one step may try."""
    precision: str = "float64"
    label: ClassVar[str] = "Levenberg–Marquardt"

    def model(self, target: Target, theta: Array, state: DampedState) -> Model:
        here = target.linearize(theta)
        largest = jnp.max(jnp.diag(here.gram))
        eye = jnp.eye(theta.size, dtype=theta.dtype)

        def change(damping: Array) -> tuple[Array, Array]:
            factor = jax.scipy.linalg.cho_factor(here.gram + damping * largest * eye, lower=True)
            step = -jax.scipy.linalg.cho_solve(factor, here.slope)
            return step, step @ (damping * largest * step - here.slope)

        return Model(here.loss, change, is_flat(here.slope))

    def work(self, points: int, parameters: int) -> float:
        return points * parameters * (1 + parameters / 20) + parameters**3 / 20

    def numbers(self, points: int, outputs: int, parameters: int) -> int:
        rows = outputs * jacobian_chunk(parameters, outputs, self.dtype.itemsize)
        return 4 * parameters**2 + 2 * rows * parameters
