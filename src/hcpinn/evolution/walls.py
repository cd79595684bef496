"""Functions along one axis that meet homogeneous conditions at its ends: g(ξ) w and a few polynomials.

With g = ξᵖ (1 − ξ)^q the functions g w, w arbitrary, vanish at the ends with as many derivatives as the
conditions there use. What they lack of all functions that meet the conditions are polynomials of degree
p + q − 1 that meet them. Where values, or values and slopes, are prescribed, there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..problem import Condition, Problem
from ..trial.edges import polynomial_rows


@dataclass(frozen=True, eq=False)
class Wall:
    """How the functions of one field look along one axis."""

    powers: tuple[int, int]
    """p and q."""
    polynomials: np.ndarray
    """One row each: coefficients of 1, ξ, ξ², …"""


def walls_along(problem: Problem, axis: int) -> tuple[list[Wall], list[int]]:
    """The different kinds of functions along an axis, and which one each component has."""
    sides = problem.boundaries[axis].sides
    kinds: dict[object, int] = {}
    of, walls = [], []
    for field in problem.component_fields:
        key = tuple(tuple(c.factors for c in side.conditions[field]) for side in sides)
        if key not in kinds:
            kinds[key] = len(kinds)
            walls.append(wall_of(problem, axis, field))
        of.append(kinds[key])
    return walls, of


def wall_of(problem: Problem, axis: int, field: int) -> Wall:
    """The functions that meet a field's homogeneous conditions along an axis."""
    sides = problem.boundaries[axis].sides
    powers = [_power(side.conditions[field]) for side in sides] or [0, 0]
    count = sum(powers)
    held = [(side, condition) for side in sides for condition in side.conditions[field]]
    if len(held) == count:  # g alone meets them all
        return Wall((powers[0], powers[1]), np.zeros((0, 1)))
    rows = polynomial_rows(held, problem.domain.lengths[axis], count - 1)
    rows = rows / np.abs(rows).max(axis=1, keepdims=True)
    return Wall((powers[0], powers[1]), scipy.linalg.null_space(rows).T)


def _power(conditions: Sequence[Condition]) -> int:
    """How many derivatives, from the value on, functions g w must lack at an end."""
    return max((condition.order + 1 for condition in conditions), default=0)
