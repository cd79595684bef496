"""What a declaration must satisfy before any work starts on it."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from ..errors import ProblemError, unknown_name
from .conditions import Dirichlet, Periodic
from .declaration import HORIZON
from .domain import Box

if TYPE_CHECKING:
    from .declaration import Problem

_MATCH = 1e-8
"""Mismatch of initial and boundary data, relative to their size, that still counts as rounding."""

_PER_AXIS = {1: 257, 2: 33, 3: 13}
"""Sample points per axis, by number of dimensions."""


def check_problem(problem: Problem) -> None:
    """Raise a `ProblemError` that says what is wrong with the declaration, if anything is."""
    _check_settings(problem)
    _ = problem.derivatives  # runs rhs once
    mesh, values, scales = _initial_data(problem)
    for axis, condition in enumerate(problem.boundaries):
        ends = [(_face(mesh, axis, end), [_take(v, axis, end) for v in values]) for end in (0, -1)]
        if isinstance(condition, Periodic):
            _check_periodic(problem, axis, ends, scales)
        else:
            _check_data(problem, axis, ends, scales)
    _check_corners(problem, scales)


def _check_settings(problem: Problem) -> None:
    if not isinstance(problem.domain, Box):
        raise ProblemError(
            f"domain must be an Interval(a, b) or a Box((a, b), (c, d)), but is {problem.domain!r}."
        )
    _ = problem.boundaries
    start, horizon = problem.start, problem.horizon
    if not (isinstance(start, int | float) and math.isfinite(start)):
        raise ProblemError(f"start must be a finite time, but is {start!r}.")
    if not (isinstance(horizon, int | float) and math.isfinite(horizon) and horizon > start):
        raise ProblemError(
            f"horizon must be a {'positive, ' if start == 0 else ''}finite time"
            f"{'' if start == 0 else f' after the start, t = {start:g}'}, but is {horizon!r}."
        )
    for name, value in problem.parameters.items():
        if name in problem.axes:
            raise ProblemError(f"A parameter is called '{name}', which names a coordinate. Rename it.")
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


def _initial_data(problem: Problem) -> tuple[list[np.ndarray], list[np.ndarray], list[float]]:
    """A mesh over the domain, the initial data of each field on it, and their sizes."""
    count = _PER_AXIS[len(problem.space)]
    mesh = list(np.meshgrid(*(np.linspace(a, b, count) for a, b in problem.domain.bounds), indexing="ij"))
    values = [np.asarray(v) for v in problem.initial_values([jnp.asarray(m) for m in mesh])]
    for name, value in zip(problem.fields, values, strict=True):
        bad = ~np.isfinite(value)
        if bad.any():
            where = ", ".join(f"{m[bad][0]:g}" for m in mesh)
            raise ProblemError(
                f"The initial data for '{name}' are not finite: {name}({problem.start:g}, {where}) = "
                f"{value[bad][0]}."
            )
    return mesh, values, [max(float(np.abs(v).max()), 1e-300) for v in values]


def _check_periodic(problem: Problem, axis: int, ends: list[Any], scales: list[float]) -> None:
    (low_face, low_values), (_, high_values) = ends
    letter, end = problem.space[axis], problem.domain.upper[axis]
    for name, low, high, scale in zip(problem.fields, low_values, high_values, scales, strict=True):
        gap = np.abs(low - high)
        if gap.max() > _MATCH * scale:
            at = int(np.argmax(gap))
            raise ProblemError(
                f"The initial data for '{name}' are not periodic along {letter}: they are {low.flat[at]:.6g} "
                f"at {_place(problem, low_face, at)} and {high.flat[at]:.6g} at the other end, "
                f"{letter} = {end:g}. "
                "Change them or the domain, or use boundary=Dirichlet(…)."
            )


def _check_data(problem: Problem, axis: int, ends: list[Any], scales: list[float]) -> None:
    """Boundary data must be finite; values, which an exact trial function takes on, must suit u₀ too."""
    condition, face, letter = problem.boundaries[axis], ends[0][0], problem.space[axis]
    times = np.linspace(problem.start, problem.horizon, 101)
    t = np.repeat(times, face[0].size)
    across = [jnp.asarray(np.tile(m.ravel(), len(times))) for i, m in enumerate(face) if i != axis]
    data = problem.boundary_values(jnp.asarray(t), across, axis=axis)
    for side, values, (where, initial) in zip(("lower", "upper"), data, ends, strict=True):
        for name, g, u0, scale in zip(problem.fields, map(np.asarray, values), initial, scales, strict=True):
            if not np.isfinite(g).all():
                when = t[~np.isfinite(g)][0]
                raise ProblemError(
                    f"The {type(condition).__name__} data for '{name}' at the {side} end of {letter} are not "
                    f"finite at t = {when:g}."
                )
            if not isinstance(condition, Dirichlet):
                continue
            gap = np.abs(u0.ravel() - g[: u0.size])
            if gap.max() > _MATCH * max(scale, float(np.abs(g).max())):
                at = int(np.argmax(gap))
                raise ProblemError(
                    f"Initial and boundary data disagree at {_place(problem, where, at)}: "
                    f"{name}({problem.start:g}, ·) = {u0.flat[at]:.6g} but g = {g[at]:.6g} there at t = "
                    f"{problem.start:g}. "
                    "Change one of them so that they agree."
                )


def _check_corners(problem: Problem, scales: list[float]) -> None:
    """Where faces of two axes meet, their data must agree at all times."""
    prescribed = [a for a, condition in enumerate(problem.boundaries) if isinstance(condition, Dirichlet)]
    t = jnp.linspace(problem.start, problem.horizon, 21)
    middle = [jnp.full_like(t, (a + b) / 2) for a, b in problem.domain.bounds]
    for (first, second), i, j in itertools.product(itertools.combinations(prescribed, 2), (0, 1), (0, 1)):
        point = list(middle)
        point[first] = jnp.full_like(t, problem.domain.bounds[first][i])
        point[second] = jnp.full_like(t, problem.domain.bounds[second][j])
        one = problem.boundary_values(t, point[:first] + point[first + 1 :], axis=first)[i]
        two = problem.boundary_values(t, point[:second] + point[second + 1 :], axis=second)[j]
        for name, g, h, scale in zip(
            problem.fields, map(np.asarray, one), map(np.asarray, two), scales, strict=True
        ):
            gap = np.abs(g - h)
            if gap.max() > _MATCH * max(scale, float(np.abs(g).max())):
                at = int(np.argmax(gap))
                raise ProblemError(
                    f"The Dirichlet data for '{name}' disagree where the faces of {problem.space[first]} and "
                    f"{problem.space[second]} meet: {g[at]:.6g} and {h[at]:.6g} at t = {float(t[at]):g}. "
                    "Make them agree along the edges."
                )


def _take(values: np.ndarray, axis: int, end: int) -> np.ndarray:
    return np.take(values, end, axis=axis)


def _face(mesh: list[np.ndarray], axis: int, end: int) -> list[np.ndarray]:
    return [_take(m, axis, end) for m in mesh]


def _place(problem: Problem, face: list[np.ndarray], at: int) -> str:
    return ", ".join(f"{n} = {np.asarray(c).flat[at]:g}" for n, c in zip(problem.space, face, strict=True))
