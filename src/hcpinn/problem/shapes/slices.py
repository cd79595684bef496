"""A region of the plane in vertical slices: cells between two curves, to integrate over and spread points.

Between two neighbouring abscissae at which some curve begins, ends or turns back, the region is a number of
cells {a < x < b, lower(x) < y < upper(x)}. Gauss points in both directions integrate to rounding; where a
curve turns, x goes like the square of its parameter.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .curve import Curve, gauss_panels

_LEAST = 6
"""Gauss points across a cell."""

_LEVELS = 7
"""How often cells are halved towards a re-entrant corner."""


@dataclass(frozen=True, eq=False)
class Cell:
    """a < x < b between two curves."""

    begin: float
    end: float
    lower: Curve
    upper: Curve
    turns: tuple[bool, bool]
    """Whether a curve turns back at or near the left end, the right one."""

    def across(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x and dx/du for 0 ≤ u ≤ 1."""
        width = self.end - self.begin
        if self.turns == (False, False):
            return self.begin + width * u, np.full_like(u, width)
        if self.turns == (True, True):
            return self.begin + width * u * u * (3 - 2 * u), 6 * width * u * (1 - u)
        if self.turns[0]:
            return self.begin + width * u * u, 2 * width * u
        return self.end - width * (1 - u) ** 2, 2 * width * (1 - u)

    def heights(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """y of the lower and the upper curve."""
        return self.lower.height(x), self.upper.height(x)

    def mapped(self, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points and the Jacobian at (u, v) in the unit square."""
        x, slope = self.across(u)
        low, high = self.heights(x)
        return np.stack([x, low + v * (high - low)], axis=1), slope * (high - low)

    @cached_property
    def area(self) -> float:
        u, w = gauss_panels(np.linspace(0, 1, 3), 24)
        return float(self.mapped(u, 0 * u)[1] @ w)


class Slices:
    """The cells of a region."""

    def __init__(self, pieces: Sequence[Curve], corners: Sequence[np.ndarray] = ()):
        """`corners` are places towards which quadrature crowds."""
        self.corners = [np.asarray(c) for c in corners]
        straight: list[Curve] = []
        for piece in pieces:
            cuts = np.concatenate([[0.0], piece.turns(), [1.0]])
            whole = len(cuts) == 2
            straight += [piece if whole else piece.between(a, b) for a, b in itertools.pairwise(cuts)]
        ends = np.array([c.at(np.array([0.0, 1.0]))[:, 0] for c in straight])
        size = float(np.ptp(ends))
        places = np.sort(ends.ravel())
        places = places[np.concatenate([[True], np.diff(places) > 1e-9 * size])]
        self.cells: list[Cell] = []
        for a, b in itertools.pairwise(places):
            middle = (a + b) / 2
            here = [c for c, (p, q) in zip(straight, ends, strict=True) if min(p, q) < middle < max(p, q)]
            here.sort(key=lambda c: float(c.height(np.array([middle]))[0]))
            for pair in zip(here[::2], here[1::2], strict=True):
                turns = [any(_steep(c, end, (b - a) / 64) for c in pair) for end in (a, b)]
                self.cells.append(Cell(float(a), float(b), *pair, (turns[0], turns[1])))

    @cached_property
    def area(self) -> float:
        return sum(cell.area for cell in self.cells)

    def quadrature(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """About `count` points, at least a few per cell, and their weights."""
        spacing = np.sqrt(self.area / max(count, 1))
        points, weights = [], []
        for cell in self.cells:
            for box in self._boxes(cell):
                p, w = self._tensor(cell, box, spacing)
                points.append(p)
                weights.append(w)
        found = np.concatenate(weights)
        kept = found > 0  # a cell as thin as rounding has none
        return np.concatenate(points)[kept], found[kept]

    def _tensor(self, cell: Cell, box: np.ndarray, spacing: float) -> tuple[np.ndarray, np.ndarray]:
        (u0, u1), (v0, v1) = box
        ends, _ = cell.across(np.array([u0, u1]))
        tall = cell.area / (cell.end - cell.begin) * (v1 - v0)
        least = _LEAST if np.ptp(box, axis=1).max() > 0.999 else 4
        counts = [max(least, int(np.ceil(length / spacing))) for length in (float(np.ptp(ends)), tall)]
        (u, wu), (v, wv) = (
            gauss_panels(np.array(e), n) for e, n in zip(((u0, u1), (v0, v1)), counts, strict=True)
        )
        where, jacobian = cell.mapped(np.repeat(u, len(v)), np.tile(v, len(u)))
        return where, jacobian * np.repeat(wu, len(v)) * np.tile(wv, len(u))

    def _boxes(self, cell: Cell) -> list[np.ndarray]:
        """The unit square, divided towards corners that the cell touches."""
        touched = [(float(end), v) for c in self.corners for end, v in self._touch(cell, c)]
        boxes = [np.array([[0.0, 1.0], [0.0, 1.0]])]
        for _, v in touched:
            if 1e-6 < v < 1 - 1e-6:
                boxes = [
                    np.array([box[0], pair])
                    for box in boxes
                    for pair in ([box[1][0], v], [v, box[1][1]])
                    if pair[0] < pair[1]
                ]
        for _ in range(_LEVELS if touched else 0):
            boxes = [small for box in boxes for small in (_quarters(box) if _at(box, touched) else [box])]
        return boxes

    @staticmethod
    def _touch(cell: Cell, corner: np.ndarray) -> list[tuple[int, float]]:
        found = []
        for end, x in enumerate((cell.begin, cell.end)):
            low, high = (float(h[0]) for h in cell.heights(np.array([x])))
            near = 1e-9 * (abs(cell.end - cell.begin) + abs(high - low))
            if abs(corner[0] - x) <= near and low - near <= corner[1] <= high + near and high > low:
                found.append((end, float(np.clip((corner[1] - low) / (high - low), 0, 1))))
        return found

    def inside(self, unit: np.ndarray) -> np.ndarray:
        """Points of the unit square ↦ points of the region, area for area."""
        x = np.interp(unit[:, 0], self._share, self._places)
        points = np.empty_like(unit)
        points[:, 0] = x
        places = sorted({c.begin for c in self.cells} | {c.end for c in self.cells})
        slot = np.clip(np.searchsorted(places, x, side="right") - 1, 0, len(places) - 2)
        for k in np.unique(slot):
            here = slot == k
            cells = [c for c in self.cells if c.begin == places[k]]
            pairs = np.array([c.heights(x[here]) for c in cells])  # cells × 2 × points
            heights = np.maximum(pairs[:, 1] - pairs[:, 0], 0)
            total = np.cumsum(heights, axis=0)
            way = unit[here, 1] * total[-1]
            which = np.minimum((way[None] > total).sum(0), len(cells) - 1)
            at = np.arange(int(here.sum()))
            before = total[which, at] - heights[which, at]
            points[here, 1] = np.clip(
                pairs[which, 0, at] + way - before, pairs[which, 0, at], pairs[which, 1, at]
            )
        return points

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        places, mass = [], [np.zeros(1)]
        for begin in sorted({c.begin for c in self.cells}):
            cells = [c for c in self.cells if c.begin == begin]
            x = np.linspace(begin, cells[0].end, 65)
            middle = (x[1:] + x[:-1]) / 2
            heights = sum((c.heights(middle)[1] - c.heights(middle)[0] for c in cells), np.zeros(64))
            mass.append(mass[-1][-1] + np.cumsum(heights * np.diff(x)))
            places.append(x if not places else x[1:])
        return np.concatenate(places), np.concatenate(mass)

    @property
    def _places(self) -> np.ndarray:
        return self._table[0]

    @property
    def _share(self) -> np.ndarray:
        return self._table[1] / self._table[1][-1]


def _steep(curve: Curve, x: float, step: float) -> bool:
    """Whether a curve is turning back near x, so that its height goes like a square root there."""
    if curve.chords == 1:
        return False
    near = np.clip([x - step, x + step], *sorted(curve.at(np.array([0.0, 1.0]))[:, 0]))
    low, high = curve.height(near)
    return abs(high - low) > 2 * abs(near[1] - near[0])


def _quarters(box: np.ndarray) -> list[np.ndarray]:
    (a, b), (c, d) = box
    m, n = (a + b) / 2, (c + d) / 2
    return [np.array([x, y]) for x in ([a, m], [m, b]) for y in ([c, n], [n, d])]


def _at(box: np.ndarray, places: Sequence[tuple[float, float]]) -> bool:
    return any(
        box[0][0] - 1e-12 <= u <= box[0][1] + 1e-12 and box[1][0] - 1e-12 <= v <= box[1][1] + 1e-12
        for u, v in places
    )
