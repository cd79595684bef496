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
    """S, each row in the place of the oldest when it came, so that a step writes one row and moves none."""
    changes: Float[Array, "memory parameters"]
    """Y, likewise."""
    across: Float[Array, "memory memory"]
    """S Yᵀ, oldest first; rows and columns not yet filled are zero."""
    within: Float[Array, "memory memory"]
    """Y Yᵀ, likewise."""
    place: Int[Array, ""]
    """Where the next step goes."""
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
        return _State(here.loss, here.gradient, here.terms, tall, tall, square, square, zero, zero, zero)

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

    def hold(self, going: Array, new: Any, old: Any) -> Any:
        # Without parameters that are numbers no step is kept, so the tall arrays are what they were.
        held = super().hold(going, new, old)
        return eqx.tree_at(lambda s: (s.steps, s.changes), held, (new.steps, new.changes))

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
    empty = _empty(size, state.filled)
    upper = jnp.triu(state.across) + jnp.diag(jnp.where(empty, 1.0, 0.0))
    newest = state.within[-1, -1]
    scale = jnp.where(state.filled > 0, state.across[-1, -1] / jnp.where(newest > 0, newest, 1.0), 1.0)
    in_time, in_place = _orders(size, state.place)
    along_steps = jnp.where(empty, 0.0, (state.steps @ vector)[in_time])
    along_changes = jnp.where(empty, 0.0, scale * (state.changes @ vector)[in_time])
    inner = solve_triangular(upper, along_steps)
    middle = jnp.diag(state.across) * inner + scale * (state.within @ inner) - along_changes
    outer = solve_triangular(upper, middle, trans=1)
    return scale * vector + outer[in_place] @ state.steps - scale * (inner[in_place] @ state.changes)


def _remember(state: _State, found: Probe, step: Array, moved: Array) -> _State:
    """The state after a step; a failed search forgets everything, a step of no curvature is not kept."""
    size = len(state.across)
    change = found.gradient - state.gradient
    curvature = step @ change
    kept = moved & (curvature > jnp.finfo(step.dtype).eps * jnp.sqrt((step @ step) * (change @ change)))
    steps = state.steps.at[state.place].set(jnp.where(kept, step, state.steps[state.place]))
    changes = state.changes.at[state.place].set(jnp.where(kept, change, state.changes[state.place]))
    place = jnp.where(kept, (state.place + 1) % size, state.place).astype(jnp.int32)
    filled = jnp.where(moved, jnp.minimum(state.filled + kept, size), 0).astype(jnp.int32)
    empty, (in_time, _) = _empty(size, filled), _orders(size, place)
    beside_steps = jnp.where(empty, 0.0, (steps @ change)[in_time])
    beside_changes = jnp.where(empty, 0.0, (changes @ change)[in_time])
    across = jnp.pad(state.across[1:, 1:], (0, 1)).at[:, -1].set(beside_steps)
    within = jnp.pad(state.within[1:, 1:], (0, 1)).at[:, -1].set(beside_changes).at[-1].set(beside_changes)
    return _State(
        jnp.where(moved, found.value, state.value),
        jnp.where(moved, found.gradient, state.gradient),
        {name: jnp.where(moved, found.terms[name], old) for name, old in state.terms.items()},
        steps,
        changes,
        jnp.where(moved, jnp.where(kept, across, state.across), 0.0),
        jnp.where(moved, jnp.where(kept, within, state.within), 0.0),
        place,
        filled,
        jnp.where(moved, 0, state.failures + 1).astype(jnp.int32),
    )


def _empty(size: int, filled: Array) -> Array:
    """Which entries, oldest first, are not filled."""
    return jnp.arange(size) < size - filled


def _orders(size: int, place: Array) -> tuple[Array, Array]:
    """Where the steps are, oldest first; and for each place, how old its step is in this order."""
    return (jnp.arange(size) + place) % size, (jnp.arange(size) - place) % size
