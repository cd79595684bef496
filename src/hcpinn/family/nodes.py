"""Interpolation in the parameters: Newton polynomials on Leja points, in several parameters on sparse grids.

A grid is a set of multi-indices α that holds with each index all smaller ones; its nodes are
(y_α₁, y_α₂, …) with Leja points y₀, y₁, … ∈ [−1, 1], which cluster at the ends as Chebyshev's do and can be
added one at a time. With the Newton polynomials hₙ(y) = Π_{k<n} (y − yₖ)/(yₙ − yₖ) and hα = Π hα_d, the
interpolant is Σ sα hα(y), and the surplus sα is the error that the interpolant had at node α before: every
new node tests the interpolation, and then improves it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import cache, cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np

MOST = 80
"""Leja points per parameter."""

Multi = tuple[int, ...]


@cache
def leja() -> np.ndarray:
    """0, 1, −1, and then always where the product of distances to all before is largest."""
    places = np.cos(np.pi * np.arange(20001) / 20000)
    found = [0.0]
    size = np.log(np.abs(places) + 1e-300)
    while len(found) < MOST:
        found.append(float(places[np.argmax(size)]))
        size += np.log(np.abs(places - found[-1]) + 1e-300)
    return np.array(found)


class Grid:
    """Nodes in the cube [−1, 1]ᵈ, in an order in which every beginning is a grid too."""

    def __init__(self, indices: Iterable[Multi]):
        self.indices = np.array(sorted(indices, key=lambda i: (sum(i), i)), int)

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def dimension(self) -> int:
        return self.indices.shape[1]

    @cached_property
    def nodes(self) -> np.ndarray:
        """Nodes × parameters."""
        return leja()[self.indices]

    @cached_property
    def to_surpluses(self) -> np.ndarray:
        """Values at the nodes ↦ surpluses: the inverse of the triangular matrix hα(y_β)."""
        return np.linalg.inv(np.asarray(self._newton(self.nodes, np)))

    def _newton(self, places: Any, xp: Any) -> Any:
        """hα at places × parameters: places × nodes."""
        points, total = leja(), None
        for axis in range(self.dimension):
            most = int(self.indices[:, axis].max())
            scales = [np.prod(2 * (points[n] - points[:n])) for n in range(most + 1)]
            distances = 2 * (places[:, axis : axis + 1] - points[:most])
            products = xp.concatenate([xp.ones_like(places[:, :1]), xp.cumprod(distances, axis=1)], axis=1)
            along = (products / np.array(scales))[:, self.indices[:, axis]]
            total = along if total is None else total * along
        return total

    def surpluses(self, values: np.ndarray) -> np.ndarray:
        """What every node has added to the interpolant of those before: nodes × …."""
        return np.tensordot(self.to_surpluses, values, 1)

    def weights(self, places: Any) -> Any:
        """What each node's value counts for at places × parameters: places × nodes; traceable."""
        xp = np if isinstance(places, np.ndarray) else jnp
        return self._newton(places, xp) @ self.to_surpluses

    def ahead(self, within: int = 1) -> list[Multi]:
        """The indices that may be added: all smaller ones are there, or are added too.

        In one parameter they are the next `within`.
        """
        known = {tuple(map(int, i)) for i in self.indices}
        if self.dimension == 1:
            return [(n,) for n in range(len(known), min(len(known) + within, MOST))]
        found = set()
        for index in known:
            for axis in range(self.dimension):
                new = (*index[:axis], index[axis] + 1, *index[axis + 1 :])
                if new not in known and new[axis] < MOST and all(b in known for b in _below(new)):
                    found.add(new)
        return sorted(found)

    def grown(self, more: Iterable[Multi]) -> Grid:
        """The grid with further nodes."""
        return Grid([*map(tuple, self.indices.tolist()), *more])


def first_grid(dimension: int) -> Grid:
    """Where one begins: five nodes in one parameter, else all indices up to a sum of two."""
    if dimension == 1:
        return Grid([(n,) for n in range(5)])
    some = itertools.product(range(3), repeat=dimension)
    return Grid([i for i in some if sum(i) <= (2 if dimension <= 4 else 1)])


def _below(index: Multi) -> list[Multi]:
    """The next smaller indices."""
    return [(*index[:a], index[a] - 1, *index[a + 1 :]) for a in range(len(index)) if index[a]]
