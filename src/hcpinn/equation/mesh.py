"""A line cut so finely that nothing a function does on it is hidden between two cuts.

A cell is cut further where the function's bounds over it reach well beyond its values at both ends, and where
it changes much, or far more than next door. What remains are jumps, between neighbouring numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .bounds import Real

_FIRST, _DENSE = 2048, 16384
"""Cells to begin with, and where values are known without bounds."""

_PARTS = 8
"""Into which a cell is cut."""

_MOST, _AT_ONCE = 60_000, 4096
"""Most cells, and most that are cut in one round."""

_CHANGE, _AREA, _SMALL = 0.1, 3e-5, 1e-5
"""Largest change in a cell, relative to the function's range; largest area that may hide in one, relative to
that under the function; and the smallest change that counts as a jump."""

_QUICK = 250.0
"""A feature is a change by its whole range within less than the line over this."""

CROWD = 64
"""Features of one function beyond which it oscillates, unless more are asked for."""


@dataclass(frozen=True)
class Feature:
    """A jump or kink, where begin = end, or a short stretch in which a function changes much."""

    begin: float
    end: float
    length: float
    """The length on which the function would change by its range; 0 for a jump."""

    @property
    def middle(self) -> float:
        return (self.begin + self.end) / 2


@dataclass(frozen=True)
class Mesh:
    """Cuts of a line, and by how much of its range each of some functions changes from cut to cut."""

    edges: np.ndarray
    changes: np.ndarray
    """Functions × cells."""
    areas: np.ndarray
    """What part of the area under each function lies above each cell."""

    def features(self, most: int = CROWD) -> list[list[Feature]]:
        """For each function its sudden changes; none for one that has more than so many."""
        return [self._features(row, most) for row in self.changes]

    def _features(self, changes: np.ndarray, most: int) -> list[Feature]:
        widths = np.diff(self.edges)
        span = self.edges[-1] - self.edges[0]
        least = _least(self.edges[0], self.edges[-1])
        jumps = (widths <= 16 * least) & (changes > _SMALL)
        quick = (changes > _SMALL) & (widths * _QUICK < span * changes) & ~jumps
        found = [Feature(float(x), float(x), 0.0) for x in _centres(self.edges, jumps)]
        if len(found) > most:
            return []
        for first, last in _runs(quick):
            length = float(np.min(widths[first:last] / changes[first:last]))
            begin, end = float(self.edges[first]), float(self.edges[last])
            before = found[-1] if found and found[-1].length else None
            if before and begin - before.end < 3 * (end - begin + before.end - before.begin):
                found[-1] = Feature(before.begin, end, min(length, before.length))
            else:
                found.append(Feature(begin, end, length))
        # What is quick for long is no feature, but a matter of step lengths.
        return [f for f in found if f.end - f.begin < span / 4] if len(found) <= most else []


def cut(
    evaluate: Callable[[np.ndarray, np.ndarray], Real], low: float, high: float, *, blind: bool = False
) -> Mesh:
    """Cut [low, high] until `evaluate(from, to)`, bounds functions × cells, hides nothing any more.

    `blind` says that the bounds are only values at the ends and in the middle.
    """
    first = _DENSE if blind else _FIRST
    edges = np.linspace(low, high, first + 1)
    points = evaluate(edges, edges)
    cells = evaluate(edges[:-1], edges[1:])
    least = _least(low, high)
    active = np.ones(len(points.low), bool)
    while len(edges) <= _MOST:
        each = _wanted(edges, points, cells) & (np.diff(edges) > 8 * least)
        if len(edges) > 4 * first:  # bounds so wide all along say nothing: rounding, or a long cancellation
            active &= each.mean(axis=1) < 0.5
        wanted = np.any(each[active], axis=0)
        if not wanted.any():
            break
        chosen = np.flatnonzero(wanted)
        if len(chosen) > _AT_ONCE:
            chosen = chosen[:: -(-len(chosen) // _AT_ONCE)]
        shares = np.arange(_PARTS + 1) / _PARTS
        fine = edges[chosen, None] + shares * (edges[chosen + 1] - edges[chosen])[:, None]
        fine[:, -1] = edges[chosen + 1]
        inner = fine[:, 1:-1].ravel()
        new_points = evaluate(inner, inner)
        new_cells = evaluate(fine[:, :-1].ravel(), fine[:, 1:].ravel())
        order = np.argsort(np.concatenate([edges, inner]), kind="stable")
        starts = np.concatenate([np.delete(edges[:-1], chosen), fine[:, :-1].ravel()])
        cell_order = np.argsort(starts, kind="stable")
        points = _merged(points, new_points, order)
        kept = Real(*(np.delete(c, chosen, axis=1) for c in cells))
        cells = _merged(kept, new_cells, cell_order)
        edges = np.concatenate([edges, inner])[order]
    return Mesh(edges, _relative(points, _range(points, cells)), _areas(edges, points))


def _merged(old: Real, new: Real, order: np.ndarray) -> Real:
    return Real(*(np.concatenate(pair, axis=1)[:, order] for pair in zip(old, new, strict=True)))


def _wanted(edges: np.ndarray, points: Real, cells: Real) -> np.ndarray:
    """Which cells each function wants cut."""
    widths = np.diff(edges)
    size = _range(points, cells)
    with np.errstate(all="ignore"):
        over = np.maximum(cells.high - np.maximum(points.high[:, :-1], points.high[:, 1:]), 0)
        under = np.maximum(np.minimum(points.low[:, :-1], points.low[:, 1:]) - cells.low, 0)
        hidden = np.minimum(np.nan_to_num(over + under, nan=np.inf, posinf=np.inf), size[:, None])
        area = _heights(points) @ widths
        # A pulse that no sample has met has no area yet.
        area = np.maximum(area, 1e-15 * size * (edges[-1] - edges[0]))
        change = _relative(points, size)
        pair = np.pad(change / widths, ((0, 0), (1, 1)), mode="edge")
        usual = np.maximum(pair[:, :-2], pair[:, 2:]) * widths
        odd = (change > 8 * usual) & (change > _SMALL)
        wanted = (hidden * widths > _AREA * area[:, None]) | (hidden > _CHANGE * size[:, None])
        wanted = (wanted | (change > _CHANGE) | odd) & (size > 0)[:, None]
    return wanted


def _heights(points: Real) -> np.ndarray:
    """The mean height of each function above each cell; 0 where it is infinite."""
    height = np.nan_to_num(np.maximum(np.abs(points.low), np.abs(points.high)), posinf=0.0)
    return (height[:, :-1] + height[:, 1:]) / 2


def _areas(edges: np.ndarray, points: Real) -> np.ndarray:
    with np.errstate(all="ignore"):
        areas = _heights(points) * np.diff(edges)
        return np.nan_to_num(areas / areas.sum(axis=1, keepdims=True), posinf=0.0)


def _relative(points: Real, size: np.ndarray) -> np.ndarray:
    """Changes from point to point, relative to the range; 0 where they are not finite."""
    with np.errstate(all="ignore"):
        steps = np.maximum(np.abs(np.diff(points.low, axis=1)), np.abs(np.diff(points.high, axis=1)))
        return np.nan_to_num(steps / np.where(size > 0, size, 1.0)[:, None], nan=0.0, posinf=0.0)


def _range(points: Real, cells: Real) -> np.ndarray:
    """Highest less lowest bound of each function, infinities left out; 0 for one that only rounding moves."""
    with np.errstate(all="ignore"):
        high = np.where(np.isfinite(cells.high), cells.high, -np.inf).max(axis=1)
        low = np.where(np.isfinite(cells.low), cells.low, np.inf).min(axis=1)
        size = np.where(np.isfinite(high - low), high - low, 0.0)
        return np.where(size > 1e-12 * np.maximum(np.abs(high), np.abs(low)), size, 0.0)


def _least(low: float, high: float) -> float:
    """The distance of neighbouring floating-point numbers on the line."""
    return float(np.spacing(max(abs(low), abs(high))))


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    steps = np.diff(np.concatenate([[False], flags, [False]]).astype(int))
    return list(zip(np.flatnonzero(steps == 1).tolist(), np.flatnonzero(steps == -1).tolist(), strict=True))


def _centres(edges: np.ndarray, jumps: np.ndarray) -> list[float]:
    """One place for each run of jumping cells."""
    return [float(edges[a] + edges[b]) / 2 for a, b in _runs(jumps)]
