"""Nonlinear Schrödinger: uₜ = i uₓₓ + i |u|² u, u₀ = 2/(2 − √2 cos x) − 1, periodic on [−π, π], T = 2."""

import jax.numpy as jnp

from ..problem import Interval, Periodic, Problem
from .problems import Entry

ENTRY = Entry(
    problem=Problem(
        name="schrodinger",
        domain=Interval(-jnp.pi, jnp.pi),
        horizon=2.0,
        boundary=Periodic(),
        rhs=lambda u: 1j * u.xx + 1j * abs(u) ** 2 * u,
        initial=lambda x: 2 / (2 - jnp.sqrt(2) * jnp.cos(x)) - 1,
    ),
    title="Nonlinear Schrödinger",
    stiffness="a complex field that oscillates and focuses; conserves mass and energy",
    equation="uₜ = i uₓₓ + i |u|² u",
)
