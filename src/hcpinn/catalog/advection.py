"""Linear advection: uₜ = −c uₓ, u₀ = sin x, periodic on [0, 2π], T = 1."""

import jax.numpy as jnp

from ..problem import Interval, Periodic, Problem
from .problems import Entry

ENTRY = Entry(
    problem=Problem(
        name="advection",
        domain=Interval(0, 2 * jnp.pi),
        horizon=1.0,
        boundary=Periodic(),
        rhs=lambda u, c: -c * u.x,
        initial=lambda x: jnp.sin(x),
        parameters={"c": 60.0},
        ranges={"c": (-1e4, 1e4)},
    ),
    title="Linear advection",
    stiffness="fast transport: at c = 60 the profile passes each point nearly ten times",
    equation="uₜ = −c uₓ",
)
