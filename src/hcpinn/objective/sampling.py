"""Where the residual is evaluated: space-filling points in time and space."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from ..errors import unknown_name
from ..problem import Problem

SAMPLERS = ("latin-hypercube", "sobol", "uniform")
"""Ways of choosing points, by name."""


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
    """Points (t, x, …) inside the domain.

    Args:
        problem: whose domain.
        count: how many.
        seed: of the run.
        sampler: one of `SAMPLERS`.
        purpose: tells the random numbers of these points from those of others.
        until: the share of the problem's duration, from its start, in which they lie.
    """
    unit = _unit(count, len(problem.axes), generator(seed, purpose), sampler)
    end = problem.start + until * problem.duration
    times = problem.start + unit[:, 0] * (end - problem.start)
    return np.column_stack([times, problem.domain.inside(unit[:, 1:])])


def at_start(problem: Problem, count: int, *, seed: int, purpose: str) -> Float[np.ndarray, "points axes"]:
    """`count` points (t₀, x, …) inside the domain."""
    unit = _unit(count, problem.domain.dimension, generator(seed, purpose), "latin-hypercube")
    return np.column_stack([np.full(count, problem.start, float), problem.domain.inside(unit)])


def on_parts(
    problem: Problem, parts: Sequence[str], count: int, *, seed: int, purpose: str
) -> list[Float[np.ndarray, "points axes"]]:
    """`count` points (t, x, …) on each of some parts of the boundary; opposite faces get the same ones."""
    unit = _unit(count, problem.domain.dimension, generator(seed, purpose), "latin-hypercube")
    times = problem.start + unit[:, 0] * (problem.horizon - problem.start)
    return [np.column_stack([times, problem.domain.on(part, unit[:, 1:])]) for part in parts]


def by_residual(
    candidates: Float[np.ndarray, "many axes"],
    squares: Float[np.ndarray, " many"],
    count: int,
    *,
    seed: int,
    purpose: str,
) -> Float[np.ndarray, "points axes"]:
    """Some of many points, drawn in proportion to 1 + |r| / mean|r|.

    Args:
        candidates: the points.
        squares: |r|² at each.
        count: how many to draw.
        seed: of the run.
        purpose: tells the random numbers of this choice from those of others.
    """
    size = np.sqrt(np.asarray(squares, float))
    size = np.where(np.isfinite(size), size, 0.0)
    odds = 1.0 + size / max(float(size.mean()), 1e-300)
    chosen = generator(seed, purpose).choice(len(candidates), count, replace=False, p=odds / odds.sum())
    return candidates[np.sort(chosen)]


def nearest(
    old: Float[np.ndarray, "before axes"], new: Float[np.ndarray, "now axes"]
) -> Int[np.ndarray, " now"]:
    """The number of the old point nearest to each new one, axes being scaled by the extent of the old."""
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
