"""Whether the conditions along an axis determine the solution.

A field whose own equation has a derivative of it of order n > 1 takes n conditions, both ends together. What
is left of a system, if its derivatives are of first order, reads uₜ = A uₓ + …: at each end it takes as many
values as waves enter there, with speeds −λ for the eigenvalues λ of A, and these values must tell the waves
apart.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from ..machine.precision import double
from ..problem import Problem, Side
from .probes import Slot
from .start import initial_slopes

_PLACES = 8
"""Places on a face at which A is looked at."""

_STILL = 1e-9
"""Speeds below this share of the largest are none."""

_APART = 1e-6
"""The least singular value by which values tell waves of unit size apart."""


Slopes = dict[tuple[int, Slot], np.ndarray]
"""∂F_f/∂D at some places, by field f and argument D."""


def unclosed(problem: Problem, axis: int) -> str | None:
    """What the conditions along an axis with walls lack or have too many of; None where they suit F."""
    fields = range(len(problem.fields))
    sides = problem.boundaries[axis].sides
    given = [sum(len(side.conditions[n]) for side in sides) for n in fields]
    order = max(index[axis + 1] for index in problem.derivatives)
    faces = [_slopes(problem, side) for side in sides]
    orders = np.zeros((len(given), len(given)), int)
    """By equation and field, the highest derivative along the axis."""
    for found in faces:
        for (target, (source, index)), values in found.items():
            if (values != 0).any():
                orders[target, source] = max(orders[target, source], index[axis + 1])
    rest = [n for n in fields if orders[n, n] <= 1]
    coupled = orders.copy()
    coupled[np.diag_indices_from(coupled)] = 0
    if problem.order == 2 or order > 2 or coupled.max() > 1 or (order > 1 and all(g == order for g in given)):
        return _counted(problem, axis, dict.fromkeys(fields, order), given)
    missing = _counted(problem, axis, {n: int(orders[n, n]) for n in fields if n not in rest}, given)
    if missing:
        return missing
    for side, found in zip(sides, faces, strict=True):
        missing = _entering(problem, side, rest, found)
        if missing:
            return missing
    return None


def _counted(problem: Problem, axis: int, wanted: dict[int, int], given: list[int]) -> str | None:
    for number, order in wanted.items():
        if given[number] != order:
            return (
                f"{problem.name} is of order {order} along {problem.space[axis]}, which takes {order} "
                f"conditions on '{problem.fields[number]}' at the two ends together, but it has "
                f"{given[number]}."
            )
    return None


def _slopes(problem: Problem, side: Side) -> Slopes:
    """∂F/∂D on a face at the start."""
    rng = np.random.default_rng(0)
    places = problem.domain.inside(rng.random((_PLACES, len(problem.space))))
    places[:, side.axis] = problem.domain.bounds[side.axis][side.end]
    with double():
        points = jnp.asarray(np.column_stack([np.full(_PLACES, problem.start), places]))
        found = jax.jit(partial(initial_slopes, problem))(points)
        return {key: np.asarray(values) for key, values in found.items()}


def _entering(problem: Problem, side: Side, fields: list[int], found: Slopes) -> str | None:
    """What is wrong with the values of some fields at one end for the waves that enter there."""
    first = tuple(int(i == side.axis + 1) for i in range(len(problem.axes)))
    names = " and ".join(f"'{problem.fields[n]}'" for n in fields)
    chosen = [row for row, n in enumerate(fields) for c in side.conditions[n] if c.order == 0]
    if sum(len(side.conditions[n]) for n in fields) > len(chosen):
        return (
            f"Along {side.letter} only values of {names} can be given, as their derivatives are first ones."
        )
    none = np.zeros(_PLACES)
    for place in range(_PLACES):
        matrix = np.zeros((len(fields), len(fields)), complex)
        for row, target in enumerate(fields):
            for column, source in enumerate(fields):
                matrix[row, column] = found.get((target, (source, first)), none)[place]
        rates, waves = np.linalg.eig(matrix)
        size = np.abs(rates).max(initial=0.0)
        if (np.abs(np.imag(rates)) > 1e-6 * size).any():
            return f"Waves of {names} along {side.letter} have no real speeds: the equation is ill-posed."
        enter = np.flatnonzero(side.sign * np.real(rates) > _STILL * size)
        if len(enter) != len(chosen):
            return (
                f"{names} take as many values at {side.place} as waves enter there, which are {len(enter)}, "
                f"but {len(chosen)} are given."
            )
        apart = np.linalg.svd(waves[chosen][:, enter], compute_uv=False)
        if apart.min(initial=1.0) < _APART:
            return f"The values of {names} given at {side.place} do not tell the waves that enter apart."
    return None
