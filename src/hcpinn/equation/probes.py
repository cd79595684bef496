"""Looking into a right-hand side: F and its slopes where its arguments have given values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..problem import Index, Problem

Slot = tuple[int, Index]
"""One argument of F: a derivative (by index) of a field (by number)."""


def slots(problem: Problem) -> list[Slot]:
    """Every argument F may have: all the derivatives that `rhs` uses, of every field."""
    return [(number, index) for number in range(len(problem.fields)) for index in problem.derivatives]


def evaluate(problem: Problem, values: Mapping[Slot, Array], coordinates: Sequence[Array]) -> list[Array]:
    """F where its arguments have the given values, one array per field, all of one shape."""
    shape = jnp.broadcast_shapes(*(jnp.shape(v) for v in (*values.values(), *coordinates)))
    result = problem.evaluate_rhs(lambda number, index: values[number, index], coordinates)
    return [jnp.broadcast_to(jnp.asarray(r) + 0.0, shape) for r in result]


def slopes(
    problem: Problem,
    values: Mapping[Slot, Array],
    coordinates: Sequence[Array],
    wanted: Sequence[Slot],
    *,
    conjugate: bool = False,
) -> dict[tuple[int, Slot], Array]:
    """∂F_f/∂D for every field f and each wanted argument D, pointwise.

    For a complex argument this is the Wirtinger derivative, ∂F/∂D = (F'[1] − i F'[i]) / 2,
    which keeps `1j * u` and leaves out `u.conj()`; `conjugate` asks for ∂F/∂D̄, the other part
    (zero for a real argument).
    """
    sign = 1j if conjugate else -1j

    def along(slot: Slot, direction: complex) -> list[Array]:
        def run(value: Array) -> list[Array]:
            return evaluate(problem, {**values, slot: value}, coordinates)

        return jax.jvp(run, (values[slot],), (jnp.full_like(values[slot], direction),))[1]

    found = {}
    for slot in wanted:
        columns = along(slot, 1.0)
        if problem.complex_fields[slot[0]]:
            columns = [(a + sign * b) / 2 for a, b in zip(columns, along(slot, 1j), strict=True)]
        elif conjugate:
            columns = [jnp.zeros_like(a) for a in columns]
        found.update({(number, slot): column for number, column in enumerate(columns)})
    return found


def probe_points(problem: Problem, count: int) -> tuple[dict[Slot, Array], list[Array]]:
    """Fixed, irregular values for the arguments of F, and points (t, x, …) of the problem.

    They are multiples of irrational numbers modulo one, the same on every machine. Fields
    stay in (0.05, 1) at every second point, for logarithms and roots, and in (−1, 1) at the
    others.
    """
    number = np.arange(1, count + 1)
    arguments = slots(problem)
    roots = np.sqrt(_primes(2 * len(arguments) + len(problem.axes)))
    draws = iter(np.modf(np.outer(roots, number))[0])
    lower, upper = (problem.start, *problem.domain.lower), (problem.horizon, *problem.domain.upper)
    coordinates = [jnp.asarray(a + (b - a) * next(draws)) for a, b in zip(lower, upper, strict=True)]

    def spread() -> np.ndarray:
        draw = next(draws)
        return np.where(number % 2 == 0, 0.05 + 0.95 * draw, 2 * draw - 1)

    values = {}
    for slot in arguments:
        real, imaginary = spread(), spread()
        values[slot] = jnp.asarray(real + 1j * imaginary if problem.complex_fields[slot[0]] else real)
    return values, coordinates


def _primes(count: int) -> list[int]:
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % p for p in found):
            found.append(candidate)
        candidate += 1
    return found
