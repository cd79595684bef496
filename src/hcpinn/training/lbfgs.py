"""L-BFGS with a strong-Wolfe line search: fast convergence near a minimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import optax
from jaxtyping import Array

from .stage import Loss, Stage, Step
from .stop import Stop
from .validation import check_stage

_PATIENCE = 3
"""How many steps in a row may fail to lower the loss."""


class _State(eqx.Module):
    inner: Any
    stalled: Array
    flat: Array


@dataclass(frozen=True)
class LBFGS(Stage):
    """L-BFGS; each step is found by a line search, so there is no learning rate."""

    steps: int = 5_000
    memory: int = 50
    """How many past steps shape the metric."""
    search: int = 25
    """How many trial points a line search may take."""
    precision: str = "float64"

    def __post_init__(self) -> None:
        check_stage(self)

    @property
    def label(self) -> str:
        return "L-BFGS"

    def _optimiser(self) -> optax.GradientTransformationExtraArgs:
        return optax.lbfgs(
            memory_size=self.memory,
            linesearch=optax.scale_by_zoom_linesearch(
                max_linesearch_steps=self.search, initial_guess_strategy="one"
            ),
        )

    def init(self, loss: Loss, theta: Array) -> Any:
        return _State(self._optimiser().init(theta), jnp.int32(0), jnp.bool_(False))

    def step(self, loss: Loss, theta: Array, state: Any) -> Step:
        value: Any
        gradient: Any
        change: Any
        value, gradient = optax.value_and_grad_from_state(loss)(theta, state=state.inner)
        change, inner = self._optimiser().update(
            gradient, state.inner, theta, value=value, grad=gradient, value_fn=loss
        )
        after = optax.tree.get(inner, "value")
        stalled = jnp.where(after < value, 0, state.stalled + 1)
        flat = jnp.max(jnp.abs(gradient)) <= jnp.finfo(theta.dtype).tiny
        return Step(theta + change, _State(inner, stalled, flat), value, theta)

    def terminate(self, state: Any) -> Array:
        stalled = jnp.where(state.stalled >= _PATIENCE, Stop.PRECISION.code, 0)
        return jnp.where(state.flat, Stop.FLAT.code, stalled).astype(jnp.int32)
