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

from .line_search import Probe
from .quasi_newton import Known, QuasiNewton, curved, known, known_after
from .stage import Target


class _State(Known):
    inverse: Float[Array, "parameters parameters"]
    """H."""
    taken: Int[Array, ""]
    """Steps since H was last the identity."""


@dataclass(frozen=True)
class Broyden(QuasiNewton):
    """Self-scaled Broyden; memory grows with the square of the number of parameters."""

    steps: int = 2_000
    search: int = 25
    """How many trial points a line search may take."""
    precision: str = "float64"
    label: ClassVar[str] = "Broyden"
    costly: ClassVar[bool] = True

    def init(self, target: Target, theta: Array) -> Any:
        eye = jnp.eye(theta.size, dtype=theta.dtype)
        return _State(**known(target(theta)), inverse=eye, taken=jnp.int32(0))

    def direction(self, state: Any) -> tuple[Array, Array]:
        return -(state.inverse @ state.gradient), state.taken > 0

    def remember(self, state: Any, found: Probe, step: Array, moved: Array) -> Any:
        """A failed search forgets the metric, a step of no curvature is ignored."""
        change = found.gradient - state.gradient
        kept = moved & curved(step, change)
        # The first step sets the scale of H, which is a multiple of the identity then.
        fresh = state.taken == 0
        scale = (step @ change) / jnp.maximum(change @ change, jnp.finfo(step.dtype).tiny)
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
        taken = jnp.where(moved, state.taken + kept, 0).astype(jnp.int32)
        return _State(**known_after(state, found, moved), inverse=inverse, taken=taken)

    def renew(self, fresh: Any, before: Any) -> Any:
        return eqx.tree_at(lambda s: (s.inverse, s.taken), fresh, (before.inverse, before.taken))

    def work(self, points: int, parameters: int) -> float:
        return float(points * parameters + 4 * parameters**2)

    def numbers(self, points: int, outputs: int, parameters: int) -> int:
        return 4 * parameters**2


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
