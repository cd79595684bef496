"""Self-scaled Broyden: a quasi-Newton method with the whole inverse Hessian and a strong-Wolfe search.

The update, with step s, gradient change y, ρ = 1/yᵀs, h = ρ yᵀHy, b = −α ρ sᵀg, a = bh − 1, chooses
the member θ of Broyden's class and the scale τ of Al-Baali, Spedicato and Maggioni:

    H⁺ = [H − Hy(Hy)ᵀ/yᵀHy + φ (yᵀHy) vvᵀ]/τ + ρ ssᵀ,    v = ρs − Hy/yᵀHy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .line_search import Probe, strong_wolfe
from .stage import Stage, Step, Target
from .stop import Stop
from .validation import check_stage

_PATIENCE = 2
"""How many line searches in a row may fail; after each the metric starts anew."""


class _State(eqx.Module):
    value: Float[Array, ""]
    gradient: Float[Array, " parameters"]
    terms: dict[str, Float[Array, ""]]
    inverse: Float[Array, "parameters parameters"]
    """H."""
    taken: Int[Array, ""]
    """Steps since H was last the identity."""
    failures: Int[Array, ""]


@dataclass(frozen=True)
class Broyden(Stage):
    """Self-scaled Broyden; memory grows with the square of the number of parameters."""

    steps: int = 2_000
    search: int = 25
    """How many trial points a line search may take."""
    precision: str = "float64"
    tolerant: ClassVar[bool] = False
    costly: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_stage(self)

    @property
    def label(self) -> str:
        return "Broyden"

    def init(self, target: Target, theta: Array) -> Any:
        here = target(theta)
        eye, zero = jnp.eye(theta.size, dtype=theta.dtype), jnp.int32(0)
        return _State(here.loss, here.gradient, here.terms, eye, zero, zero)

    def step(self, target: Target, theta: Array, state: Any) -> Step:
        gradient = state.gradient
        direction = -(state.inverse @ gradient)
        slope = gradient @ direction
        usable = jnp.isfinite(slope) & (slope < 0) & (state.taken > 0)
        direction = jnp.where(usable, direction, -gradient)
        slope = jnp.where(usable, slope, -(gradient @ gradient))
        # A metric that knows nothing yet says nothing about length: try a step of length one at most.
        first = jnp.where(usable, 1.0, jnp.minimum(1.0, 1.0 / jnp.sqrt(jnp.maximum(-slope, 1e-300))))
        start = Probe(jnp.zeros_like(state.value), state.value, slope, gradient, state.terms)
        found, accepted = strong_wolfe(target, theta, start, direction, first=first, trials=self.search)
        moved = accepted | (found.value < state.value)
        after = theta + jnp.where(moved, found.step, 0.0) * direction
        following = _remember(state, found, after - theta, moved)
        return Step(after, following, following.value, following.terms, after, {})

    def renew(self, fresh: Any, before: Any) -> Any:
        return eqx.tree_at(lambda s: (s.inverse, s.taken), fresh, (before.inverse, before.taken))

    def work(self, points: int, parameters: int) -> float:
        return float(points * parameters + 4 * parameters**2)

    def terminate(self, state: Any) -> Array:
        failed = jnp.where(state.failures >= _PATIENCE, Stop.PRECISION.code, 0)
        flat = jnp.max(jnp.abs(state.gradient)) <= jnp.finfo(state.gradient.dtype).tiny
        return jnp.where(flat, Stop.FLAT.code, failed).astype(jnp.int32)


def _remember(state: _State, found: Probe, step: Array, moved: Array) -> _State:
    """The state after a step; a failed search forgets the metric, a step of no curvature is ignored."""
    change = found.gradient - state.gradient
    curvature = step @ change
    tiny = jnp.finfo(step.dtype).eps
    kept = moved & (curvature > tiny * jnp.sqrt((step @ step) * (change @ change)))
    # The first step sets the scale of H, which is a multiple of the identity then.
    fresh = state.taken == 0
    scale = curvature / jnp.maximum(change @ change, jnp.finfo(step.dtype).tiny)
    product = jnp.where(fresh, scale * change, state.inverse @ change)
    update = _update(product, step, change, state.gradient, found.step)
    kept &= update.sound
    inverse = _applied(
        update,
        state.inverse,
        share=jnp.where(moved & ~(fresh & kept), 1.0, 0.0),
        diagonal=jnp.where(moved, jnp.where(fresh & kept, scale, 0.0), 1.0),
        used=kept,
    )
    return _State(
        jnp.where(moved, found.value, state.value),
        jnp.where(moved, found.gradient, state.gradient),
        {name: jnp.where(moved, found.terms[name], old) for name, old in state.terms.items()},
        inverse,
        jnp.where(moved, state.taken + kept, 0).astype(jnp.int32),
        jnp.where(moved, 0, state.failures + 1).astype(jnp.int32),
    )


class _Update(eqx.Module):
    """H⁺ = H/τ + Σ cᵢ wᵢwᵢᵀ, not yet carried out."""

    shrink: Float[Array, ""]
    """1/τ."""
    factors: Float[Array, " three"]
    vectors: Float[Array, "three parameters"]

    @property
    def sound(self) -> Array:
        """Whether nothing overflowed."""
        finite = jnp.isfinite(self.shrink) & jnp.all(jnp.isfinite(self.factors))
        return finite & jnp.all(jnp.isfinite(self.vectors))


def _update(product: Array, step: Array, change: Array, gradient: Array, length: Array) -> _Update:
    """The update after a step s = α p from a point with this gradient; `product` is Hy."""
    rho = 1 / (change @ step)
    middle = change @ product
    h = rho * middle
    b = -length * rho * (step @ gradient)
    a = b * h - 1
    safe = jnp.where(jnp.abs(a) < 1e-12, 1e-12, a)
    rho_low = jnp.minimum(1.0, h * (1 - jnp.sqrt(jnp.abs(a) / (1 + a))))
    theta_low, theta_high = (rho_low - 1) / safe, 1 / rho_low
    theta = jnp.maximum(theta_low, jnp.minimum(theta_high, (1 - b) / b))
    sigma = 1 + theta * a
    r = jnp.minimum(1.0, 1 / b)
    q = jnp.abs(sigma) ** (1 / (1 - step.size))
    tau = jnp.where(theta <= 0, jnp.minimum(r * q, sigma), r * jnp.minimum(q, 1 / theta))
    phi = (1 - theta) / (1 + a * theta)
    v = rho * step - product / middle
    factors = jnp.stack([-1 / (middle * tau), phi * middle / tau, rho])
    return _Update(1 / tau, factors, jnp.stack([product, v, step]))


def _applied(
    update: _Update, inverse: Array, *, share: float | Array, diagonal: float | Array, used: bool | Array
) -> Array:
    """The update of share·H + diagonal·I, in one pass over H; without `used`, that matrix as it is."""
    shrink = jnp.where(used, update.shrink, 1.0)
    factors = jnp.where(used, update.factors, 0.0)
    vectors = jnp.where(used, update.vectors, 0.0)
    outer = sum(c * w[:, None] * w[None, :] for c, w in zip(factors, vectors, strict=True))
    eye = jnp.eye(inverse.shape[-1], dtype=inverse.dtype)
    return (share * shrink) * inverse + (diagonal * shrink) * eye + outer


def self_scaled_update(
    inverse: Float[Array, "n n"],
    step: Float[Array, " n"],
    change: Float[Array, " n"],
    gradient: Float[Array, " n"],
    length: Float[Array, ""],
) -> Float[Array, "n n"]:
    """H⁺ after a step s = α p from a point with this gradient, along which the gradient changed by y."""
    update = _update(inverse @ change, step, change, gradient, length)
    return _applied(update, inverse, share=1.0, diagonal=0.0, used=True)
