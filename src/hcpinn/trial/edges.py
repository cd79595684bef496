"""G(t, x): a smooth function that carries the data at all walls at once (transfinite interpolation)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..problem import Condition, Problem, Side

Edges = Callable[[Array, list[Array]], Array]
"""A function of t and x, …, with one column per component."""

Held = tuple[Side, int, Condition]
"""A condition at a side, with its number among those of its field there."""


def join_edges(
    problem: Problem,
    held: Collection[tuple[str, int]],
    parameters: Mapping[str, Any],
    start: Edges | None = None,
) -> Edges:
    """G, equal to the data on all sides `held`, by part and component; it starts from 0 or another function.

    Axis after axis adds what is still missing on its two faces, along polynomials h with B h = 1 for one
    condition B and 0 for the others on this axis: G ← G + Σ h(ξ) (g − B G). On the faces of the axes before
    nothing is missing, since data agree where faces meet.
    """
    total = start
    for axis in range(len(problem.space)):
        here = [_held(problem, held, axis, c) for c in range(len(problem.components))]
        if any(here):
            total = _joined(problem, axis, here, total, parameters)
    if total is None:
        return lambda t, space: jnp.zeros((len(t), len(problem.components)), t.dtype)
    return total


def _held(problem: Problem, held: Collection[tuple[str, int]], axis: int, component: int) -> list[Held]:
    field = problem.component_fields[component]
    return [
        (side, number, condition)
        for side in problem.boundaries[axis].sides
        if (side.part, component) in held
        for number, condition in enumerate(side.conditions[field])
    ]


def _joined(
    problem: Problem, axis: int, held: list[list[Held]], before: Edges | None, parameters: Mapping[str, Any]
) -> Edges:
    (low, high), sides = problem.domain.bounds[axis], problem.boundaries[axis].sides
    known: dict[Any, np.ndarray] = {}
    blends = []
    for own in held:
        key = tuple((side.end, condition.factors) for side, _, condition in own)
        if key not in known:
            known[key] = blend([(side, condition) for side, _, condition in own], high - low)
        blends.append(known[key])
    highest = max(condition.order for own in held for _, _, condition in own)

    def edges(t: Array, space: list[Array]) -> Array:
        across = [x for i, x in enumerate(space) if i != axis]
        share = (space[axis] - low) / (high - low)
        data = [problem.boundary_components(side, t, across, parameters=parameters) for side in sides]
        found: list[Any] = []
        if before is None:
            base = jnp.zeros((len(t), len(held)), t.dtype)
        else:
            base = before(t, space)
            found = [along_normal(before, side, problem, t, space, highest) for side in sides]
        columns = []
        for component, own in enumerate(held):
            total = base[:, component]
            for (side, number, condition), coefficients in zip(own, blends[component], strict=True):
                missing = data[side.end][component][number]
                for k, factor in enumerate(condition.factors if found else ()):
                    if factor:
                        missing = missing - factor * side.sign**k * found[side.end][k][:, component]
                total = total + _polynomial(coefficients, share) * missing
            columns.append(total)
        return jnp.stack(columns, axis=1)

    return edges


def along_normal(
    function: Edges, side: Side, problem: Problem, t: Array, space: list[Array], highest: int
) -> list[Array]:
    """A function and its derivatives along a side's axis up to an order at the nearest points of the side."""

    def value(x: Array) -> Array:
        return function(t, [x if axis == side.axis else other for axis, other in enumerate(space)])

    found: list[Callable[[Array], Array]] = [value]
    for _ in range(highest):
        found.append(_rate(found[-1]))
    edge = jnp.full_like(t, problem.domain.bounds[side.axis][side.end])
    return [derivative(edge) for derivative in found]


def _rate(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: jax.jvp(function, (x,), (jnp.ones_like(x),))[1]


def blend(conditions: Sequence[tuple[Side, Condition]], length: float) -> np.ndarray:
    """For each condition the coefficients, in powers of ξ, of a polynomial h: B h = 1 for it, 0 for others.

    Of the lowest degree that has them, it has the smallest coefficients. Where values alone, or values with
    slopes, are prescribed, that is Hermite's; else its degree is odd and at least 3.
    """
    if not conditions:
        return np.zeros((0, 1))
    each = [sorted(c.order for s, c in conditions if s.end == end) for end in (0, 1)]
    hermite = all(orders == list(range(len(orders))) for orders in each)
    for degree in range(len(conditions) - 1 if hermite else 2 * len(conditions) - 1, 12):
        rows = polynomial_rows(conditions, length, degree)
        sizes = np.abs(rows).max(axis=1)
        if (sizes > 0).all():
            scaled = rows / sizes[:, None]
            values = np.linalg.svd(scaled, compute_uv=False)
            if values[-1] > 1e-3 * values[0]:
                return np.linalg.pinv(scaled).T / sizes[:, None]
    raise AssertionError("independent conditions have polynomials of low degree")


def polynomial_rows(conditions: Sequence[tuple[Side, Condition]], length: float, degree: int) -> np.ndarray:
    """Conditions × powers of ξ: what each condition makes of 1, ξ, ξ², …"""
    rows = np.zeros((len(conditions), degree + 1))
    for row, (side, condition) in zip(rows, conditions, strict=True):
        for k, factor in enumerate(condition.factors):
            for power in range(k, degree + 1):
                if side.end or power == k:
                    row[power] += factor * side.sign**k * math.perm(power, k) / length**k
    return rows


def _polynomial(coefficients: np.ndarray, share: Array) -> Array:
    value = jnp.full_like(share, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = value * share + coefficient
    return value
