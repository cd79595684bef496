"""How accurate a network is while it trains: its error on a part of the reference's grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..reference import Reference
from ..trial import Trial

_TIMES, _MOST = 21, {1: 256, 2: 33, 3: 17}
"""Times, and places along each axis by dimension, at most."""


def grid_error(
    trial: Trial, reference: Reference, unravel: Callable[[Any], Any]
) -> Callable[[np.ndarray], float]:
    """The relative L2 error as a function of the parameters, the reference's own error included.

    Of several fields the worst counts; `unravel` gives a vector of parameters the network's shape.
    """
    problem = trial.problem
    grids = (reference.times, *reference.coordinates)
    counts = (_TIMES, *[_MOST[len(problem.space)]] * len(problem.space))
    picks = [
        np.unique(np.linspace(0, len(grid) - 1, count).round().astype(int))
        for grid, count in zip(grids, counts, strict=True)
    ]
    mesh = np.meshgrid(*[grid[pick] for grid, pick in zip(grids, picks, strict=True)], indexing="ij")
    points = jnp.asarray(np.stack([axis.ravel() for axis in mesh], axis=1))
    exact = {name: values[np.ix_(*picks)] for name, values in reference.values.items()}
    trusted = np.stack([values.ravel() for values in problem.real_parts(exact).values()], axis=1)
    sizes = np.linalg.norm(trusted, axis=0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    zero = (0,) * len(problem.axes)
    fixed = jax.jit(lambda c: trial.fix(c, (zero,)))(points)
    predict = jax.jit(lambda theta: trial.jet(unravel(theta), fixed, (zero,))[zero])

    def error(theta: np.ndarray) -> float:
        apart = np.linalg.norm(np.asarray(predict(jnp.asarray(theta))) - trusted, axis=0)
        return float(np.max(apart / sizes)) + reference.error_estimate

    return error
