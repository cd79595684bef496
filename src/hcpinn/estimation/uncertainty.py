"""How well data determine z: covariance, directions that are free, and the likelihood's profile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .layout import Layout
from .model import Model
from .search import Misfit, Point, descend

_FREE = 0.5
"""Standard deviation along a direction of z, in powers of e or typical sizes, that counts as free."""

_BLIND = 3e-6
"""Slopes so much smaller than the largest are numerical error."""

_SHARE = 0.1
"""An unknown whose part in a free direction is larger than this is not determined."""

_STRAIGHT = 0.25
"""How far the likelihood may be from a parabola, at the ends of the interval, for that to serve."""


@dataclass(frozen=True)
class Spread:
    """The covariance of z and its free directions."""

    covariance: np.ndarray
    free: tuple[np.ndarray, ...]
    """Unit vectors in the numbers of z along which the data say next to nothing."""

    @property
    def errors(self) -> np.ndarray:
        """Standard deviations of the entries of z."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def correlations(self) -> np.ndarray:
        """The correlation matrix."""
        errors = np.maximum(self.errors, 1e-300)
        return self.covariance / np.outer(errors, errors)

    def determined(self, entry: int) -> bool:
        """Whether the data determine an entry of z."""
        return not any(abs(v[entry]) > _SHARE for v in self.free)


def spread(jacobian: np.ndarray, *, least: float, numbers: int, inflation: float = 1.0) -> Spread:
    """The covariance (JᵀJ)⁻¹ of rows in units of the noise.

    Singular values up to `least` are numerical error: nothing is seen along their directions. The first
    `numbers` entries of z are numbers; only they count as free here.
    """
    _, sizes, rows = np.linalg.svd(jacobian, full_matrices=True)
    sizes = np.concatenate([sizes, np.zeros(len(rows) - len(sizes))])
    # One standard deviation along a direction moves predictions by one in all, if the noise is all there is.
    seen = np.where(sizes > least, sizes / np.sqrt(inflation), 1e-6)
    covariance = (rows.T / seen**2) @ rows
    variances, directions = np.linalg.eigh(covariance[:numbers, :numbers])
    free = np.flatnonzero(variances > _FREE**2)[::-1]
    return Spread(covariance, tuple(directions[:, i] for i in free))


def blindness(jacobian: np.ndarray, error: float) -> float:
    """The singular values of slopes that numerical error can make; `error` is that of all predictions."""
    return max(_BLIND * float(np.linalg.norm(jacobian, 2)), error * _FREE)


def combination(layout: Layout, z: np.ndarray, direction: np.ndarray) -> str:
    """A direction of z in words: what can change freely."""
    values = {name: float(v) for name, v in layout.values(z).items()}
    parts = []
    for i, (name, unknown) in enumerate(layout.unknowns.items()):
        relative = direction[i] * unknown.slope(float(z[i])) / (values[name] or 1.0)
        parts.append((name, relative))
    largest = max((abs(v) for _, v in parts), default=1.0) or 1.0
    shown = [(name, v / largest) for name, v in parts if abs(v) > _SHARE * largest]
    if len(shown) == 1:
        return shown[0][0]
    sign = np.sign(shown[0][1])
    return " while ".join(
        f"{name} {'grows' if v * sign > 0 else 'shrinks'} by {10 * abs(v):.2g}%" for name, v in shown
    )


def is_straight(model: Model, misfit: Misfit, point: Point, spread: Spread, entry: int, reach: float) -> bool:
    """Whether the likelihood is a parabola up to `reach` standard errors to both sides of an entry."""
    cost = misfit.cost(point.z, point.predicted)
    along = spread.covariance[:, entry] / spread.errors[entry]
    for sign in (-1.0, 1.0):
        z = point.z + sign * reach * along
        if (z < model.layout.lower).any() or (z > model.layout.upper).any():
            return False
        predicted = model.predict(z)
        if predicted is None:
            return False
        if abs((misfit.cost(z, predicted) - cost) / reach**2 - 1) > _STRAIGHT:
            return False
    return True


def profile(
    model: Model, misfit: Misfit, point: Point, spread: Spread, entry: int, reach: float
) -> tuple[tuple[float, float], np.ndarray]:
    """The ends of the interval of z where the least cost over all other entries rises by reach².

    Returns the interval and the profile's points (z, rise), in ascending order.
    """
    cost = misfit.cost(point.z, point.predicted)
    lower, upper = float(model.layout.lower[entry]), float(model.layout.upper[entry])
    others = np.arange(len(point.z)) != entry
    along = spread.covariance[:, entry] / spread.covariance[entry, entry]
    seen = [(float(point.z[entry]), 0.0)]

    def rise(value: float, near: Point) -> tuple[float, Point]:
        z = np.clip(near.z + along * (value - near.z[entry]), model.layout.lower, model.layout.upper)
        z[entry] = value
        there = model.linearised(z)
        if there is None:
            return np.inf, near
        found = descend(model, Point(z, *there), misfit, known=True, steps=6, fine=0.1, free=others)
        height = misfit.cost(found.z, found.predicted) - cost
        seen.append((value, height))
        return height, found

    ends = []
    for sign, bound in ((-1.0, lower), (1.0, upper)):
        inner, near, height = float(point.z[entry]), point, 0.0
        step = reach * float(spread.errors[entry])
        outer, top = np.nan, np.nan
        for _ in range(8):
            value = inner + sign * step
            value = max(value, bound) if sign < 0 else min(value, bound)
            found, there = rise(value, near)
            if found >= reach**2:
                outer, top = value, found
                break
            inner, near, height = value, there, found
            if value == bound:
                break
        if np.isnan(outer):
            ends.append(bound)
            continue
        for _ in range(4):
            if not np.isfinite(top):
                value = (inner + outer) / 2
            else:  # the root of the height grows about evenly
                low, high = np.sqrt(max(height, 0.0)), np.sqrt(top)
                value = inner + (outer - inner) * np.clip((reach - low) / max(high - low, 1e-12), 0.1, 0.9)
            found, there = rise(value, near)
            if found >= reach**2:
                outer, top = value, found
            else:
                inner, near, height = value, there, found
            if abs(np.sqrt(max(found, 0.0)) - reach) < 0.03 * reach:
                inner = outer = value
                break
        ends.append((inner + outer) / 2)
    return (ends[0], ends[1]), np.array(sorted(seen))
