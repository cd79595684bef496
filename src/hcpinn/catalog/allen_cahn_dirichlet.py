"""Allen–Cahn with Dirichlet data: uₜ = γ₁ uₓₓ − γ₂ (u³ − u), u₀ = x² cos πx, u(t, ±1) = −1, T = 1."""

import jax.numpy as jnp

from ..problem import Dirichlet, Interval, Problem
from .problems import Entry

ENTRY = Entry(
    problem=Problem(
        name="allen-cahn-dirichlet",
        domain=Interval(-1, 1),
        horizon=1.0,
        boundary=Dirichlet(-1.0),
        rhs=lambda u, gamma1, gamma2: gamma1 * u.xx - gamma2 * (u**3 - u),
        initial=lambda x: x**2 * jnp.cos(jnp.pi * x),
        parameters={"gamma1": 1e-3, "gamma2": 5.0},
        ranges={"gamma1": (1e-6, 1e3), "gamma2": (-1e3, 1e3)},
    ),
    title="Allen–Cahn with Dirichlet data",
    stiffness="sharp interfaces, boundary layers",
    equation="uₜ = γ₁ uₓₓ − γ₂ (u³ − u)",
)
