"""ESDIRK4(3)6L[2]SA (Kennedy and Carpenter, 2003): implicit steps of order 4, one matrix for all stages.

The system says how a stage is solved; here are coefficients, step control, and values between steps.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from ..errors import NoReferenceError
from ..machine.background import raise_if_abandoned

GAMMA = 0.25

NODES = np.array([0, 1 / 2, 83 / 250, 31 / 50, 17 / 20, 1])

MATRIX = np.zeros((6, 6))
MATRIX[1, :2] = 1 / 4, 1 / 4
MATRIX[2, :3] = 8611 / 62500, -1743 / 31250, 1 / 4
MATRIX[3, :4] = 5012029 / 34652500, -654441 / 2922500, 174375 / 388108, 1 / 4
MATRIX[4, :5] = (
    15267082809 / 155376265600,
    -71443401 / 120774400,
    730878875 / 902184768,
    2285395 / 8070912,
    1 / 4,
)
MATRIX[5] = 82889 / 524892, 0, 15625 / 83664, 69875 / 102672, -2260 / 8211, 1 / 4

EMBEDDED = np.array(
    [
        4586570599 / 29645900160,
        0,
        178811875 / 945068544,
        814220225 / 1159782912,
        -3700637 / 11593932,
        61727 / 225920,
    ]
)

_SHORTEST = 1e-11


@runtime_checkable
class Stages(Protocol):
    """M y′ = R(t, y), as the integrator sees it."""

    def slope(self, time: float, state: np.ndarray) -> np.ndarray:
        """y′ at the start."""
        ...

    def solve(
        self, time: float, known: np.ndarray, guess: np.ndarray, shift: float, tolerance: float
    ) -> np.ndarray | None:
        """y with y = known + shift · y′(time, y); None where Newton's method fails."""
        ...

    def size(self, change: np.ndarray, state: np.ndarray) -> float:
        """A change relative to the state."""
        ...


def advance(
    system: Stages,
    state: np.ndarray,
    times: np.ndarray,
    breaks: list[float],
    tolerance: float,
    longest: float,
) -> np.ndarray:
    """The states at given times, from the first of them to the last; steps end at breaks."""
    result = np.empty((len(times), len(state)))
    result[0] = state
    time, end = float(times[0]), float(times[-1])
    stops = [*sorted(b for b in breaks if time < b < end), end]
    step, slope, filled = (end - time) * 1e-4, system.slope(time, state), 1
    while time < end:
        raise_if_abandoned()
        stop = next(s for s in stops if s > time)
        step = min(step, longest)
        if time + 1.01 * step >= stop:
            step = stop - time
        if step < _SHORTEST * (end - times[0]):
            raise NoReferenceError(f"The finite-element solution cannot be continued beyond t = {time:.6g}.")
        found = _step(system, time, state, slope, step, tolerance)
        if found is None:
            step /= 4
            continue
        new, last, error = found
        if error <= 1:
            following = stop if time + step >= stop else time + step
            while filled < len(times) and times[filled] <= following * (1 + 1e-15):
                share = (times[filled] - time) / step
                result[filled] = _between(share, step, state, slope, new, last)
                filled += 1
            time, state = following, new
            slope = system.slope(time, state) if time in stops and time < end else last
        factor = min(4.0, max(0.2, 0.85 * max(error, 1e-10) ** -0.25))
        if not 1 <= factor <= 1.4:  # a new length takes a new matrix
            step *= factor
    return result


def _step(
    system: Stages, time: float, state: np.ndarray, slope: np.ndarray, step: float, tolerance: float
) -> tuple[np.ndarray, np.ndarray, float] | None:
    slopes = [slope]
    new = state
    for k in range(1, 6):
        known = state + step * sum(a * s for a, s in zip(MATRIX[k, :k], slopes, strict=True))
        guess = known + step * GAMMA * slopes[-1] if k > 1 else known + step * GAMMA * slope
        found = system.solve(time + NODES[k] * step, known, guess, step * GAMMA, tolerance)
        if found is None:
            return None
        new = found
        slopes.append((new - known) / (step * GAMMA))
    gap = step * np.tensordot(np.subtract(MATRIX[5], EMBEDDED), np.stack(slopes), 1)
    return new, slopes[-1], system.size(gap, new) / tolerance


def _between(
    share: float, step: float, old: np.ndarray, slope: np.ndarray, new: np.ndarray, last: np.ndarray
) -> np.ndarray:
    """Hermite's cubic through two states and their slopes."""
    s = share
    return (
        (1 + 2 * s) * (1 - s) ** 2 * old
        + s * (1 - s) ** 2 * step * slope
        + s * s * (3 - 2 * s) * new
        - s * s * (1 - s) * step * last
    )
