"""What initial and boundary data must satisfy: finite, periodic where u is, and equal where they meet."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import ProblemError
from .conditions import Condition
from .domain import Domain
from .meetings import check_meetings
from .pieces import Piece
from .samples import samples_in
from .sides import Side

if TYPE_CHECKING:
    from .declaration import Problem

_MATCH = 1e-8
"""Mismatch of data, relative to their size, that still counts as rounding."""

_MEETING = 1e-6
"""The same where curves meet, whose common points are found to rounding only."""

_PER_AXIS = {1: 257, 2: 33, 3: 13}
"""Points per axis of a box, by number of dimensions."""

_INSIDE, _ON = 1024, 65
"""Points inside a curved domain, and on each part of its boundary."""

_TIMES = 101

Place = Side | Piece

Fields = Sequence[np.ndarray]
"""One array per field."""


def check_data(problem: Problem) -> None:
    """Raise a `ProblemError` if the data are inconsistent."""
    domain = problem.domain
    inside = domain.inside(_spread(domain, domain.dimension))
    faces = {part: domain.on(part, _spread(domain, domain.dimension - 1)) for part in domain.parts}
    start, scales = _at_start(problem, "initial data", problem.initial_values, inside, faces)
    moving, speeds = start, scales
    if problem.order == 2:
        moving, speeds = _at_start(problem, "initial velocities", problem.initial_velocities, inside, faces)
        speeds = [max(v, u / problem.duration) for v, u in zip(speeds, scales, strict=True)]
    _check_counts(problem)
    _check_samples(problem)
    found = []
    for place in problem.sides or problem.pieces:
        points = faces[place.part]
        values = _values(problem, place, points)
        _check_start(problem, place, points, values, start[place.part], scales)
        if problem.order == 2:
            _check_motion(problem, place, points, moving[place.part], speeds)
        found.append((place.part, points, values))
    _check_corners(problem, found, scales)
    if domain.product:
        check_meetings(problem, scales)


def _spread(domain: Domain, dimension: int) -> np.ndarray:
    """Points of the unit cube: a grid, ends included, for boxes and along curves; else evenly spread ones."""
    if domain.product or dimension == 1:
        along = np.linspace(0.0, 1.0, _PER_AXIS[domain.dimension] if domain.product else _ON)
        return np.array(list(itertools.product(along, repeat=dimension)))
    shares = np.array([0.7548776662466927, 0.5698402909980532, 0.4301597090019468])
    count = _INSIDE if dimension == domain.dimension else _ON
    return np.modf(np.outer(np.arange(1, count + 1), shares[:dimension]))[0]


def _at_start(
    problem: Problem,
    what: str,
    function: Callable[[list[Any]], Sequence[Any]],
    inside: np.ndarray,
    faces: dict[str, np.ndarray],
) -> tuple[dict[str, list[np.ndarray]], list[float]]:
    """Data at the start on each part of the boundary, and their size in the domain; finite, and periodic."""
    places = [inside, *faces.values()]
    cuts = np.cumsum([len(points) for points in places])[:-1]
    found = [np.asarray(v) for v in function([jnp.asarray(c) for c in np.concatenate(places).T])]
    values = [np.split(v, cuts) for v in found]
    letter = "_t" if what == "initial velocities" else ""
    for name, (own, *_) in zip(problem.fields, values, strict=True):
        if not np.isfinite(own).all():
            bad = ~np.isfinite(own)
            where = ", ".join(f"{x:g}" for x in inside[bad][0])
            raise ProblemError(
                f"The {what} for '{name}' are not finite: {name}{letter}({problem.start:g}, {where}) = "
                f"{own[bad][0]}."
            )
    scales = [max(float(np.abs(own[0]).max()), 1e-300) for own in values]
    at = {part: [own[n] for own in values] for n, part in enumerate(faces, 1)}
    for axis, ends in enumerate(problem.boundaries):
        if ends.periodic:
            lower, upper = problem.domain.ends(axis)
            _check_periodic(problem, what, axis, faces[lower], (at[lower], at[upper]), scales)
    return at, scales


def _check_periodic(
    problem: Problem,
    what: str,
    axis: int,
    points: np.ndarray,
    ends: tuple[Fields, Fields],
    scales: list[float],
) -> None:
    letter, end = problem.space[axis], problem.domain.upper[axis]
    for name, at_low, at_high, scale in zip(problem.fields, *ends, scales, strict=True):
        gap = np.abs(at_low - at_high)
        if gap.max() > _MATCH * scale:
            at = int(np.argmax(gap))
            raise ProblemError(
                f"The {what} for '{name}' are not periodic along {letter}: they are {at_low[at]:.6g} "
                f"at {_point(problem, points[at])} and {at_high[at]:.6g} at the other end, "
                f"{letter} = {end:g}. "
                "Change them or the domain, or use boundary=Dirichlet(…)."
            )


def _check_counts(problem: Problem) -> None:
    """An equation of order n takes n conditions, of orders below n, on both ends of an axis together."""
    for axis, ends in enumerate(problem.boundaries):
        order = max(2, max(index[axis + 1] for index in problem.derivatives))
        enough = f"{order} are enough for both ends together"
        for number, name in enumerate(problem.fields):
            own = [c for side in ends.sides for c in side.conditions[number]]
            _check_count(name, own, order, order, f"along {problem.space[axis]}", enough)
    order = max(2, max(sum(index[1:]) for index in problem.derivatives))
    for piece in problem.pieces:
        for name, own in zip(problem.fields, piece.conditions, strict=True):
            _check_count(name, own, order, order // 2, piece.where, f"each part takes {order // 2}")


def _check_count(name: str, own: Sequence[Condition], order: int, most: int, where: str, enough: str) -> None:
    if len(own) > most:
        raise ProblemError(
            f"'{name}' has {len(own)} conditions {where}, but F is of order {order} there: {enough}. Leave "
            "some out."
        )
    for condition in own:
        if condition.order >= order:
            raise ProblemError(
                f"The {condition.kind} condition on '{name}' {where} uses the derivative of order "
                f"{condition.order}, but F is of order {order} there: conditions use lower derivatives."
            )


def _check_samples(problem: Problem) -> None:
    """Measured values on the walls of a box cover what these depend on."""
    ends = dict(zip(problem.axes, [(problem.start, problem.horizon), *problem.domain.bounds], strict=True))
    for side in problem.sides:
        bounds = {name: own for name, own in ends.items() if name != side.letter}
        for condition in side.every:
            for samples in samples_in(condition.data):
                samples.check(f"{condition.kind} data {side.where}", bounds)


def _values(problem: Problem, place: Place, points: np.ndarray) -> list[np.ndarray | None]:
    """The values prescribed for each field, times × points; None where there are none. Data are finite."""
    times = np.linspace(problem.start, problem.horizon, _TIMES)
    t = np.repeat(times, len(points))
    data = problem.data_on(place, [jnp.asarray(c) for c in (t, *np.tile(points.T, len(times)))])
    for name, own, values in zip(problem.fields, place.conditions, data, strict=True):
        for condition, g in zip(own, map(np.asarray, values), strict=True):
            if not np.isfinite(g).all():
                raise ProblemError(
                    f"The {condition.kind} data for '{name}' {place.where} are not finite at "
                    f"t = {t[~np.isfinite(g)][0]:g}."
                )
    return [None if g is None else g.reshape(len(times), len(points)) for g in place.prescribed(data)]


def _check_start(
    problem: Problem,
    place: Place,
    points: np.ndarray,
    values: list[np.ndarray | None],
    start: Fields,
    scales: list[float],
) -> None:
    """Values, which an exact trial function takes on, suit the initial data unless a wall jumps."""
    for number, (name, g, u0, scale) in enumerate(zip(problem.fields, values, start, scales, strict=True)):
        if g is None:
            continue
        jumps = any(condition.jump for condition in place.conditions[number])
        if jumps and isinstance(place, Side):
            _check_jump(problem, place)
            continue
        gap = np.abs(u0 - g[0])
        if not gap.max() <= _MATCH * max(scale, float(np.abs(g).max())):
            at = int(np.argmax(gap))
            part, way = "", ", or say that the wall jumps to g at the start: Dirichlet(…, jump=True)."
            if not problem.domain.product:
                part, way = f"{place.where}, ", ", for jump=True is for the walls of boxes." if jumps else "."
            raise ProblemError(
                f"Initial and boundary data disagree {part}at {_point(problem, points[at])}: "
                f"{name}({problem.start:g}, ·) = {u0[at]:.6g} but g = {g[0, at]:.6g} there at t = "
                f"{problem.start:g}. Change one of them so that they agree{way}"
            )


def _check_jump(problem: Problem, side: Side) -> None:
    """Only diffusion takes a jump at a wall away at once."""
    order = max(index[side.axis + 1] for index in problem.derivatives)
    if problem.order == 2 or order != 2 or any(problem.complex_fields):
        raise ProblemError(
            f"The Dirichlet data {side.where} are said to jump, which takes an equation of first order in "
            f"time and of second order along {side.letter}, for real fields. Let initial and boundary data "
            "agree."
        )


def _check_motion(
    problem: Problem, place: Place, points: np.ndarray, velocities: Fields, speeds: list[float]
) -> None:
    """Where the value of u is prescribed, it starts to move as the velocity says."""
    space = [jnp.asarray(c) for c in points.T]
    start = jnp.full(len(points), float(problem.start))
    moving = jax.jvp(lambda t: problem.data_on(place, [t, *space]), (start,), (jnp.ones_like(start),))[1]
    rates = place.prescribed(moving)
    for name, v, found, speed in zip(problem.fields, velocities, rates, speeds, strict=True):
        if found is None:
            continue
        rate = np.broadcast_to(found, v.shape)
        gap = np.abs(v - rate)
        if gap.max() > _MATCH * max(speed, float(np.abs(rate).max())):
            at = int(np.argmax(gap))
            raise ProblemError(
                f"Initial velocity and boundary data disagree {place.where}, at "
                f"{_point(problem, points[at])}: velocity gives {name}_t = {v[at]:.6g} but the data move "
                f"with {rate[at]:.6g} at t = {problem.start:g}. Change one of them so that they agree."
            )


def _check_corners(
    problem: Problem, found: list[tuple[str, np.ndarray, list[np.ndarray | None]]], scales: list[float]
) -> None:
    """Where two parts with prescribed values meet, these agree at all times."""
    domain = problem.domain
    tolerance = _MATCH if domain.product else _MEETING
    times = np.linspace(problem.start, problem.horizon, _TIMES)
    for (one, at_one, of_one), (other, at_other, of_other) in itertools.combinations(found, 2):
        gaps = np.linalg.norm(at_one[:, None] - at_other[None], axis=-1)
        rows, columns = np.nonzero(gaps <= _MATCH * max(domain.lengths))
        for name, g, h, scale in zip(problem.fields, of_one, of_other, scales, strict=True):
            if g is None or h is None or not len(rows):
                continue
            gap = np.abs(g[:, rows] - h[:, columns])
            if gap.max() > tolerance * max(scale, float(np.abs(g).max())):
                when, where = np.unravel_index(int(np.argmax(gap)), gap.shape)
                raise ProblemError(
                    f"The Dirichlet data for '{name}' disagree where '{one}' and '{other}' meet, at "
                    f"{_point(problem, at_one[rows[where]])}: {g[when, rows[where]]:.6g} and "
                    f"{h[when, columns[where]]:.6g} at t = {times[when]:g}. Make them agree there."
                )


def _point(problem: Problem, point: np.ndarray) -> str:
    return ", ".join(f"{name} = {x:g}" for name, x in zip(problem.space, point, strict=True))
