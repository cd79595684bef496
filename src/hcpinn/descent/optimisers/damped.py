"""What damped Gauss–Newton stages have in common: a damping that follows the gain of each step.

The gain is the actual over the predicted decrease of the loss. By Nielsen's rule the damping μ goes down
after good steps and up, twice as fast each time, after failed ones.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ...outcome import Stop
from .stage import Stage, Step, Target

_PATIENCE = 3
"""How many steps in a row may find no lower point."""


class DampedState(eqx.Module):
    """What the state of every such stage holds."""

    value: Float[Array, ""]
    terms: dict[str, Float[Array, ""]]
    damping: Float[Array, ""]
    """μ, as a share of the scale of the model."""
    growth: Float[Array, ""]
    """By how much the next failure multiplies μ."""
    failures: Int[Array, ""]
    flat: Bool[Array, ""]
    taken: Int[Array, ""]
    """Steps so far."""
    change: Float[Array, " parameters"]
    """The last step, for stages that remember it."""


@dataclass(frozen=True)
class Model:
    """The loss near some parameters."""

    loss: Float[Array, ""]
    change: Callable[[Array], tuple[Array, Array]]
    """`change(damping)` gives a step and the decrease of the loss that the model predicts for it."""
    flat: Bool[Array, ""]


class _Try(eqx.Module):
    theta: Float[Array, " parameters"]
    value: Float[Array, ""]
    damping: Float[Array, ""]
    growth: Float[Array, ""]
    accepted: Bool[Array, ""]
    count: Int[Array, ""]


class Damped(Stage):
    """Steps that minimise a model of the loss plus μ |δ|²."""

    damping: float
    """μ before the first step, as a share of the scale of the model."""
    tries: int
    """How many values of μ one step may try."""
    tolerant: ClassVar[bool] = False
    costly: ClassVar[bool] = True
    copies: ClassVar[int] = 2
    remembers: ClassVar[bool] = False
    """Whether the model uses the last step."""

    @abc.abstractmethod
    def model(self, target: Target, theta: Array, state: DampedState) -> Model:
        """The model of the loss at some parameters."""

    def init(self, target: Target, theta: Array) -> Any:
        here = target(theta)
        unit, zero = jnp.ones((), theta.dtype), jnp.int32(0)
        none = jnp.zeros(theta.shape if self.remembers else (0,), theta.dtype)
        return DampedState(
            here.loss, here.terms, self.damping * unit, 2 * unit, zero, jnp.bool_(False), zero, none
        )

    def step(self, target: Target, theta: Array, state: Any) -> Step:
        here = self.model(target, theta, state)

        def attempt(last: _Try) -> _Try:
            change, predicted = here.change(last.damping)
            value = target(theta + change).loss
            gain = (here.loss - value) / jnp.maximum(predicted, jnp.finfo(theta.dtype).tiny)
            accepted = jnp.isfinite(value) & (predicted > 0) & (gain > 1e-4)
            eased = jnp.maximum(1 / 3, 1 - (2 * jnp.clip(gain, 0.0, 1.0) - 1) ** 3)
            return _Try(
                jnp.where(accepted, theta + change, theta),
                jnp.where(accepted, value, here.loss),
                jnp.clip(last.damping * jnp.where(accepted, eased, last.growth), 1e-20, 1e10),
                jnp.where(accepted, 2.0, 2 * last.growth),
                accepted,
                last.count + 1,
            )

        first = _Try(theta, here.loss, state.damping, state.growth, jnp.bool_(False), jnp.int32(0))
        possible = jnp.isfinite(here.loss)
        last = jax.lax.while_loop(lambda t: possible & ~t.accepted & (t.count < self.tries), attempt, first)
        terms = target(last.theta).terms
        failures = jnp.where(last.accepted, 0, state.failures + 1).astype(jnp.int32)
        # After a failed step the next one starts from a damping that grows gently again.
        growth = jnp.where(last.accepted, last.growth, 2.0)
        moved = last.theta - theta if self.remembers else state.change
        following = DampedState(
            last.value, terms, last.damping, growth, failures, here.flat, state.taken + 1, moved
        )
        return Step(last.theta, following, last.value, terms, last.theta, {})

    def renew(self, fresh: Any, before: Any) -> Any:
        kept = (before.damping, before.growth, before.taken, before.change)
        return eqx.tree_at(lambda s: (s.damping, s.growth, s.taken, s.change), fresh, kept)

    def terminate(self, state: Any) -> Array:
        failed = jnp.where(state.failures >= _PATIENCE, Stop.DAMPING.code, 0)
        return jnp.where(state.flat, Stop.FLAT.code, failed).astype(jnp.int32)


def is_flat(slope: Array) -> Array:
    """Whether the gradient vanished to within rounding."""
    return jnp.max(jnp.abs(slope)) <= jnp.finfo(slope.dtype).tiny
