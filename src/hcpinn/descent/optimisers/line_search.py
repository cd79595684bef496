"""A line search for the strong Wolfe conditions, compiled as one loop.

Along θ + a p it looks for a step a with enough decrease and a flat enough slope,

    f(a) ≤ f(0) + c₁ a f′(0),    |f′(a)| ≤ c₂ |f′(0)|,

first stretching the step until an interval must hold one, then narrowing that interval by
cubic interpolation. Close to a minimum, where f(a) − f(0) is all rounding, the slope alone
decides (the approximate Wolfe condition of Hager and Zhang).
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from .stage import Target

_DECREASE, _CURVATURE = 1e-4, 0.9
_STRETCH = 4.0
_MARGIN = 0.1
"""Share of the interval kept clear at either end when it is narrowed."""


class Probe(eqx.Module):
    """A point along the line, with its loss and slope."""

    step: Float[Array, ""]
    value: Float[Array, ""]
    slope: Float[Array, ""]
    gradient: Float[Array, " parameters"]
    terms: dict[str, Float[Array, ""]]


class _Search(eqx.Module):
    trial: Float[Array, ""]
    low: Probe
    """The best point so far that decreases enough; the start before there is one."""
    high: Probe
    """The other end of the interval, once there is one."""
    bracketed: Bool[Array, ""]
    accepted: Bool[Array, ""]
    count: Int[Array, ""]


def strong_wolfe(
    target: Target, theta: Array, start: Probe, direction: Array, *, first: Any, trials: int
) -> tuple[Probe, Array]:
    """A probe that meets the conditions and True; else the lowest one found (maybe the start) and False.

    Where runs train together the search goes on until all have theirs. Those that do are evaluated at NaN
    parameters meanwhile, which costs nothing in fused kernels.
    """
    epsilon = jnp.finfo(theta.dtype).eps
    possible = jnp.all(jnp.isfinite(theta))

    def advance(search: _Search) -> _Search:
        measured = target(jnp.where(unfinished(search), theta + search.trial * direction, jnp.nan))
        value, gradient = measured.loss, measured.gradient
        here = Probe(search.trial, value, gradient @ direction, gradient, measured.terms)
        finite = jnp.isfinite(value) & jnp.isfinite(here.slope)
        decreases = finite & (value <= start.value + _DECREASE * here.step * start.slope)
        level = finite & (value <= start.value + 10 * epsilon * jnp.abs(start.value))
        flat = jnp.abs(here.slope) <= -_CURVATURE * start.slope
        near = (
            level
            & (here.slope <= (2 * _DECREASE - 1) * start.slope)
            & (here.slope >= _CURVATURE * start.slope)
        )
        accepted = (decreases & flat) | near
        too_far = ~decreases | (value >= search.low.value) & (search.low.step > 0)
        turned = here.slope * jnp.where(search.bracketed, search.high.step - search.low.step, 1.0) >= 0
        high = _choose(too_far, here, _choose(turned, search.low, search.high))
        low = _choose(accepted | ~too_far, here, search.low)
        bracketed = search.bracketed | too_far | turned
        trial = jnp.where(bracketed, _between(low, high), _STRETCH * search.trial)
        return _Search(trial, low, high, bracketed, accepted, search.count + 1)

    def unfinished(search: _Search) -> Array:
        return possible & ~search.accepted & (search.count < trials)

    first_trial = jnp.asarray(first, theta.dtype)
    nothing, zero = jnp.bool_(False), jnp.int32(0)
    search = _Search(first_trial, start, start, nothing, nothing, zero)
    search = jax.lax.while_loop(unfinished, advance, search)
    return search.low, search.accepted


def _choose(condition: Array, yes: Probe, no: Probe) -> Probe:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)


def _between(low: Probe, high: Probe) -> Array:
    """The minimum of the cubic through values and slopes at both ends, kept away from them."""
    width = high.step - low.step
    d1 = low.slope + high.slope - 3 * (high.value - low.value) / jnp.where(width == 0, 1.0, width)
    root = jnp.sqrt(jnp.maximum(d1**2 - low.slope * high.slope, 0.0)) * jnp.sign(width)
    below = high.slope - low.slope + 2 * root
    share = 1.0 - (high.slope + root - d1) / jnp.where(below == 0, 1.0, below)
    share = jnp.where(jnp.isfinite(share), share, 0.5)
    return low.step + jnp.clip(share, _MARGIN, 1 - _MARGIN) * width
