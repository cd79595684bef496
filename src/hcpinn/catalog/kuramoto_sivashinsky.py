"""Kuramoto–Sivashinsky: uₜ = −uₓₓ − uₓₓₓₓ − u uₓ, periodic on [0, 32π], T = 10.

u₀ = cos(x/16) (1 + sin((x − 1)/16)).
"""

import jax.numpy as jnp

from ..problem import Interval, Periodic, Problem
from .problems import Entry

ENTRY = Entry(
    problem=Problem(
        name="kuramoto-sivashinsky",
        domain=Interval(0, 32 * jnp.pi),
        horizon=10.0,
        boundary=Periodic(),
        rhs=lambda u: -u.xx - u.xxxx - u * u.x,
        initial=lambda x: jnp.cos(x / 16) * (1 + jnp.sin((x - 1) / 16)),
    ),
    title="Kuramoto–Sivashinsky",
    stiffness="fourth order, with chaotic dynamics at later times",
    equation="uₜ = −uₓₓ − uₓₓₓₓ − u uₓ",
)
