"""Where F changes suddenly of its own accord: times at which steps must end, and places that need features.

F is scanned with fixed arguments along t and along each space axis, so that jumps and narrow pulses of
sources, coefficients and boundary data are found and not stepped over.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..problem import Problem
from .lift import Carrier
from .pointwise import Pointwise

_TIMES, _PLACES = 1 << 15, 1 << 12
_PROBES = 8
_MOST = 200
"""Sudden changes beyond which F oscillates throughout: that is the step control's business."""


def find_breaks(problem: Problem, pointwise: Pointwise, carrier: Carrier) -> list[float]:
    """The start, the horizon, and between them where F or ψₜ jumps and where its pulses begin and end."""
    inside: set[float] = set()
    inside |= _sudden(_along(problem, pointwise, 0), problem.start, problem.horizon, _TIMES)
    if carrier.moves:
        places = _probe_places(problem)
        inside |= _sudden(
            lambda times: carrier._moving(places, times)[-1].reshape(-1, len(times)).T,
            problem.start,
            problem.horizon,
            _PLACES,
        )
    least = 1e-9 * problem.duration
    times = [problem.start]
    for time in sorted(inside):
        if time - times[-1] > least and problem.horizon - time > least:
            times.append(time)
    return [*times, problem.horizon]


def find_places(problem: Problem, pointwise: Pointwise, axis: int) -> tuple[np.ndarray, np.ndarray] | None:
    """(positions, density) of sudden changes of F along a space axis; None if there are none."""
    low, high = problem.domain.bounds[axis]
    x = np.linspace(low, high, _PLACES + 1)
    change = _changes(_along(problem, pointwise, axis + 1)(x))
    if change is None:
        return None
    density = change * _PLACES / (high - low)
    values = np.maximum(np.append(density, density[-1]), np.insert(density, 0, density[0]))
    if values.max() < 60 / (high - low) or values.max() < 8 * values.mean():
        return None
    width = _PLACES // 200
    around = np.lib.stride_tricks.sliding_window_view(np.pad(values, width, mode="edge"), 2 * width + 1)
    return x, np.minimum(around.max(axis=1), 400 / (high - low)) + 5 / (high - low)


def _along(problem: Problem, pointwise: Pointwise, axis: int) -> Callable[[np.ndarray], np.ndarray]:
    """F with fixed arguments at probes, as a function of one coordinate: values × probes."""
    rng = np.random.default_rng(1)
    arguments = rng.uniform(-1, 1, (len(pointwise.orders), pointwise.count, _PROBES, 1))
    arguments[..., ::2, :] = np.abs(arguments[..., ::2, :]) + 0.05
    others = np.vstack(
        [np.linspace(problem.start, problem.horizon, _PROBES + 2)[1:-1], _probe_places(problem).T]
    )

    def run(values: np.ndarray) -> np.ndarray:
        count = len(values)
        at = np.repeat(others[:, :, None], count, axis=2)
        at[axis] = values
        full = np.broadcast_to(arguments, (*arguments.shape[:-1], count))
        found = pointwise(full.reshape(*full.shape[:2], -1), at.reshape(len(at), -1))
        return found.reshape(-1, count).T

    return run


def _probe_places(problem: Problem) -> np.ndarray:
    shares = np.modf(np.outer(np.arange(1, _PROBES + 1), [0.7548776662, 0.5698402910, 0.3247179572]))[0]
    low, lengths = np.asarray(problem.domain.lower), np.asarray(problem.domain.lengths)
    return low + lengths * shares[:, : len(problem.space)]


def _changes(values: np.ndarray) -> np.ndarray | None:
    """Changes from one place to the next relative to the range, the largest of all columns."""
    span = np.ptp(values, axis=0)
    moving = span > 1e-9 * np.abs(values).max(initial=1e-300)
    if not np.isfinite(values).all() or not moving.any():
        return None
    return np.max(np.abs(np.diff(values[:, moving], axis=0)) / span[moving], axis=1)


def _sudden(function: Callable[[np.ndarray], np.ndarray], begin: float, end: float, count: int) -> set[float]:
    """Jumps of a function of time, and the ends and middles of the short times in which it changes most."""
    times = np.linspace(begin, end, count + 1)
    change = _changes(function(times))
    if change is None:
        return set()
    fast = change > max(20 / count, 8 * float(change.mean()))
    if not fast.any():
        return set()
    edges = np.flatnonzero(np.diff(np.concatenate([[False], fast, [False]]).astype(int)))
    found: set[float] = set()
    for first, last in edges.reshape(-1, 2):
        if last - first <= 2:
            found |= _jump(function, float(times[max(first - 1, 0)]), float(times[min(last + 1, count)]))
        else:
            found |= {float(times[max(first - 4, 0)]), float(times[(first + last) // 2]), float(times[last])}
    return found if len(edges) <= 2 * _MOST else set()


def _jump(function: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> set[float]:
    """Where the function jumps between two times, to rounding; both ends too if it is only steep."""
    ends = {low, high}
    share = 1.0
    for _ in range(18):
        times = np.linspace(low, high, 9)
        steps = np.linalg.norm(np.diff(function(times), axis=0), axis=1)
        at = int(np.argmax(steps))
        low, high = float(times[at]), float(times[at + 1])
        share = float(steps[at] / max(steps.sum(), 1e-300))
    return {(low + high) / 2} | (ends if share < 0.5 else set())
