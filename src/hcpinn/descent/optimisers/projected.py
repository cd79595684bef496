"""Variable projection inside another optimiser: after each of its steps the output weights are solved for.

The last layer is linear, so with the hidden weights held, the mismatches are linear in the output weights
wherever the equation is, and nearly so elsewhere: one damped Gauss–Newton step of as many unknowns as
the layer has weights finds their best values. It is taken only where it lowers the loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ...errors import MethodError
from .stage import Stage, Step, Target

_RIDGE = 1e-13
"""Damping of the least squares, as a share of the largest entry of its matrix."""


@dataclass(frozen=True)
class Projected(Stage):
    """Another stage whose output weights are solved for by least squares after each step."""

    stage: Stage
    """The optimiser of all weights."""

    def __post_init__(self) -> None:
        if not isinstance(self.stage, Stage) or isinstance(self.stage, Projected):
            raise MethodError(f"Projected takes a stage such as Broyden(), but was given {self.stage!r}.")
        if self.stage.tolerant:
            raise MethodError(
                f"Projected compares losses, so it needs a stage that uses all points, such as Broyden(); "
                f"{self.stage.label} may see other points in every step."
            )

    @property
    def steps(self) -> int:  # type: ignore[override]
        return self.stage.steps

    @property
    def precision(self) -> str:  # type: ignore[override]
        return self.stage.precision

    @property
    def tolerant(self) -> bool:  # type: ignore[override]
        return False

    @property
    def copies(self) -> int:  # type: ignore[override]
        return 2

    @property
    def costly(self) -> bool:  # type: ignore[override]
        return True

    @property
    def label(self) -> str:  # type: ignore[override]
        return f"{self.stage.label}, projected"

    def with_steps(self, steps: int) -> Stage:
        return Projected(self.stage.with_steps(steps))

    def init(self, target: Target, theta: Array) -> Any:
        return self.stage.init(target, theta)

    def step(self, target: Target, theta: Array, state: Any) -> Step:
        taken = self.stage.step(target, theta, state)
        last = target.objective.output_weights
        here = target.linearize(taken.theta, last=last)
        ridge = _RIDGE * jnp.max(jnp.diag(here.gram)) * jnp.eye(last, dtype=theta.dtype)
        factor = jax.scipy.linalg.cho_factor(here.gram + ridge, lower=True)
        change = -jax.scipy.linalg.cho_solve(factor, here.slope)
        moved = taken.theta.at[-last:].add(change)
        fresh = self.stage.init(target, moved)
        after = target(moved)
        lower = jnp.isfinite(after.loss) & (after.loss < taken.loss)

        def chosen(new: Any, old: Any) -> Any:
            return jax.tree.map(lambda a, b: jnp.where(lower, a, b), new, old)

        end = chosen(moved, taken.theta)
        return Step(
            end,
            chosen(self.stage.renew(fresh, taken.state), taken.state),
            chosen(after.loss, taken.loss),
            chosen(after.terms, taken.terms),
            end,
            {},
        )

    def renew(self, fresh: Any, before: Any) -> Any:
        return self.stage.renew(fresh, before)

    def work(self, points: int, parameters: int) -> float:
        return 3 * self.stage.work(points, parameters)

    def numbers(self, points: int, outputs: int, parameters: int) -> int:
        return self.stage.numbers(points, outputs, parameters)

    def terminate(self, state: Any) -> Array:
        return self.stage.terminate(state)
