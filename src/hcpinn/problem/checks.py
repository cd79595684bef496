"""What a declaration must satisfy before any work starts on it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from ..errors import ProblemError, unknown_name
from .declaration import HORIZON
from .domain import Domain
from .meetings import check_meetings
from .motion import check_order, check_velocity
from .parameters import check_ranges
from .piece_checks import check_pieces
from .samples import samples_in
from .sides import Side

if TYPE_CHECKING:
    from .declaration import Problem

_MATCH = 1e-8
"""Mismatch of initial and boundary data, relative to their size, that still counts as rounding."""

_PER_AXIS = {1: 257, 2: 33, 3: 13}
"""Sample points per axis, by number of dimensions."""


@dataclass(frozen=True)
class _Data:
    """The initial data of each field at some points."""

    points: np.ndarray
    values: list[np.ndarray]


def check_problem(problem: Problem) -> None:
    """Raise a `ProblemError` if the declaration is inconsistent."""
    if problem.open:
        check_ranges(problem)
        _ = problem.nominal  # which is checked when it is made
        return
    _ = problem.tables, problem.derivatives  # which run the data and rhs once
    if not problem.domain.product:
        check_pieces(problem)
        return
    inside, *faces = _initial_data(problem)
    _check_finite(problem, inside)
    scales = [max(float(np.abs(v).max()), 1e-300) for v in inside.values]
    for axis, ends in enumerate(problem.boundaries):
        if ends.periodic:
            _check_periodic(problem, axis, faces[2 * axis : 2 * axis + 2], scales)
        _check_count(problem, axis)
    for side in problem.sides:
        _check_data(problem, side, faces[2 * side.axis + side.end], scales)
    check_meetings(problem, scales)
    check_velocity(problem)


def check_settings(problem: Problem) -> None:
    """What must hold before any data are looked at."""
    check_order(problem)
    if not isinstance(problem.domain, Domain):
        raise ProblemError(
            "domain must be an Interval(a, b), a Box((a, b), (c, d)) or a shape such as Disk((0, 0), 1), but "
            f"is {problem.domain!r}."
        )
    _ = problem.boundaries, problem.pieces
    start, horizon = problem.start, problem.horizon
    if not (isinstance(start, int | float) and math.isfinite(start)):
        raise ProblemError(f"start must be a finite time, but is {start!r}.")
    if not (isinstance(horizon, int | float) and math.isfinite(horizon) and horizon > start):
        raise ProblemError(
            f"horizon must be a {'positive, ' if start == 0 else ''}finite time"
            f"{'' if start == 0 else f' after the start, t = {start:g}'}, but is {horizon!r}."
        )
    _check_breaks(problem)
    for name, value in problem.parameters.items():
        if name in problem.axes:
            raise ProblemError(f"A parameter is called '{name}', which names a coordinate. Rename it.")
        if callable(value):  # a function that was found, such as a coefficient k(x)
            continue
        if not (isinstance(value, int | float | np.number) and np.isfinite(value)):
            raise ProblemError(f"The parameter '{name}' must be a finite number, but is {value!r}.")
    said = problem.parameters.get(HORIZON, horizon)
    if said != horizon:
        raise ProblemError(
            f"The problem ends at horizon = {horizon:g}, but its parameters say {said:g}. "
            "Change it with with_parameters(horizon=…), and call a parameter of your own something else."
        )
    for name, (low, high) in problem.ranges.items():
        if name not in problem.parameters:
            raise unknown_name("parameter with a range", name, problem.parameters)
        if not low <= problem.parameters[name] <= high:
            raise ProblemError(
                f"The parameter '{name}' of {problem.name} lies between {low:g} and {high:g}, but is "
                f"{problem.parameters[name]:g}."
            )
    if not problem.fields:
        raise ProblemError(
            "rhs has no field among its arguments. Write it as a function of the unknown: lambda u: u.xx."
        )


def _check_breaks(problem: Problem) -> None:
    """Places named by hand lie on an axis that there is, and inside it."""
    ends = dict(zip(problem.axes, [(problem.start, problem.horizon), *problem.domain.bounds], strict=True))
    for axis, places in problem.breaks.items():
        if axis not in ends:
            raise unknown_name("axis with breaks", axis, ends, of=problem.name)
        low, high = ends[axis]
        if isinstance(places, str) or not np.iterable(places):
            raise ProblemError(
                f"breaks gives a list of numbers for each axis, as in {{'t': [0.5]}}, but for {axis} "
                f"{places!r}."
            )
        for place in places:
            real = isinstance(place, int | float | np.number)
            # Times beyond the horizon are left to other horizons.
            if not (real and low < place < high) and not (real and axis == "t" and place >= high):
                raise ProblemError(
                    f"The break {axis} = {place!r} does not lie between {axis} = {low:g} and {high:g}. "
                    "Leave it out."
                )


def _initial_data(problem: Problem) -> list[_Data]:
    """The initial data in the domain, and at the lower and upper end of each axis."""
    domain, count = problem.domain, _PER_AXIS[problem.domain.dimension]
    faces = [part for axis in range(domain.dimension) for part in domain.ends(axis)]
    places = [domain.inside(_unit_grid(count, domain.dimension))]
    places += [domain.on(face, _unit_grid(count, domain.dimension - 1)) for face in faces]
    found = problem.initial_values(list(jnp.asarray(np.concatenate(places)).T))
    cuts = np.cumsum([len(points) for points in places])[:-1]
    values = zip(*(np.split(np.asarray(v), cuts) for v in found), strict=True)
    return [_Data(points, list(own)) for points, own in zip(places, values, strict=True)]


def _unit_grid(count: int, dimension: int) -> np.ndarray:
    """A grid over the unit cube, ends included; its one point where there is no dimension left."""
    return np.array(list(itertools.product(np.linspace(0.0, 1.0, count), repeat=dimension)))


def _check_finite(problem: Problem, inside: _Data) -> None:
    for name, value in zip(problem.fields, inside.values, strict=True):
        bad = ~np.isfinite(value)
        if bad.any():
            where = ", ".join(f"{x:g}" for x in inside.points[bad][0])
            raise ProblemError(
                f"The initial data for '{name}' are not finite: {name}({problem.start:g}, {where}) = "
                f"{value[bad][0]}."
            )


def _check_periodic(problem: Problem, axis: int, ends: list[_Data], scales: list[float]) -> None:
    low, high = ends
    letter, end = problem.space[axis], problem.domain.upper[axis]
    for name, at_low, at_high, scale in zip(problem.fields, low.values, high.values, scales, strict=True):
        gap = np.abs(at_low - at_high)
        if gap.max() > _MATCH * scale:
            at = int(np.argmax(gap))
            raise ProblemError(
                f"The initial data for '{name}' are not periodic along {letter}: they are {at_low[at]:.6g} "
                f"at {_place(problem, low.points[at])} and {at_high[at]:.6g} at the other end, "
                f"{letter} = {end:g}. "
                "Change them or the domain, or use boundary=Dirichlet(…)."
            )


def _check_count(problem: Problem, axis: int) -> None:
    """An equation of order n along an axis takes n conditions, of orders below n, on its two ends."""
    order = max(2, max(index[axis + 1] for index in problem.derivatives))
    letter = problem.space[axis]
    for number, name in enumerate(problem.fields):
        found = [c for side in problem.boundaries[axis].sides for c in side.conditions[number]]
        if len(found) > order:
            raise ProblemError(
                f"'{name}' has {len(found)} conditions along {letter}, but F is of order {order} there: "
                f"{order} are enough for both ends together. Leave some out."
            )
        for condition in found:
            if condition.order >= order:
                raise ProblemError(
                    f"The {condition.kind} condition on '{name}' along {letter} uses the derivative of order "
                    f"{condition.order}, but F is of order {order} there: conditions use lower derivatives."
                )


def _check_data(problem: Problem, side: Side, end: _Data, scales: list[float]) -> None:
    """Boundary data must be finite; values, which an exact trial function takes on, must suit u₀ too."""
    times = np.linspace(problem.start, problem.horizon, 101)
    t = np.repeat(times, len(end.points))
    across = [jnp.asarray(np.tile(c, len(times))) for i, c in enumerate(end.points.T) if i != side.axis]
    ends = [(problem.start, problem.horizon), *problem.domain.bounds]
    bounds = {name: own for name, own in zip(problem.axes, ends, strict=True) if name != side.letter}
    for condition in (c for own in side.conditions for c in own):
        for samples in samples_in(condition.data):
            samples.check(f"{condition.kind} data at {side.place}", bounds)
    data = problem.boundary_values(side, jnp.asarray(t), across)
    for name, own, values, u0, scale in zip(
        problem.fields, side.conditions, data, end.values, scales, strict=True
    ):
        for condition, g in zip(own, map(np.asarray, values), strict=True):
            if not np.isfinite(g).all():
                when = t[~np.isfinite(g)][0]
                raise ProblemError(
                    f"The {condition.kind} data for '{name}' at {side.place} are not finite at t = {when:g}."
                )
            if condition.order:
                continue
            if condition.jump:
                _check_jump(problem, side)
                continue
            g = g / condition.factors[0]
            gap = np.abs(u0 - g[: u0.size])
            if gap.max() > _MATCH * max(scale, float(np.abs(g).max())):
                at = int(np.argmax(gap))
                raise ProblemError(
                    f"Initial and boundary data disagree at {_place(problem, end.points[at])}: "
                    f"{name}({problem.start:g}, ·) = {u0[at]:.6g} but g = {g[at]:.6g} there at t = "
                    f"{problem.start:g}. "
                    "Change one of them so that they agree, or say that the wall jumps to g at the start: "
                    "Dirichlet(…, jump=True)."
                )


def _check_jump(problem: Problem, side: Side) -> None:
    """Only diffusion takes a jump at a wall away at once."""
    order = max(index[side.axis + 1] for index in problem.derivatives)
    if problem.order == 2 or order != 2 or any(problem.complex_fields):
        raise ProblemError(
            f"The Dirichlet data at {side.place} are said to jump, which takes an equation of first order in "
            f"time and of second order along {side.letter}, for real fields. Let initial and boundary data "
            "agree."
        )


def _place(problem: Problem, point: np.ndarray) -> str:
    return ", ".join(f"{name} = {x:g}" for name, x in zip(problem.space, point, strict=True))
