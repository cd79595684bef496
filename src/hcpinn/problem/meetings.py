"""Where faces of a box meet, slopes prescribed on one must suit what is prescribed on the other."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..errors import ProblemError
from .sides import Side

if TYPE_CHECKING:
    from .declaration import Problem

_MATCH = 1e-6
"""Mismatch, relative to the size of data, that still counts as rounding."""


def check_meetings(problem: Problem, scales: list[float]) -> None:
    """Where faces of two axes meet, the condition of each applied to the other's data must agree.

    `scales` are the fields' initial sizes. Values prescribed on both are compared elsewhere.
    """
    t = jnp.linspace(problem.start, problem.horizon, 21)
    middle = [jnp.full_like(t, a + 0.4 * (b - a)) for a, b in problem.domain.bounds]
    for first, second in itertools.combinations(problem.sides, 2):
        if first.axis == second.axis:
            continue
        sizes = [_size(problem, side, t, middle) for side in (first, second)]
        asked = [_asked(problem, a, b, t, middle) for a, b in ((first, second), (second, first))]
        for number, name in enumerate(problem.fields):
            for m, c in enumerate(first.conditions[number]):
                for n, d in enumerate(second.conditions[number]):
                    if not c.order and not d.order:
                        continue
                    one, other = asked[1][number][n][m], asked[0][number][m][n]
                    largest = scales[number] + sizes[0][number] + sizes[1][number]
                    size = largest * max(map(abs, (*c.factors, *d.factors)))
                    gap = np.abs(np.asarray(one - other))
                    if gap.max() > _MATCH * size:
                        at = int(np.argmax(gap))
                        raise ProblemError(
                            f"The {c.kind} data for '{name}' {first.where} and the {d.kind} data "
                            f"{second.where} contradict each other along the edge where they meet: at t = "
                            f"{float(t[at]):g} one asks for {float(one[at]):.6g} where the other asks for "
                            f"{float(other[at]):.6g}. No smooth solution has both. Let the data of one fade "
                            "towards the edge."
                        )


def _size(problem: Problem, side: Side, t: Array, middle: list[Array]) -> list[float]:
    """The largest of each field's data at a side."""
    data = problem.boundary_values(side, t, [x for axis, x in enumerate(middle) if axis != side.axis])
    return [max([float(jnp.abs(v).max()) for v in own], default=0.0) for own in data]


def _asked(
    problem: Problem, side: Side, other: Side, t: Array, middle: list[Array]
) -> list[list[list[Array]]]:
    """By field, condition of one side and of another: the latter's left side, of the former's data."""
    edge = problem.domain.bounds[other.axis][other.end]

    def data(x: Array) -> list[list[Array]]:
        point = [x if axis == other.axis else c for axis, c in enumerate(middle)]
        return problem.boundary_values(side, t, [c for axis, c in enumerate(point) if axis != side.axis])

    highest = max((c.order for c in other.every), default=0)
    found, function = [], data
    for _ in range(highest + 1):
        found.append(function(jnp.full_like(t, edge)))
        function = partial(_slope, function)
    return [
        [
            [
                sum(f * other.sign**k * found[k][number][m] for k, f in enumerate(d.factors)) + 0 * t
                for d in other.conditions[number]
            ]
            for m in range(len(side.conditions[number]))
        ]
        for number in range(len(problem.fields))
    ]


def _slope(function: Callable[[Array], Any], x: Array) -> Any:
    return jax.jvp(function, (x,), (jnp.ones_like(x),))[1]
