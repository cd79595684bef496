"""Model problems for measurements, of any order, number of fields and dimension."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from ..errors import ProblemError
from ..problem import Box, Problem
from ..problem.domain import AXES

_DIFFUSION = 1e-3


def model_problem(*, order: int = 2, fields: int = 1, dimensions: int = 1) -> Problem:
    """uₜ = ε Σₐ ± ∂ₐⁿu + u (1 − v²) on a periodic box, where v is the next field in turn, or u itself."""
    for what, value, most in (("order", order, 6), ("fields", fields, 4), ("dimensions", dimensions, 3)):
        if not 1 <= value <= most:
            raise ProblemError(f"{what} of a model problem must be between 1 and {most}, but is {value}.")
    axes = AXES[:dimensions]
    sign = 1 if order % 4 in (1, 2) else -1  # so that short waves decay
    factor = sign * _DIFFUSION / math.pi ** (2 * (order - 1))

    def rates(*unknowns: Any) -> tuple[Any, ...]:
        following = (*unknowns[1:], unknowns[0])
        return tuple(
            sum(factor * getattr(u, order * axis) for axis in axes) + u * (1 - v**2)
            for u, v in zip(unknowns, following, strict=True)
        )

    right_hand_sides: dict[int, Callable[..., Any]] = {
        1: lambda u: rates(u),
        2: lambda u, v: rates(u, v),
        3: lambda u, v, w: rates(u, v, w),
        4: lambda u, v, w, p: rates(u, v, w, p),
    }
    initial: dict[int, Callable[..., Any]] = {
        1: lambda x: _waves(fields, x),
        2: lambda x, y: _waves(fields, x, y),
        3: lambda x, y, z: _waves(fields, x, y, z),
    }
    return Problem(
        name=f"model-{order}-{fields}-{dimensions}",
        domain=Box(*[(-1.0, 1.0)] * dimensions),
        horizon=1.0,
        rhs=right_hand_sides[fields],
        initial=initial[dimensions],
    )


def _waves(fields: int, *coordinates: Array) -> tuple[Array, ...]:
    """Smooth periodic initial data for each field."""
    wave = sum((jnp.cos(jnp.pi * x) for x in coordinates[1:]), jnp.cos(jnp.pi * coordinates[0]))
    return tuple(0.5 * wave / (1 + number) for number in range(fields))
