"""Cahn–Hilliard: uₜ = ε₁ (−uₓₓ − ε₂ uₓₓₓₓ + (u³)ₓₓ), u₀ = −cos 2πx, periodic on [−1, 1], T = 1."""

import jax.numpy as jnp

from ..problem import Interval, Periodic, Problem
from .problems import Entry

ENTRY = Entry(
    problem=Problem(
        name="cahn-hilliard",
        domain=Interval(-1, 1),
        horizon=1.0,
        boundary=Periodic(),
        rhs=lambda u, epsilon1, epsilon2: epsilon1 * (-u.xx - epsilon2 * u.xxxx + (u**3).xx),
        initial=lambda x: -jnp.cos(2 * jnp.pi * x),
        parameters={"epsilon1": 1e-2, "epsilon2": 1e-4},
        ranges={"epsilon1": (1e-6, 1e3), "epsilon2": (1e-6, 1e3)},
    ),
    title="Cahn–Hilliard",
    stiffness="fourth order and sharp interfaces; conserves mass",
    equation="uₜ = ε₁ (−uₓₓ − ε₂ uₓₓₓₓ + (u³)ₓₓ)",
)
