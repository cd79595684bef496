"""What stages have in common that learn a metric from their steps, and take each step by a line search."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ...objective import Measured
from ...outcome import Stop
from .line_search import Probe, strong_wolfe
from .stage import Stage, Step, Target

_PATIENCE = 2
"""How many line searches in a row may fail; after each the metric is forgotten."""


class Known(eqx.Module):
    """What the state of every such stage holds; the metric comes on top."""

    value: Float[Array, ""]
    gradient: Float[Array, " parameters"]
    terms: dict[str, Float[Array, ""]]
    failures: Int[Array, ""]
    """Searches that failed in a row."""


class QuasiNewton(Stage):
    """Steps along −H∇f, where H approximates the inverse Hessian."""

    search: int
    """How many trial points a line search may take."""
    tolerant: ClassVar[bool] = False

    @abc.abstractmethod
    def direction(self, state: Any) -> tuple[Array, Array]:
        """−H∇f, and whether H has learned anything yet."""

    @abc.abstractmethod
    def remember(self, state: Any, found: Probe, step: Array, moved: Array) -> Any:
        """The state after a step, or after a failed search, where `moved` is false."""

    def step(self, target: Target, theta: Array, state: Any) -> Step:
        gradient = state.gradient
        direction, learned = self.direction(state)
        slope = gradient @ direction
        usable = jnp.isfinite(slope) & (slope < 0) & learned
        direction = jnp.where(usable, direction, -gradient)
        slope = jnp.where(usable, slope, -(gradient @ gradient))
        # A metric that knows nothing yet says nothing about length: try a step of length one at most.
        first = jnp.where(usable, 1.0, jnp.minimum(1.0, 1.0 / jnp.sqrt(jnp.maximum(-slope, 1e-300))))
        start = Probe(jnp.zeros_like(state.value), state.value, slope, gradient, state.terms)
        found, accepted = strong_wolfe(target, theta, start, direction, first=first, trials=self.search)
        moved = accepted | (found.value < state.value)
        after = theta + jnp.where(moved, found.step, 0.0) * direction
        following = self.remember(state, found, after - theta, moved)
        return Step(after, following, following.value, following.terms, after, {})

    def terminate(self, state: Any) -> Array:
        failed = jnp.where(state.failures >= _PATIENCE, Stop.PRECISION.code, 0)
        flat = jnp.max(jnp.abs(state.gradient)) <= jnp.finfo(state.gradient.dtype).tiny
        return jnp.where(flat, Stop.FLAT.code, failed).astype(jnp.int32)


def known(here: Measured) -> dict[str, Any]:
    """The fields of `Known` before the first step."""
    return {"value": here.loss, "gradient": here.gradient, "terms": here.terms, "failures": jnp.int32(0)}


def known_after(state: Known, found: Probe, moved: Array) -> dict[str, Any]:
    """The fields of `Known` after a step."""
    return {
        "value": jnp.where(moved, found.value, state.value),
        "gradient": jnp.where(moved, found.gradient, state.gradient),
        "terms": {name: jnp.where(moved, found.terms[name], old) for name, old in state.terms.items()},
        "failures": jnp.where(moved, 0, state.failures + 1).astype(jnp.int32),
    }


def curved(step: Array, change: Array) -> Array:
    """Whether the gradient changed along a step as that of a convex function does, beyond rounding."""
    lengths = jnp.sqrt((step @ step) * (change @ change))
    return step @ change > jnp.finfo(step.dtype).eps * lengths
