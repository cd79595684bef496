"""Levenberg–Marquardt: damped Gauss–Newton on the vector of mismatches.

A step δ minimises |ρ + J δ|² + μ |δ|², by Cholesky on JᵀJ + μ I. The gain, actual over predicted
decrease, moves the damping μ (Nielsen's rule): down after good steps, up, twice as fast each
time, after failed ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ...outcome import Stop
from .stage import Stage, Step, Target
from .validation import check_stage

_PATIENCE = 3
"""How many steps in a row may find no lower point."""


class _State(eqx.Module):
    value: Float[Array, ""]
    terms: dict[str, Float[Array, ""]]
    damping: Float[Array, ""]
    """μ, as a share of the largest entry of JᵀJ."""
    growth: Float[Array, ""]
    """By how much the next failure multiplies μ."""
    failures: Int[Array, ""]
    flat: Bool[Array, ""]


class _Try(eqx.Module):
    theta: Float[Array, " parameters"]
    value: Float[Array, ""]
    damping: Float[Array, ""]
    growth: Float[Array, ""]
    accepted: Bool[Array, ""]
    count: Int[Array, ""]


@dataclass(frozen=True)
class LevenbergMarquardt(Stage):
    """Damped Gauss–Newton steps; a few dozen do what first-order methods need tens of thousands for."""

    steps: int = 100
    damping: float = 1e-3
    """μ before the first step, as a share of the largest entry of JᵀJ."""
    tries: int = 8
    """How many values of μ one step may try."""
    precision: str = "float64"
    tolerant: ClassVar[bool] = False
    costly: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_stage(self)

    @property
    def label(self) -> str:
        return "Levenberg–Marquardt"

    def init(self, target: Target, theta: Array) -> Any:
        here = target(theta)
        unit, zero = jnp.ones((), theta.dtype), jnp.int32(0)
        return _State(here.loss, here.terms, self.damping * unit, 2 * unit, zero, jnp.bool_(False))

    def step(self, target: Target, theta: Array, state: Any) -> Step:
        here = target.linearize(theta)
        largest = jnp.max(jnp.diag(here.gram))
        eye = jnp.eye(theta.size, dtype=theta.dtype)

        def attempt(last: _Try) -> _Try:
            damping = last.damping * largest
            factor = jax.scipy.linalg.cho_factor(here.gram + damping * eye, lower=True)
            change = -jax.scipy.linalg.cho_solve(factor, here.slope)
            value = target(theta + change).loss
            predicted = change @ (damping * change - here.slope)
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
        flat = jnp.max(jnp.abs(here.slope)) <= jnp.finfo(theta.dtype).tiny
        failures = jnp.where(last.accepted, 0, state.failures + 1).astype(jnp.int32)
        # After a failed step the next one starts from a damping that grows gently again.
        growth = jnp.where(last.accepted, last.growth, 2.0)
        following = _State(last.value, terms, last.damping, growth, failures, flat)
        return Step(last.theta, following, last.value, terms, last.theta, {})

    def renew(self, fresh: Any, before: Any) -> Any:
        return eqx.tree_at(lambda s: (s.damping, s.growth), fresh, (before.damping, before.growth))

    def work(self, points: int, parameters: int) -> float:
        return points * parameters * (1 + parameters / 20) + parameters**3 / 20

    def terminate(self, state: Any) -> Array:
        failed = jnp.where(state.failures >= _PATIENCE, Stop.DAMPING.code, 0)
        return jnp.where(state.flat, Stop.FLAT.code, failed).astype(jnp.int32)
