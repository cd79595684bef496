"""ETDRK4, the fourth-order exponential Runge–Kutta scheme for uₜ = L u + N(t, u), mode by mode.

Cox and Matthews (2002), with the coefficients evaluated as contour integrals after Kassam
and Trefethen (2005), because their closed forms cancel catastrophically near h L = 0:

    a = e^{hL/2} u + Q N(t, u)              f(hL) = 1/(2πi) ∮ f(z) / (z − hL) dz
    b = e^{hL/2} u + Q N(t + h/2, a)              ≈ mean of f over a circle around hL
    c = e^{hL/2} a + Q (2 N(t + h/2, b) − N(t, u))
    u⁺ = e^{hL} u + f₁ N(t, u) + 2 f₂ (N(t + h/2, a) + N(t + h/2, b)) + f₃ N(t + h, c)

L is one number per mode and field, or, where fields drive each other linearly, one small
matrix per mode, L = V Λ V⁻¹, whose functions are f(hL) = V f(hΛ) V⁻¹.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex

_CONTOUR_POINTS = 32
"""Points on the circle of radius 1; the mean is then exact to rounding, as its error is ≈ 1/32!."""


class Linear(NamedTuple):
    """L by its eigenvalues, and by its eigenvectors V and their inverse where L couples fields."""

    values: Complex[np.ndarray, "fields *modes"]
    vectors: Complex[np.ndarray, "*modes fields fields"] | None = None
    inverse: Complex[np.ndarray, "*modes fields fields"] | None = None

    def function(self, values: Complex[np.ndarray, "fields *modes"]) -> Complex[np.ndarray, "..."]:
        """f(L) from f(Λ): shape (fields, modes…), or (fields, fields, modes…) where L couples fields."""
        if self.vectors is None or self.inverse is None:
            return values
        product = (self.vectors * np.moveaxis(values, 0, -1)[..., None, :]) @ self.inverse
        return np.moveaxis(product, (-2, -1), (0, 1))


class Coefficients(NamedTuple):
    """The scheme's coefficients for one step size, each a function of hL."""

    whole: Complex[Array, "..."]
    half: Complex[Array, "..."]
    stage: Complex[Array, "..."]
    first: Complex[Array, "..."]
    middle: Complex[Array, "..."]
    last: Complex[Array, "..."]


def coefficients(linear: Linear, step: float) -> Coefficients:
    """The coefficients for the step h.

    The circle is walked point by point: in three dimensions all points at once would not fit.
    NumPy does this once per step size; compiling it would take longer.
    """
    centre = step * linear.values
    sums = [np.zeros_like(centre) for _ in range(4)]
    for number in range(_CONTOUR_POINTS):
        z = centre + np.exp(2j * np.pi * (number + 0.5) / _CONTOUR_POINTS)
        half = np.exp(z / 2)
        grown = half * half
        cube = z**-3
        sums[0] += (half - 1) / z
        sums[1] += (-4 - z + grown * (4 - 3 * z + z * z)) * cube
        sums[2] += (2 + z + grown * (z - 2)) * cube
        sums[3] += (-4 - 3 * z - z * z + grown * (4 - z)) * cube
    table = (np.exp(centre), np.exp(centre / 2), *(step / _CONTOUR_POINTS * s for s in sums))
    return Coefficients(*(jnp.asarray(linear.function(f)) for f in table))


def _times(factor: Array, state: Array) -> Array:
    """A coefficient times a state, elementwise or as a matrix over the fields."""
    return factor * state if factor.ndim == state.ndim else jnp.sum(factor * state, axis=1)


def advance(
    nonlinear: Callable[[Array, Array], Array],
    state: Complex[Array, "..."],
    time: Array,
    step: Array,
    steps: Array,
    table: Coefficients,
    off: Array,
) -> Complex[Array, "..."]:
    """The state after a number of steps, which is a run-time value: one compilation serves all.

    N is evaluated at least `off` inside the time stepped over, on this side of jumps at its ends.
    """
    first, last = time + off, time + steps * step - off

    def rate(t: Array, u: Array) -> Array:
        return nonlinear(jnp.clip(t, first, last), u)

    def one(number: Array, u: Array) -> Array:
        t = time + number * step
        start = rate(t, u)
        a = _times(table.half, u) + _times(table.stage, start)
        at_a = rate(t + step / 2, a)
        b = _times(table.half, u) + _times(table.stage, at_a)
        at_b = rate(t + step / 2, b)
        c = _times(table.half, a) + _times(table.stage, 2 * at_b - start)
        at_c = rate(t + step, c)
        middle = _times(table.middle, 2 * (at_a + at_b))
        return _times(table.whole, u) + _times(table.first, start) + middle + _times(table.last, at_c)

    return jax.lax.fori_loop(0, steps, one, state)
