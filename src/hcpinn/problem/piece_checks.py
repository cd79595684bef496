"""What a declaration on a curved domain must satisfy: data that are finite, and agree where they meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import ProblemError
from .pieces import Piece

if TYPE_CHECKING:
    from .declaration import Problem

_MATCH = 1e-8
"""Mismatch of data, relative to their size, that still counts as rounding."""

_INSIDE, _ON, _TIMES = 1024, 65, 17


def check_pieces(problem: Problem) -> None:
    """Raise a `ProblemError` if the data on a curved domain are inconsistent."""
    inside = problem.domain.inside(_spread(_INSIDE, problem.domain.dimension))
    scales = _finite(problem, "initial data", problem.initial_values, inside)
    speeds: list[float] = []
    if problem.order == 2:
        speeds = _finite(problem, "initial velocity", problem.initial_velocities, inside)
        speeds = [max(v, u / problem.duration) for v, u in zip(speeds, scales, strict=True)]
    ends: list[tuple[Piece, np.ndarray, list[np.ndarray | None]]] = []
    for piece in problem.pieces:
        _check_count(problem, piece)
        points = problem.domain.on(piece.part, _spread(_ON, problem.domain.dimension - 1, ends=True))
        data = _values(problem, piece, points)
        _check_start(problem, piece, points, data, scales)
        if problem.order == 2:
            _check_motion(problem, piece, points, speeds)
        ends.append((piece, points, data))
    _check_meetings(problem, ends, scales)


def _spread(count: int, dimension: int, *, ends: bool = False) -> np.ndarray:
    if dimension == 1 and ends:
        return np.linspace(0.0, 1.0, count)[:, None]
    shares = np.array([0.7548776662466927, 0.5698402909980532, 0.4301597090019468])
    return np.modf(np.outer(np.arange(1, count + 1), shares[:dimension]))[0]


def _finite(
    problem: Problem, what: str, function: Callable[[list[Any]], Sequence[Any]], points: np.ndarray
) -> list[float]:
    """The size of each field's data, which must be finite."""
    scales = []
    for name, found in zip(problem.fields, function([jnp.asarray(c) for c in points.T]), strict=True):
        value = np.asarray(found)
        bad = ~np.isfinite(value)
        if bad.any():
            raise ProblemError(
                f"The {what} for '{name}' are not finite at {_place(problem, points[bad][0])}: "
                f"{value[bad][0]}."
            )
        scales.append(max(float(np.abs(value).max()), 1e-300))
    return scales


def _check_count(problem: Problem, piece: Piece) -> None:
    order = max(2, max(sum(index[1:]) for index in problem.derivatives))
    for name, own in zip(problem.fields, piece.conditions, strict=True):
        if len(own) > order // 2:
            raise ProblemError(
                f"'{name}' has {len(own)} conditions on {piece.place}, but F is of order {order} in space: "
                f"it takes {order // 2} on each part. Leave some out."
            )
        for condition in own:
            if condition.order >= order:
                raise ProblemError(
                    f"The {condition.kind} condition on '{name}' on {piece.place} uses the derivative of "
                    f"order {condition.order}, but F is of order {order}: conditions use lower derivatives."
                )


def _values(problem: Problem, piece: Piece, points: np.ndarray) -> list[np.ndarray | None]:
    """The values prescribed for each field, times × points; None where there are none."""
    times = np.linspace(problem.start, problem.horizon, _TIMES)
    columns = [np.repeat(times, len(points)), *np.tile(points.T, len(times))]
    data = problem.piece_values(piece, [jnp.asarray(c) for c in columns])
    found: list[np.ndarray | None] = []
    for number, (name, own) in enumerate(zip(problem.fields, data, strict=True)):
        for condition, g in zip(piece.conditions[number], map(np.asarray, own), strict=True):
            if not np.isfinite(g).all():
                raise ProblemError(
                    f"The {condition.kind} data for '{name}' on {piece.place} are not finite at "
                    f"t = {columns[0][~np.isfinite(g)][0]:g}."
                )
        which = piece.value_of(number)
        if which is None:
            found.append(None)
        else:
            g = np.asarray(own[which]) / piece.conditions[number][which].factors[0]
            found.append(g.reshape(len(times), len(points)))
    return found


