"""Gray–Scott: uₜ = ε₁ uₓₓ + b (1 − u) − u v², vₜ = ε₂ vₓₓ − (b + k) v + u v².

Periodic on [−50, 50], T = 20.
"""

import jax.numpy as jnp
from jaxtyping import Array

from ..problem import Interval, Periodic, Problem
from .problems import Entry


def initial(x: Array) -> tuple[Array, Array]:
    """u₀ = 1 − s/2 and v₀ = s/4 with s = sin⁴(π (x − 50)/100)."""
    bump = jnp.sin(jnp.pi * (x - 50) / 100) ** 4
    return 1 - bump / 2, bump / 4


ENTRY = Entry(
    problem=Problem(
        name="gray-scott",
        domain=Interval(-50, 50),
        horizon=20.0,
        boundary=Periodic(),
        rhs=lambda u, v, epsilon1, epsilon2, b, k: (
            epsilon1 * u.xx + b * (1 - u) - u * v**2,
            epsilon2 * v.xx - (b + k) * v + u * v**2,
        ),
        initial=initial,
        parameters={"epsilon1": 1.0, "epsilon2": 0.01, "b": 0.02, "k": 0.0562},
        ranges={"epsilon1": (0.0, 1e3), "epsilon2": (0.0, 1e3)},
    ),
    title="Gray–Scott",
    stiffness="two coupled fields with diffusion a hundred times apart",
    equation="uₜ = ε₁ uₓₓ + b (1 − u) − u v²,  vₜ = ε₂ vₓₓ − (b + k) v + u v²",
)
