"""Chebyshev collocation on elements of an interval, patched where they meet.

One Chebyshev grid over the whole interval needs a full matrix and very many points for a
sharp front; elements of fixed degree need fewer, and their matrices are nearly all zeros.
Neighbours share the value at their common point. F is evaluated there once from either side, and weighted
by w = h/(2p²), for elements of length h and degree p:

    uₜ = (w⁻ F(uₓ⁻, uₓₓ⁻ + s) + w⁺ F(uₓ⁺, uₓₓ⁺ + s)) / (w⁻ + w⁺),    s = (uₓ⁺ − uₓ⁻)/(w⁻ + w⁺),

whose term s drives the jump of the slope to zero. The eigenvalues of the second derivative with Dirichlet
ends are then real and negative, as those of ∂ₓₓ are, and coefficients and sources may jump between elements.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.fft
import scipy.sparse
from jaxtyping import Float

from .nodes import chebyshev_points, differentiation_matrix, interpolation_matrix

_INSIDE = 256
"""How many floating-point numbers off its ends an element evaluates F, to stand on its own side of a jump."""


class Patches:
    """Points, differentiation matrices and interpolation on patched Chebyshev elements."""

    def __init__(self, edges: Sequence[float] | np.ndarray, *, degree: int, periodic: bool = False):
        """`edges` are the ends of the elements in order; the last is the first again if `periodic`."""
        self.edges, self.degree = np.asarray(edges, float), degree
        self.elements = len(self.edges) - 1
        lengths = np.diff(self.edges)
        count = self.elements * degree + (not periodic)
        self._at = (np.arange(self.elements)[:, None] * degree + np.arange(degree + 1)) % count
        nodes = np.stack(
            [chebyshev_points(float(a), float(b), degree) for a, b in itertools.pairwise(self.edges)]
        )
        self._nodes = nodes
        self.points = np.empty(count)
        self.points[self._at[::-1].ravel()] = nodes[::-1].ravel()
        off = _INSIDE * np.spacing(np.abs(self.edges).max())
        self.places = nodes.copy()
        """Where each element evaluates F, elements × nodes: its nodes, with the ends moved inside."""
        self.places[:, 0] += off
        self.places[:, -1] -= off

        rows = np.arange(nodes.size)
        self.spread: Any = scipy.sparse.coo_array(
            (np.ones(nodes.size), (rows, self._at.ravel())), shape=(nodes.size, count)
        ).tocsr()
        weights = np.repeat(lengths, degree + 1)
        shares = weights / (self.spread.T @ weights)[self._at.ravel()]
        self.gather: Any = (scipy.sparse.diags_array(shares) @ self.spread).T.tocsr()
        """The weighted mean from both sides at the points, from values at all places."""
        reference = differentiation_matrix(0.0, 1.0, degree)
        first, second = (
            scipy.sparse.csr_array(scipy.sparse.block_diag(blocks)) @ self.spread
            for blocks in ([reference / h for h in lengths], [reference @ reference / h**2 for h in lengths])
        )
        self.local: dict[int, Any] = {
            0: self.spread,
            1: first,
            2: (second + self._mend(first, lengths)).tocsr(),
        }
        """The value and its derivatives at all places, from the values at the points."""
        self.derivatives = {order: (self.gather @ self.local[order]).tocsr() for order in (1, 2)}

    def _mend(self, first: Any, lengths: np.ndarray) -> Any:
        """s at both sides of each shared point."""
        degree, elements = self.degree, self.elements
        wrapped = len(self.points) == elements * degree
        left = np.arange(elements if wrapped else elements - 1)
        right = (left + 1) % elements
        low, high = left * (degree + 1) + degree, right * (degree + 1)
        size = 2 * degree**2 / (lengths[left] + lengths[right])
        rows = np.concatenate([low, low, high, high])
        columns = np.concatenate([high, low, high, low])
        values = np.concatenate([size, -size, size, -size])
        total = (len(self.spread.indices),) * 2
        return scipy.sparse.coo_array((values, (rows, columns)), shape=total).tocsr() @ first

    def interpolation(self, targets: Float[np.ndarray, "targets"]) -> Float[np.ndarray, "targets nodes"]:
        """Values at the points ↦ values of the interpolant at the targets."""
        matrix = np.zeros((len(targets), len(self.points)))
        owner = np.clip(np.searchsorted(self.edges, targets, side="right") - 1, 0, self.elements - 1)
        for number in range(self.elements):
            rows = np.flatnonzero(owner == number)
            if len(rows):
                own = interpolation_matrix(self._nodes[number], targets[rows])
                np.add.at(matrix, (rows[:, None], self._at[number][None]), own)
        return matrix

    def tail(self, values: Float[np.ndarray, "times nodes"]) -> float:
        """The largest of the last Chebyshev coefficients of the elements, relative to the largest value.

        The very last one is left out, as the coefficients of even or odd functions alternate with zeros.
        """
        coefficients = np.asarray(scipy.fft.dct(values[:, self._at], type=1, axis=-1))
        worst = float(np.abs(coefficients[..., -3:-1]).max()) / self.degree
        return worst / max(float(np.abs(values).max()), 1e-300)
