"""Allen–Cahn, case I: uₜ = γ₁ uₓₓ − γ₂ (u³ − u), u₀ = x² cos πx, periodic on [−1, 1], T = 1."""

import jax.numpy as jnp

from ..problem import Interval, Periodic, Problem
from .problems import Entry

ENTRY = Entry(
    problem=Problem(
        name="allen-cahn-1",
        domain=Interval(-1, 1),
        horizon=1.0,
        boundary=Periodic(),
        rhs=lambda u, gamma1, gamma2: gamma1 * u.xx - gamma2 * (u**3 - u),
        initial=lambda x: x**2 * jnp.cos(jnp.pi * x),
        parameters={"gamma1": 1e-3, "gamma2": 5.0},
        ranges={"gamma1": (1e-6, 1e3), "gamma2": (-1e3, 1e3)},
    ),
    title="Allen–Cahn, case I",
    stiffness="sharp interfaces; u₀ has a slope jump at x = ±1 when continued periodically",
    equation="uₜ = γ₁ uₓₓ − γ₂ (u³ − u)",
)
