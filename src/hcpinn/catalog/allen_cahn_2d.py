"""Allen–Cahn in the plane: uₜ = γ₁ (uₓₓ + u_yy) − γ₂ (u³ − u), periodic on [0, 1]², T = 1.

u₀ = sin 4πx cos 4πy.
"""

import jax.numpy as jnp

from ..problem import Box, Periodic, Problem
from .problems import Entry

ENTRY = Entry(
    problem=Problem(
        name="allen-cahn-2d",
        domain=Box((0, 1), (0, 1)),
        horizon=1.0,
        boundary=Periodic(),
        rhs=lambda u, gamma1, gamma2: gamma1 * u.laplacian - gamma2 * (u**3 - u),
        initial=lambda x, y: jnp.sin(4 * jnp.pi * x) * jnp.cos(4 * jnp.pi * y),
        parameters={"gamma1": 1e-4, "gamma2": 1.0},
        ranges={"gamma1": (1e-6, 1e3), "gamma2": (-1e3, 1e3)},
    ),
    title="Allen–Cahn in the plane",
    stiffness="interfaces in two dimensions",
    equation="uₜ = γ₁ (uₓₓ + u_yy) − γ₂ (u³ − u)",
)
