"""L-BFGS with a strong-Wolfe line search: fast convergence near a minimum.

The inverse Hessian is kept in the compact form of Byrd, Nocedal and Schnabel,

    H = γ I + [S  γY] [[R⁻ᵀ(D + γYᵀY)R⁻¹, −R⁻ᵀ], [−R⁻¹, 0]] [S  γY]ᵀ,

with steps S, gradient changes Y, R the upper triangle and D the diagonal of SᵀY. Applying it
takes two tall matrix products in place of the hundred dependent steps of the usual
recursion, which a GPU spends waiting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float, Int

from .line_search import Probe, strong_wolfe
from .stage import Stage, Step, Target
from .stop import Stop
from .validation import check_stage

_PATIENCE = 2
"""How many line searches in a row may fail; after each the memory is cleared."""


class _State(eqx.Module):
    value: Float[Array, ""]
    gradient: Float[Array, " parameters"]
    terms: dict[str, Float[Array, ""]]
    steps: Float[Array, "memory parameters"]
    """S, oldest first; rows not yet filled are zero."""
    changes: Float[Array, "memory parameters"]
    """Y, likewise."""
    across: Float[Array, "memory memory"]
    """S Yᵀ."""
    within: Float[Array, "memory memory"]
    """Y Yᵀ."""
    filled: Int[Array, ""]
    failures: Int[Array, ""]


@dataclass(frozen=True)
class LBFGS(Stage):
    """L-BFGS; each step is found by a line search, so there is no learning rate."""

    steps: int = 5_000
    memory: int = 200
    """How many past steps shape the metric."""
    search: int = 25
    """How many trial points a line search may take."""
    precision: str = "float64"
    tolerant: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_stage(self)

    @property
    def label(self) -> str:
        return "L-BFGS"

    def init(self, target: Target, theta: Array) -> Any:
        here = target(theta)
        tall = jnp.zeros((self.memory, theta.size), theta.dtype)
        square = jnp.zeros((self.memory, self.memory), theta.dtype)
        zero = jnp.int32(0)
        return _State(here.loss, here.gradient, here.terms, tall, tall, square, square, zero, zero)

    def step(self, target: Target, theta: Array, state: Any) -> Step:
        gradient = state.gradient
        direction = -_apply_inverse(state, gradient)
        slope = gradient @ direction
        usable = jnp.isfinite(slope) & (slope < 0) & (state.filled > 0)
        direction = jnp.where(usable, direction, -gradient)
        slope = jnp.where(usable, slope, -(gradient @ gradient))
        # Without a memory the gradient's length means nothing: start with a step of length one at most.
        first = jnp.where(usable, 1.0, jnp.minimum(1.0, 1.0 / jnp.sqrt(jnp.maximum(-slope, 1e-300))))
        start = Probe(jnp.zeros_like(state.value), state.value, slope, gradient, state.terms)
        found, accepted = strong_wolfe(target, theta, start, direction, first=first, trials=self.search)
        moved = accepted | (found.value < state.value)
        after = theta + jnp.where(moved, found.step, 0.0) * direction
        following = _remember(state, found, after - theta, moved)
        return Step(after, following, following.value, following.terms, after, {})

    def renew(self, fresh: Any, before: Any) -> Any:
        here = (fresh.value, fresh.gradient, fresh.terms, fresh.failures)
        return eqx.tree_at(lambda s: (s.value, s.gradient, s.terms, s.failures), before, here)

    def work(self, points: int, parameters: int) -> float:
        return float(points * parameters)

    def terminate(self, state: Any) -> Array:
        failed = jnp.where(state.failures >= _PATIENCE, Stop.PRECISION.code, 0)
        flat = jnp.max(jnp.abs(state.gradient)) <= jnp.finfo(state.gradient.dtype).tiny
        return jnp.where(flat, Stop.FLAT.code, failed).astype(jnp.int32)


def _apply_inverse(state: _State, vector: Array) -> Array:
    """H times a vector; rows of the memory that are not filled have no part in it."""
    size = len(state.across)
    empty = jnp.arange(size) < size - state.filled
    upper = jnp.triu(state.across) + jnp.diag(jnp.where(empty, 1.0, 0.0))
    newest = state.within[-1, -1]
    scale = jnp.where(state.filled > 0, state.across[-1, -1] / jnp.where(newest > 0, newest, 1.0), 1.0)
    along_steps, along_changes = state.steps @ vector, scale * (state.changes @ vector)
    inner = solve_triangular(upper, along_steps)
    middle = jnp.diag(state.across) * inner + scale * (state.within @ inner) - along_changes
    outer = solve_triangular(upper, middle, trans=1)
    return scale * vector + outer @ state.steps - scale * (inner @ state.changes)


def _remember(state: _State, found: Probe, step: Array, moved: Array) -> _State:
    """The state after a step; a failed search forgets everything, a step of no curvature is not kept."""
    change = found.gradient - state.gradient
    curvature = step @ change
    kept = moved & (curvature > jnp.finfo(step.dtype).eps * jnp.sqrt((step @ step) * (change @ change)))

    def push(_: None) -> tuple[Array, ...]:
        steps = jnp.concatenate([state.steps[1:], step[None]])
        changes = jnp.concatenate([state.changes[1:], change[None]])
        across = jnp.pad(state.across[1:, 1:], (0, 1)).at[:, -1].set(steps @ change)
        within = jnp.pad(state.within[1:, 1:], (0, 1))
        column = changes @ change
        within = within.at[:, -1].set(column).at[-1].set(column)
        return steps, changes, across, within

    def leave(_: None) -> tuple[Array, ...]:
        return state.steps, state.changes, state.across, state.within

    memory = jax.lax.cond(kept, push, leave, None)
    filled = jnp.minimum(state.filled + kept, len(state.across))
    steps, changes, across, within = (jnp.where(moved, item, 0.0) for item in memory)
    return _State(
        jnp.where(moved, found.value, state.value),
        jnp.where(moved, found.gradient, state.gradient),
        {name: jnp.where(moved, found.terms[name], old) for name, old in state.terms.items()},
        steps,
        changes,
        across,
        within,
        jnp.where(moved, filled, 0).astype(jnp.int32),
        jnp.where(moved, 0, state.failures + 1).astype(jnp.int32),
    )
