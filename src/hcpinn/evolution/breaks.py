"""Sudden changes in F and the data: times where steps end, places that need features."""

from __future__ import annotations

import numpy as np

from ..equation import scan
from ..problem import Problem

_PLACES = 1 << 12

_STEEPEST, _LEAST = 400.0, 5.0
"""Density around a jump, and everywhere, for an axis of length 1."""


def find_breaks(problem: Problem) -> list[float]:
    """The start, all times where F or the data jump or a pulse begins or ends, and the horizon."""
    return [problem.start, *scan(problem).time.breaks, problem.horizon]


def find_places(problem: Problem, axis: int) -> tuple[np.ndarray, np.ndarray] | None:
    """(positions, density) around sudden changes along a space axis; None if there are none."""
    features = scan(problem).space[axis].features
    if not features:
        return None
    low, high = problem.domain.bounds[axis]
    length = high - low
    around = [
        (f.begin - 2 * f.length, f.end + 2 * f.length, 1 / f.length)
        if f.length
        else (f.begin - length / 200, f.end + length / 200, _STEEPEST / length)
        for f in features
    ]
    ends = np.clip([e for begin, end, _ in around for e in (begin, end)], low, high)
    margin = 1e-6 * length
    x = np.unique(np.concatenate([np.linspace(low, high, _PLACES + 1), ends, ends - margin, ends + margin]))
    x = x[(x >= low) & (x <= high)]
    density = np.full(len(x), _LEAST / length)
    for begin, end, value in around:
        density = np.where((x >= begin) & (x <= end), np.maximum(density, value), density)
    return x, density
