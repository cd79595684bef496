"""Whether the residuals of a model are noise: their size and structure."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import scipy.stats
from scipy.spatial import KDTree

_DEGREE = {2: 6, 3: 4, 4: 3}
"""Total degree of the polynomials in (t, x, …) that look for structure, by number of coordinates, at most."""

_LEFT = 4
"""How many values more than columns a trend takes at least; it takes two thirds of the values at most."""

_SHUFFLES = 400


@dataclass(frozen=True)
class Structure:
    """One test of the residuals: how likely noise alone is to look so."""

    name: str
    p: float


def structure(
    points: np.ndarray, residuals: np.ndarray, predicted: np.ndarray, jacobian: np.ndarray
) -> list[Structure]:
    """Tests of residuals (in units of the noise) for a trend, for runs of a sign, and for alike neighbours.

    A trend is a polynomial in the coordinates and in the predicted value that the fit could not have made:
    the F-test is of what it explains beyond the columns of `jacobian`.
    """
    count = len(residuals)
    unit = _unit(points)
    found = []
    powers = _powers(predicted)
    # Where values are few, a simpler trend leaves enough of them to see it against.
    for degree in range(_DEGREE.get(points.shape[1], 2), 0, -1):
        own = np.column_stack([_polynomials(unit, degree), powers])
        if count - jacobian.shape[1] - own.shape[1] >= max(_LEFT, count / 3):
            found.append(Structure("a trend in the residuals", _trend(residuals, jacobian, own)))
            break
    if count >= 20:
        for axis in range(points.shape[1]):
            if len(np.unique(points[:, axis])) > count / 2:
                runs = _runs(residuals[np.argsort(points[:, axis], kind="stable")])
                found.append(Structure(f"runs of one sign along {'txyz'[axis]}", runs))
        found.append(Structure("residuals of neighbours that are alike", _neighbours(unit, residuals)))
    return found


def _unit(points: np.ndarray) -> np.ndarray:
    low, high = points.min(axis=0), points.max(axis=0)
    return 2 * (points - low) / np.where(high > low, high - low, 1.0) - 1


def _polynomials(unit: np.ndarray, highest: int) -> np.ndarray:
    dimension = unit.shape[1]
    each = [np.polynomial.legendre.legvander(unit[:, axis], highest) for axis in range(dimension)]
    columns = []
    for degrees in itertools.product(range(highest + 1), repeat=dimension):
        if sum(degrees) <= highest:
            columns.append(np.prod([own[:, k] for own, k in zip(each, degrees, strict=True)], axis=0))
    return np.stack(columns, axis=1)


def _powers(predicted: np.ndarray) -> np.ndarray:
    size = max(float(np.abs(predicted).max()), 1e-300)
    return np.stack([(predicted / size) ** k for k in range(1, 4)], axis=1)


def _trend(residuals: np.ndarray, jacobian: np.ndarray, own: np.ndarray) -> float:
    first, rank = _left(residuals, jacobian)
    second, more = _left(residuals, np.column_stack([jacobian, own]))
    added, free = more - rank, len(residuals) - more
    if added < 1 or free < 1:
        return 1.0
    ratio = ((first - second) / added) / max(second / free, 1e-300)
    return float(scipy.stats.f.sf(ratio, added, free))


def _left(values: np.ndarray, columns: np.ndarray) -> tuple[float, int]:
    """What least squares leaves of values, squared, and the rank of the columns."""
    if not columns.shape[1]:
        return float(values @ values), 0
    sizes = np.linalg.norm(columns, axis=0)
    left, found, _ = np.linalg.svd(columns / np.where(sizes > 0, sizes, 1.0), full_matrices=False)
    basis = left[:, found > 1e-9 * found[0]]
    rest = values - basis @ (basis.T @ values)
    return float(rest @ rest), basis.shape[1]


def _runs(ordered: np.ndarray) -> float:
    """Wald and Wolfowitz: too few runs of one sign."""
    signs = ordered[ordered != 0] > 0
    up = int(signs.sum())
    down = len(signs) - up
    if min(up, down) < 8:
        return 1.0
    runs = 1 + int(np.sum(signs[1:] != signs[:-1]))
    mean = 2 * up * down / (up + down) + 1
    variance = (mean - 1) * (mean - 2) / (up + down - 1)
    return float(scipy.stats.norm.cdf((runs - mean) / np.sqrt(variance)))


def _neighbours(unit: np.ndarray, residuals: np.ndarray) -> float:
    """The correlation of each residual with its nearest neighbour's, against shuffled residuals."""
    nearest = np.asarray(KDTree(unit).query(unit, k=2)[1])[:, 1]
    centred = residuals - residuals.mean()
    rng = np.random.default_rng(0)

    def product(values: np.ndarray) -> float:
        return float(values @ values[nearest])

    shuffled = np.array([product(rng.permutation(centred)) for _ in range(_SHUFFLES)])
    return float(scipy.stats.norm.sf((product(centred) - shuffled.mean()) / max(shuffled.std(), 1e-300)))


def misfit(residuals: np.ndarray, freedom: float) -> tuple[float, float]:
    """χ² of residuals in units of a known noise, and how likely a value as far from its mean is."""
    square = float(residuals @ residuals)
    return square, float(2 * min(scipy.stats.chi2.cdf(square, freedom), scipy.stats.chi2.sf(square, freedom)))
