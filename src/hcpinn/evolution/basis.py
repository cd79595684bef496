"""Orthonormal bases along one axis: points, weights, and functions with their derivatives there."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..problem.shapes.curve import gauss_panels
from .features import Layer, Layers

_PER_PANEL = 12


@dataclass(frozen=True)
class Basis:
    """Functions Q orthonormal in the weighted sum over points: Qᵀ W Q = 1."""

    layer: Layer
    points: np.ndarray
    weights: np.ndarray
    values: tuple[np.ndarray, ...]
    """Q, Q′, … at the points."""

    @property
    def rank(self) -> int:
        return self.values[0].shape[1]

    @property
    def test(self) -> np.ndarray:
        """Qᵀ W, by which a function is projected."""
        return (self.values[0] * self.weights[:, None]).T

    def filled(self, rank: int) -> Basis:
        """With functions that are zero, up to a rank."""
        missing = ((0, 0), (0, rank - self.rank))
        layer = dataclasses.replace(self.layer, mix=np.pad(self.layer.mix, missing))
        return Basis(layer, self.points, self.weights, tuple(np.pad(v, missing) for v in self.values))


@dataclass(frozen=True)
class Bases:
    """The bases of all components along one axis, at the same points and filled up to the same rank.

    Arrays have the component as their first axis where there are several bases, and lack it where there is
    one for all.
    """

    kinds: tuple[Basis, ...]
    of: tuple[int, ...]
    """Which each component has."""

    @classmethod
    def join(cls, kinds: Sequence[Basis], of: Sequence[int]) -> Bases:
        """Bases of any ranks."""
        rank = max(basis.rank for basis in kinds)
        return cls(tuple(b if b.rank == rank else b.filled(rank) for b in kinds), tuple(of))

    def __getitem__(self, component: int) -> Basis:
        return self.kinds[self.of[component]]

    @property
    def points(self) -> np.ndarray:
        return self.kinds[0].points

    @property
    def weights(self) -> np.ndarray:
        return self.kinds[0].weights

    @property
    def rank(self) -> int:
        return self.kinds[0].rank

    @property
    def layers(self) -> Layers:
        """The functions, for any place."""
        return Layers(tuple(b.layer for b in self.kinds), self.of)

    @cached_property
    def values(self) -> tuple[np.ndarray, ...]:
        """Q, Q′, … at the points."""
        return tuple(self._stacked(each) for each in zip(*(b.values for b in self.kinds), strict=True))

    @cached_property
    def test(self) -> np.ndarray:
        """Qᵀ W."""
        return self._stacked([b.test for b in self.kinds])

    def _stacked(self, each: Sequence[np.ndarray]) -> np.ndarray:
        return each[0] if len(each) == 1 else np.stack([each[kind] for kind in self.of])


def quadrature(
    count: int, low: float, high: float, *, periodic: bool, density: tuple[np.ndarray, np.ndarray] | None
) -> tuple[np.ndarray, np.ndarray]:
    """About `count` points and weights: even along a periodic axis, else Gauss panels of equal density."""
    if density is None and periodic:
        return low + (high - low) * np.arange(count) / count, np.full(count, (high - low) / count)
    panels = max(-(-count // _PER_PANEL), 4)
    ends = np.linspace(low, high, panels + 1)
    if density is not None:
        x, values = density
        mass = np.concatenate([[0.0], np.cumsum((values[1:] + values[:-1]) / 2 * np.diff(x))])
        ends = np.interp(np.linspace(0, mass[-1], panels + 1), mass, x)
        ends[0], ends[-1] = low, high
    return gauss_panels(ends, _PER_PANEL)


def refined(bases: Bases) -> Bases:
    """The same functions at about twice as many other points."""
    return Bases(tuple(_refined(basis) for basis in bases.kinds), bases.of)


def _refined(basis: Basis) -> Basis:
    low, high = basis.layer.low, basis.layer.high
    count = len(basis.points)
    if np.ptp(basis.weights) <= 1e-12 * basis.weights[0]:
        points = low + (high - low) * (np.arange(2 * count) + 0.5) / (2 * count)
        weights = np.full(2 * count, (high - low) / (2 * count))
    else:
        nodes = np.polynomial.legendre.leggauss(_PER_PANEL)[0]
        first, last = basis.points[::_PER_PANEL], basis.points[_PER_PANEL - 1 :: _PER_PANEL]
        half = (last - first) / (nodes[-1] - nodes[0])
        middle = (first + last) / 2
        points, weights = gauss_panels(
            np.append(np.stack([middle - half, middle], 1).ravel(), high), _PER_PANEL
        )
    order = len(basis.values) - 1
    return Basis(basis.layer, points, weights, tuple(basis.layer.derivatives(points, order)))


def orthonormal(
    layer: Layer,
    points: np.ndarray,
    weights: np.ndarray,
    *,
    order: int,
    cut: float,
) -> Basis:
    """The layer with output weights that make its functions orthonormal, of numerical rank at `cut`."""
    neurons = layer.neurons(points, order)
    root = np.sqrt(weights)[:, None]
    columns, sizes, rows = np.linalg.svd(root * neurons[0], full_matrices=False)
    rank = int(np.sum(sizes > cut * sizes[0]))
    mix = rows[:rank].T / sizes[:rank]
    # Φ M carries rounding errors over σ; the left singular vectors, the same functions, do not.
    functions = columns[:, :rank] / root
    layer = dataclasses.replace(layer, mix=mix)
    factor, values = 1.0, [functions]
    for k, f in enumerate(neurons[1:], 1):
        factor *= k
        values.append(factor * (f @ mix))
    return Basis(layer, points, weights, tuple(values))
