"""Sketched Gauss–Newton: damped Gauss–Newton steps on random sums of mismatches, with momentum.

The mismatches ρ, with Jacobian J, are added up with random signs in random groups: S ρ and S J, with far
fewer rows than points. A row of S J is one gradient, so J itself is never made. A step δ minimises

    |S ρ + S J δ|² + μ |δ − β δ₋|²

around β times the step before, δ₋, which carries over what earlier sketches saw. It takes a system of
the size of the sketch or of the parameters, whichever is smaller. The damping μ follows the gain against the
decrease that all mismatches predict, |ρ|² − |ρ + J δ|².
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ...errors import MethodError
from .damped import Damped, DampedState, Model, is_flat
from .stage import Target


@dataclass(frozen=True)
class SketchedGaussNewton(Damped):
    """Gauss–Newton steps at a fraction of their price; memory grows with sketch rows times parameters."""

    steps: int = 500
    group: int = 2
    """How many points make a row of the sketch."""
    momentum: float = 0.5
    """β, the share of the last step around which the next is sought."""
    damping: float = 1e-3
    """μ before the first step, as a share of the largest diagonal entry of the system."""
    tries: int = 8
    """How many values of μ one step may try."""
    precision: str = "float64"
    label: ClassVar[str] = "Sketched Gauss–Newton"
    remembers: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.momentum < 1:
            raise MethodError(f"SketchedGaussNewton: momentum must be below 1, but is {self.momentum!r}.")

    def model(self, target: Target, theta: Array, state: DampedState) -> Model:
        rows = target.sketch(theta, group=self.group, number=state.taken)
        values, along = jax.linearize(target.mismatches, theta)
        loss = values @ values
        prior = self.momentum * state.change
        right = rows.values + rows.jacobian @ prior
        solve, largest = _solver(rows.jacobian)

        def change(damping: Array) -> tuple[Array, Array]:
            step = prior - solve(right, damping * largest)
            after = values + along(step)
            return step, loss - after @ after

        return Model(loss, change, is_flat(rows.values))

    def work(self, points: int, parameters: int) -> float:
        rows = points / self.group
        small, large = min(rows, parameters), max(rows, parameters)
        return points * parameters * 4 + small**2 * large / 20

    def numbers(self, points: int, outputs: int, parameters: int) -> int:
        rows = -(-points // self.group)
        return 3 * rows * parameters + 3 * min(rows, parameters) ** 2


def _solver(jacobian: Array) -> tuple:
    """A function of b and μ that gives the δ with the least |A δ − b|² + μ |δ|², and the scale of μ."""
    rows, parameters = jacobian.shape
    wide = rows < parameters
    gram = jacobian @ jacobian.T if wide else jacobian.T @ jacobian
    eye = jnp.eye(len(gram), dtype=gram.dtype)

    def solve(right: Array, damping: Array) -> Array:
        factor = jax.scipy.linalg.cho_factor(gram + damping * eye, lower=True)
        if wide:
            return jacobian.T @ jax.scipy.linalg.cho_solve(factor, right)
        return jax.scipy.linalg.cho_solve(factor, jacobian.T @ right)

    return solve, jnp.max(jnp.diag(gram))
