"""What a comparison on a grid cannot see: layers before its first time, wiggles between its places."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..objective import sampling
from ..problem import Problem
from ..reference import Reference

_POINTS = 2048
"""At which the first moments are looked at."""

_TIMES = 9
"""At how many times the space between the places of a grid is looked at."""


def start_error(
    squares: Callable[[np.ndarray], np.ndarray], problem: Problem, until: float, size: float
) -> float:
    """The relative error that a residual makes before the time `until`, by Cauchy and Schwarz.

    ‖∫ r dt‖ ≤ length · rms(r), over the size of the solution. `squares(points)` is |r|²; the points crowd
    towards the start.
    """
    points = sampling.interior(problem, _POINTS, seed=0, purpose="early")
    share = (points[:, 0] - problem.start) / problem.duration
    length = until - problem.start
    points[:, 0] = problem.start + length * share**2
    mean = np.average(squares(points), weights=share)
    return float(length * np.sqrt(mean) / max(size, 1e-300))


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
            size = max(float(np.sqrt(np.nanmean(np.abs(values[picks]) ** 2))), 1e-300)
            gap = between[name] - _cubic(values[picks], axis, 1)
            own = reference.values[name][picks]
            known = _middle(own, axis) - _cubic(own, axis, 2)
            # On the grid of a curved domain there are no values outside.
            found, usual = (float(np.sqrt(np.nanmean(np.abs(d) ** 2))) / size for d in (gap, known))
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
