"""What numerical error does to a fit: its solution at the estimate beside one on other samples.

Residuals that are no larger than this error say nothing of noise. The part of it that moves the estimates is
not seen then, but no larger than the whole. So with e the error of all values together, in units of the
noise, an estimate is off by at most ‖e‖ of what were its standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from ..solution import Solution

if TYPE_CHECKING:
    from .fit import _State

_BLUR, _BLURRED = 0.3, 0.1
"""Numerical error relative to the misfit from which that says nothing of noise; where it has structure."""

_ROUNDING = 1e-13
"""Relative error that any solution may have."""


@dataclass(frozen=True)
class Numerics:
    """How far the predicted values may be off."""

    change: np.ndarray
    """What another solution changes in them, in units of the noise, 0 where not compared."""
    blur: float
    """This change relative to the residuals."""
    size: float
    """The same relative to the values: their root mean squares."""
    bound: float
    """The error of all values together, in units of the noise, where the residuals are no noise."""

    def hides_noise(self, *, structure: bool) -> bool:
        """Whether the residuals are at the level of numerical error; `structure` says that they look so."""
        return self.blur > (_BLURRED if structure else _BLUR)


def compared(state: _State, solution: Solution) -> Numerics:
    """Compare the predicted values of the first experiment with those of another solution."""
    point, misfit = state.point, state.misfit
    assert point is not None
    seen = state.model.experiments[0].observation
    points = jnp.asarray(seen.data.points)
    fields = np.stack([np.asarray(solution.function.derivative(points, i)).T for i in seen.indices])
    count = len(seen.values)
    sigma, predicted = misfit.sigma[:count], point.predicted[:count]
    change = np.zeros(len(misfit.values))
    change[:count] = (seen.predict(point.z, fields) - predicted) / sigma
    left = misfit.scaled(point.predicted)
    root = np.sqrt(misfit.loss.weights(left))  # outliers say nothing here
    left, change = root * left, root * change
    size = float(np.linalg.norm(root[:count] * predicted / sigma))
    moved = max(float(np.linalg.norm(change)), _ROUNDING * size)
    # The classical solution may lie elsewhere than both.
    checked = size * (solution.verdict.error or 0.0)
    everywhere = np.sqrt(len(left) / count)
    return Numerics(
        change,
        moved / max(float(np.linalg.norm(left[:count])), 1e-300),
        moved / max(size, 1e-300),
        float(np.linalg.norm(left) + everywhere * max(moved, checked)),
    )
