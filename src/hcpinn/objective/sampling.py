"""Where the residual is looked at: space-filling points in time and space."""

from __future__ import annotations

import zlib

import numpy as np
from jaxtyping import Float, Int

from ..errors import unknown_name
from ..problem import Problem

SAMPLERS = ("latin-hypercube", "sobol", "uniform")
"""Ways of choosing points."""


def generator(seed: int, purpose: str) -> np.random.Generator:
    """A random generator for one named purpose, independent of all other purposes."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


def interior(
    problem: Problem,
    count: int,
    *,
    seed: int,
    sampler: str = "latin-hypercube",
    purpose: str = "interior",
    until: float = 1.0,
) -> Float[np.ndarray, "points axes"]:
    """`count` points (t, x, …) inside the domain, in the first `until` of the problem's duration."""
    low = np.array([problem.start, *problem.domain.lower])
    high = np.array([problem.start + until * problem.duration, *problem.domain.upper])
    return low + _unit(count, len(low), generator(seed, purpose), sampler) * (high - low)


def face(
    problem: Problem, count: int, *, axis: int, seed: int, purpose: str
) -> Float[np.ndarray, "points axes"]:
    """`count` points (t, x, …) where one coordinate has its lowest value: `axis` 0 is the start."""
    low = np.array([problem.start, *problem.domain.lower])
    high = np.array([problem.horizon, *problem.domain.upper])
    unit = _unit(count, len(low) - 1, generator(seed, purpose), "latin-hypercube")
    return low + np.insert(unit, axis, 0.0, axis=1) * (high - low)


def by_residual(
    candidates: Float[np.ndarray, "many axes"],
    squares: Float[np.ndarray, " many"],
    count: int,
    *,
    seed: int,
    purpose: str,
) -> Float[np.ndarray, "points axes"]:
    """`count` of the candidates, drawn in proportion to 1 + |r| / mean|r|."""
    size = np.sqrt(np.asarray(squares, float))
    size = np.where(np.isfinite(size), size, 0.0)
    odds = 1.0 + size / max(float(size.mean()), 1e-300)
    chosen = generator(seed, purpose).choice(len(candidates), count, replace=False, p=odds / odds.sum())
    return candidates[np.sort(chosen)]


def nearest(
    old: Float[np.ndarray, "before axes"], new: Float[np.ndarray, "now axes"]
) -> Int[np.ndarray, " now"]:
    """The number of the old point nearest to each new one, all axes being as long as the old points reach."""
    from scipy.spatial import KDTree

    reach = np.ptp(old, axis=0)
    scale = np.where(reach > 0, reach, 1.0)
    return np.asarray(KDTree(old / scale).query(new / scale)[1], np.int32)


def _unit(count: int, axes: int, rng: np.random.Generator, sampler: str) -> Float[np.ndarray, "points axes"]:
    """Points in the unit cube."""
    from scipy.stats import qmc

    if sampler == "latin-hypercube":
        return qmc.LatinHypercube(axes, rng=rng).random(count)
    if sampler == "sobol":
        return qmc.Sobol(axes, rng=rng).random_base2(max(0, int(np.ceil(np.log2(count)))))[:count]
    if sampler == "uniform":
        return rng.random((count, axes))
    raise unknown_name("sampler", sampler, SAMPLERS)
