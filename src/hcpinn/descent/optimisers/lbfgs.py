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

from .line_search import Probe
from .quasi_newton import Known, QuasiNewton, curved, known, known_after
from .stage import Target


class _State(Known):
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


@dataclass(frozen=True)
class LBFGS(QuasiNewton):
    """L-BFGS; each step is found by a line search, so there is no learning rate."""

    steps: int = 5_000
    memory: int = 200
    """How many past steps shape the metric."""
    search: int = 25
    """How many trial points a line search may take."""
    precision: str = "float64"
    label: ClassVar[str] = "L-BFGS"

    def init(self, target: Target, theta: Array) -> Any:
        tall = jnp.zeros((self.memory, theta.size), theta.dtype)
        square = jnp.zeros((self.memory, self.memory), theta.dtype)
        zero = jnp.int32(0)
        return _State(
            **known(target(theta)),
            steps=tall,
            changes=tall,
            across=square,
            within=square,
            place=zero,
            filled=zero,
        )

    def direction(self, state: Any) -> tuple[Array, Array]:
        return -_apply_inverse(state, state.gradient), state.filled > 0

    def remember(self, state: Any, found: Probe, step: Array, moved: Array) -> Any:
        """A failed search forgets everything, a step of no curvature is not kept."""
        size = len(state.across)
        change = found.gradient - state.gradient
        kept = moved & curved(step, change)
        steps = state.steps.at[state.place].set(jnp.where(kept, step, state.steps[state.place]))
        changes = state.changes.at[state.place].set(jnp.where(kept, change, state.changes[state.place]))
        place = jnp.where(kept, (state.place + 1) % size, state.place).astype(jnp.int32)
        filled = jnp.where(moved, jnp.minimum(state.filled + kept, size), 0).astype(jnp.int32)
        empty, (in_time, _) = _empty(size, filled), _orders(size, place)
        beside_steps = jnp.where(empty, 0.0, (steps @ change)[in_time])
        beside_changes = jnp.where(empty, 0.0, (changes @ change)[in_time])
        across = jnp.pad(state.across[1:, 1:], (0, 1)).at[:, -1].set(beside_steps)
        within = jnp.pad(state.within[1:, 1:], (0, 1)).at[:, -1].set(beside_changes)
        within = within.at[-1].set(beside_changes)
        return _State(
            **known_after(state, found, moved),
            steps=steps,
            changes=changes,
            across=jnp.where(moved, jnp.where(kept, across, state.across), 0.0),
            within=jnp.where(moved, jnp.where(kept, within, state.within), 0.0),
            place=place,
            filled=filled,
        )

    def hold(self, going: Array, new: Any, old: Any) -> Any:
        # With NaN parameters no step is kept, so the tall arrays stay as they are.
        held = super().hold(going, new, old)
        return eqx.tree_at(lambda s: (s.steps, s.changes), held, (new.steps, new.changes))

    def renew(self, fresh: Any, before: Any) -> Any:
        here = (fresh.value, fresh.gradient, fresh.terms, fresh.failures)
        return eqx.tree_at(lambda s: (s.value, s.gradient, s.terms, s.failures), before, here)

    def work(self, points: int, parameters: int) -> float:
        return float(points * parameters)


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


def _empty(size: int, filled: Array) -> Array:
    """Which entries, oldest first, are not filled."""
    return jnp.arange(size) < size - filled


def _orders(size: int, place: Array) -> tuple[Array, Array]:
    """Where the steps are, oldest first; and for each place, how old its step is in this order."""
    return (jnp.arange(size) + place) % size, (jnp.arange(size) - place) % size
