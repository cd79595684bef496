"""Chebyshev collocation on equal elements of an interval, patched where they meet.

One Chebyshev grid over the whole interval needs a full matrix and very many points for a
sharp front; elements of fixed degree need fewer, and their matrices are nearly all zeros.
Neighbours share the value at their common point. There, with w = h/(2p²) for elements of
length h and degree p,

    uₓ = (uₓ⁻ + uₓ⁺)/2,    uₓₓ = (uₓₓ⁻ + uₓₓ⁺)/2 + (uₓ⁺ − uₓ⁻)/(2w),

whose last term drives the jump of the slope to zero. The eigenvalues of the second
derivative with Dirichlet ends are then real and negative, as those of ∂ₓₓ are.
"""

from __future__ import annotations

import numpy as np
import scipy.fft
import scipy.sparse
from jaxtyping import Float

from .nodes import chebyshev_points, differentiation_matrix, interpolation_matrix


class Patches:
    """Points, differentiation matrices and interpolation on patched Chebyshev elements."""

    def __init__(self, lower: float, upper: float, *, elements: int, degree: int):
        self.elements, self.degree = elements, degree
        self.edges = np.linspace(lower, upper, elements + 1)
        local = differentiation_matrix(self.edges[0], self.edges[1], degree)
        first = np.tile(local, (elements, 1, 1))
        second = np.tile(local @ local, (elements, 1, 1))
        penalty = degree**2 / (self.edges[1] - self.edges[0])
        for inner, row, sign in ((slice(1, None), 0, 1), (slice(None, -1), -1, -1)):
            second[inner, row] = second[inner, row] / 2 + sign * penalty * first[inner, row]
            first[inner, row] /= 2
        # Rows of a shared point receive one half from either side: repeated entries add up.
        at = np.arange(elements)[:, None] * degree + np.arange(degree + 1)[None, :]
        rows, columns = np.broadcast_arrays(at[:, :, None], at[:, None, :])
        shape = (at[-1, -1] + 1,) * 2
        self.derivatives = {
            order: scipy.sparse.coo_array(
                (entries.ravel(), (rows.ravel(), columns.ravel())), shape=shape
            ).tocsr()
            for order, entries in ((1, first), (2, second))
        }
        self.points = np.empty(shape[0])
        for number in range(elements):
            self.points[self._block(number)] = chebyshev_points(
                self.edges[number], self.edges[number + 1], degree
            )

    def _block(self, number: int) -> slice:
        return slice(number * self.degree, (number + 1) * self.degree + 1)

    def interpolation(self, targets: Float[np.ndarray, "targets"]) -> Float[np.ndarray, "targets nodes"]:
        """Values at the points ↦ values of the interpolant at the targets."""
        matrix = np.zeros((len(targets), len(self.points)))
        owner = np.clip(np.searchsorted(self.edges, targets, side="right") - 1, 0, self.elements - 1)
        for number in range(self.elements):
            rows, block = owner == number, self._block(number)
            if rows.any():
                matrix[rows, block] = interpolation_matrix(self.points[block], targets[rows])
        return matrix

    def tail(self, values: Float[np.ndarray, "times nodes"]) -> float:
        """The largest of the last Chebyshev coefficients of the elements, relative to the largest value.

        The very last one is left out, as the coefficients of even or odd functions alternate with zeros.
        """
        worst = 0.0
        for number in range(self.elements):
            coefficients = np.asarray(scipy.fft.dct(values[:, self._block(number)], type=1, axis=-1))
            worst = max(worst, float(np.abs(coefficients[:, -3:-1]).max()) / self.degree)
        return worst / max(float(np.abs(values).max()), 1e-300)
