"""Functions along one axis that meet homogeneous conditions at its ends: g(ξ) w and a few polynomials.

With g = ξᵖ (1 − ξ)^q the functions g w, w arbitrary, vanish at the ends with as many derivatives as the
conditions there use. What they lack of all functions that meet the conditions are polynomials of degree
p + q − 1 that meet them. Where values, or values and slopes, are prescribed, there are none.

The polynomials are sums of Hermite's, each of which has one derivative at one end and no other at either.
These have whole coefficients, so that what is zero at an end is zero without rounding: features of high
frequency have enormous derivatives there, which would magnify it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.linalg

from ..problem import Condition, Problem


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
    rows = [np.zeros((0, max(sum(powers), 1)))]
    for side in sides:
        free = _free(side.conditions[field], problem.domain.lengths[axis])
        if len(free):
            rows.append(free @ _hermite(powers[side.end], powers[1 - side.end], flipped=bool(side.end)))
    return Wall((powers[0], powers[1]), np.concatenate(rows))


def _power(conditions: Sequence[Condition]) -> int:
    """How many derivatives, from the value on, functions g w must lack at an end."""
    return max((condition.order + 1 for condition in conditions), default=0)


def _free(conditions: Sequence[Condition], length: float) -> np.ndarray:
    """The combinations of Hermite's polynomials at an end that meet the conditions there, one row each."""
    count = _power(conditions)
    held = np.zeros((len(conditions), count))
    for row, condition in zip(held, conditions, strict=True):
        for k, factor in enumerate(condition.factors):
            row[k] = factor * (-1) ** k * math.factorial(k) / length**k
    if not len(held):
        return np.zeros((0, count))
    held /= np.abs(held).max(axis=1, keepdims=True)
    upper, order = cast(Any, scipy.linalg.qr(held, mode="r", pivoting=True))
    split = len(held)
    found = np.zeros((count - split, count))  # each has one of the derivatives that are left free
    found[:, order[split:]] = np.eye(count - split)
    found[:, order[:split]] = -scipy.linalg.solve_triangular(upper[:, :split], upper[:, split:]).T
    return found


def _hermite(count: int, other: int, *, flipped: bool) -> np.ndarray:
    """Polynomials ξᵏ + O(ξⁿ), k < n = `count`, that vanish at 1 with `other` derivatives from the value on.

    They are ξᵏ (1 − ξ)^q times the first terms of (1 − ξ)^−q, with q = `other`; `flipped` exchanges the ends.
    """
    degree = count + other - 1
    gate = np.poly1d([-1, 1]) ** other
    rows = np.zeros((count, degree + 1))
    for k in range(count):
        series = np.poly1d([math.comb(other + j - 1, j) if other else j == 0 for j in range(count - k)][::-1])
        whole = np.poly1d([1, *[0] * k]) * gate * series
        if flipped:
            whole = whole(np.poly1d([-1, 1]))
        rows[k, : whole.order + 1] = whole.coeffs[::-1]
    return rows
