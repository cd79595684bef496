"""The expert method: network, points and stages chosen from the problem and the machine."""

from __future__ import annotations

import jax
import numpy as np

from ..descent import Broyden, Growth, Method, Resampling
from ..equation.growth import growth_rate
from ..problem import Problem
from ..trial import MLP, Decay, Semigroup, has_waves
from .parts import edges, embedding

_STEEP = 15.0
"""Growth of small waves over the duration, as a logarithm, from which a problem counts as hard."""


def expert(problem: Problem, *, accelerator: bool | None = None) -> Method:
    """The best known here: the linear part's lift, a growing horizon, second-order steps, new points.

    `accelerator` chooses the sizes for a GPU, or for a CPU; unless given, those for JAX's default device.
    """
    if accelerator is None:
        accelerator = jax.default_backend() != "cpu"
    growth = growth_rate(problem) * problem.duration
    steep = growth > _STEEP
    if accelerator:
        network, points, steps = (MLP(40, 4), 8192, 300) if steep else (MLP(32, 4), 8192, 500)
    else:
        network, points, steps = MLP(20, 3), 3072, 300 if steep else 100
    penalties = edges(problem, exact=True, even=True)
    return Method(
        name="expert",
        lift=Semigroup() if has_waves(problem) else Decay(0.0),
        embedding=embedding(problem, 8 if steep else 5, even=True),
        network=network,
        penalties=penalties,
        points=points,
        resampling=Resampling(every=0, by="residual"),
        horizons=(*_growing(growth), 1.0),
        lessons=100,
        growth=None if penalties else Growth(),
        stages=(Broyden(steps=steps),),
    )


def _growing(growth: float) -> list[float]:
    """Shares of the duration: first the time in which an error can grow e-fold, then 1.5 times more each."""
    shares = [float(np.clip(1.0 / max(growth, 1e-300), 0.02, 0.5))]
    while shares[-1] * 1.5 < 0.9:
        shares.append(shares[-1] * 1.5)
    return [round(share, 4) for share in shares]