def _check_start(
    problem: Problem,
    piece: Piece,
    points: np.ndarray,
    data: list[np.ndarray | None],
    scales: list[float],
) -> None:
    start = problem.initial_values([jnp.asarray(c) for c in points.T])
    for name, g, found, scale in zip(problem.fields, data, start, scales, strict=True):
        if g is None:
            continue
        gap = np.abs(np.asarray(found) - g[0])
        if not gap.max() <= _MATCH * max(scale, float(np.abs(g).max())):
            at = int(np.argmax(gap))
            jumps = any(condition.jump for own in piece.conditions for condition in own)
            raise ProblemError(
                f"Initial and boundary data disagree on {piece.place}, at {_place(problem, points[at])}: "
                f"{name}({problem.start:g}, ·) = {np.asarray(found)[at]:.6g} but g = {g[0, at]:.6g} there at "
                f"t = {problem.start:g}. Change one of them so that they agree"
                + (", for jump=True is for the walls of boxes." if jumps else ".")
            )


def _check_motion(problem: Problem, piece: Piece, points: np.ndarray, speeds: list[float]) -> None:
    space = [jnp.asarray(c) for c in points.T]
    start = jnp.full(len(points), float(problem.start))
    moving = jax.jvp(lambda t: problem.piece_values(piece, [t, *space]), (start,), (jnp.ones_like(start),))[1]
    velocities = problem.initial_velocities(space)
    for number, (name, v, scale) in enumerate(zip(problem.fields, velocities, speeds, strict=True)):
        which = piece.value_of(number)
        if which is None:
            continue
        rate = np.asarray(moving[number][which]) / piece.conditions[number][which].factors[0]
        gap = np.abs(np.asarray(v) - rate)
        if gap.max() > _MATCH * max(scale, float(np.abs(rate).max())):
            at = int(np.argmax(gap))
            raise ProblemError(
                f"Initial velocity and boundary data disagree on {piece.place}, at "
                f"{_place(problem, points[at])}: velocity gives {name}_t = {np.asarray(v)[at]:.6g} but the "
                f"data move with {np.broadcast_to(rate, gap.shape)[at]:.6g}. Change one of them so that they "
                "agree."
            )


def _check_meetings(
    problem: Problem, ends: list[tuple[Piece, np.ndarray, list[np.ndarray | None]]], scales: list[float]
) -> None:
    """Where two parts with prescribed values meet, these agree at all times."""
    size = max(problem.domain.lengths)
    for k, (one, at_one, of_one) in enumerate(ends):
        for other, at_other, of_other in ends[k + 1 :]:
            gaps = np.linalg.norm(at_one[:, None] - at_other[None], axis=-1)
            rows, columns = np.nonzero(gaps <= 1e-8 * size)
            for name, g, h, scale in zip(problem.fields, of_one, of_other, scales, strict=True):
                if g is None or h is None or not len(rows):
                    continue
                gap = np.abs(g[:, rows] - h[:, columns])
                if gap.max() > 1e-6 * max(scale, float(np.abs(g).max())):
                    when, where = np.unravel_index(int(np.argmax(gap)), gap.shape)
                    raise ProblemError(
                        f"The Dirichlet data for '{name}' disagree where '{one.part}' and '{other.part}' "
                        f"meet, at {_place(problem, at_one[rows[where]])}: {g[when, rows[where]]:.6g} and "
                        f"{h[when, columns[where]]:.6g}. Make them agree there."
                    )


def _place(problem: Problem, point: np.ndarray) -> str:
    return ", ".join(f"{name} = {x:g}" for name, x in zip(problem.space, point, strict=True))
