"""What a comparison on a grid cannot see: layers before its first time, wiggles between its places."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..problem import Problem
from ..reference import Reference

_TIMES = 9
"""At how many times the space between the places of a grid is looked at."""


def early_points(points: np.ndarray, problem: Problem, until: float) -> tuple[np.ndarray, np.ndarray]:
    """Points moved into the time before `until`, crowded towards the start, and their shares of a mean."""
    share = (points[:, 0] - problem.start) / problem.duration
    moved = points.copy()
    moved[:, 0] = problem.start + (until - problem.start) * share**2
    return moved, 2 * share / np.sum(2 * share)


def early_error(squares: np.ndarray, shares: np.ndarray, length: float, size: float) -> float:
    """The relative error that a residual makes in the first `length` of time, by Cauchy and Schwarz.

    ‖∫ r dt‖ ≤ length · rms(r), over the size of the solution.
    """
    return float(length * np.sqrt(np.sum(shares * squares)) / max(size, 1e-300))


def wiggles(
    evaluate: Callable[..., Mapping[str, np.ndarray]],
    predicted: Mapping[str, np.ndarray],
    reference: Reference,
) -> float:
    """By how much the solution leaves, between the places of a grid, the curve through its values there.

    Relative, root mean square, for the worst axis and field; zero where the reference, on every other
    place of its grid, bends as much. `evaluate(times, x, …)` gives the solution on a grid.
    """
    picks = np.unique(np.linspace(0, len(reference.times) - 1, _TIMES).round().astype(int))
    worst = 0.0
    for axis, places in enumerate(reference.coordinates, start=1):
        if len(places) < 9:
            continue
        middle = list(reference.coordinates)
        middle[axis - 1] = (places[1:-2] + places[2:-1]) / 2
        between = evaluate(reference.times[picks], *middle)
        for name, values in predicted.items():
            size = max(float(np.sqrt(np.mean(np.abs(values[picks]) ** 2))), 1e-300)
            gap = between[name] - _cubic(values[picks], axis, 1)
            own = reference.values[name][picks]
            known = _middle(own, axis) - _cubic(own, axis, 2)
            found, usual = (float(np.sqrt(np.mean(np.abs(d) ** 2))) / size for d in (gap, known))
            if found > usual:
                worst = max(worst, found)
    return worst


def _cubic(values: np.ndarray, axis: int, stride: int) -> np.ndarray:
    """Half way between neighbours `stride` apart: the cubic through four values."""
    v = np.moveaxis(values, axis, 0)[::stride]
    return np.moveaxis((-v[:-3] + 9 * v[1:-2] + 9 * v[2:-1] - v[3:]) / 16, 0, axis)


def _middle(values: np.ndarray, axis: int) -> np.ndarray:
    """The values that `_cubic` with stride 2 stands for."""
    v = np.moveaxis(values, axis, 0)
    count = len(v[::2]) - 3
    return np.moveaxis(v[3::2][:count], 0, axis)
