"""Where the residual is looked at: space-filling points in time and space."""

from __future__ import annotations

import zlib

import numpy as np
from jaxtyping import Float

from .errors import unknown_name
from .problem import Problem

SAMPLERS = ("latin-hypercube", "sobol", "uniform")
"""Ways of choosing points."""


def generator(seed: int, purpose: str) -> np.random.Generator:
    """A random generator for one named purpose, independent of all other purposes."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


def interior(
    problem: Problem, count: int, *, seed: int, sampler: str = "latin-hypercube", purpose: str = "interior"
) -> Float[np.ndarray, "points axes"]:
    """`count` points (t, x, …) inside the domain."""
    from scipy.stats import qmc

    axes, rng = len(problem.axes), generator(seed, purpose)
    if sampler == "latin-hypercube":
        unit = qmc.LatinHypercube(axes, rng=rng).random(count)
    elif sampler == "sobol":
        unit = qmc.Sobol(axes, rng=rng).random_base2(max(0, int(np.ceil(np.log2(count)))))[:count]
    elif sampler == "uniform":
        unit = rng.random((count, axes))
    else:
        raise unknown_name("sampler", sampler, SAMPLERS)
    low = np.array([0.0, *problem.domain.lower])
    high = np.array([problem.horizon, *problem.domain.upper])
    return low + unit * (high - low)
