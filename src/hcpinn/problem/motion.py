"""What an equation of second order in time must declare besides: the initial velocity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import ProblemError

if TYPE_CHECKING:
    from .declaration import Problem
    from .sides import Side

_MATCH = 1e-8
"""Mismatch of velocities, relative to their size, that still counts as rounding."""

_COUNT = 33


def check_order(problem: Problem) -> None:
    """The order in time is 1 or 2, and a velocity is given where it is 2."""
    order: Any = problem.order
    if isinstance(order, bool) or order not in (1, 2):
        raise ProblemError(
            f"order is the order in time, 1 for u_t = F or 2 for u_tt = F, but is {order!r}. Write an "
            "equation of higher order as a system."
        )
    if order == 2 and problem.velocity is None:
        raise ProblemError(
            "With order=2 the problem states u_tt = F, which needs the initial velocity u_t too: give "
            "velocity=…, as a number or a function of position as for initial. At rest it is velocity=0.0."
        )
    if order == 1 and problem.velocity is not None:
        raise ProblemError(
            "A velocity is given, but with order=1 the problem states u_t = F, so that F itself gives the "
            "velocity. Leave it out, or say order=2 for u_tt = F."
        )


def check_velocity(problem: Problem) -> None:
    """The velocity is finite, periodic where u is, and that of the boundary data where they prescribe u."""
    if problem.order == 1:
        return
    domain = problem.domain
    unit = ((np.arange(_COUNT)[:, None] + 0.5) / _COUNT + np.arange(domain.dimension) * 0.381966) % 1.0
    inside = domain.inside(unit)
    velocities = _at(problem, inside)
    for name, v in zip(problem.fields, velocities, strict=True):
        if not np.isfinite(v).all():
            raise ProblemError(f"The initial velocity of '{name}' is not finite everywhere.")
    scales = [max(float(np.abs(v).max()), 1e-300) for v in velocities]
    for axis, ends in enumerate(problem.boundaries):
        places = [domain.on(part, np.delete(unit, axis, axis=1)) for part in domain.ends(axis)]
        found = [_at(problem, points) for points in places]
        if ends.periodic:
            _check_periodic(problem, axis, found, scales)
        for side in ends.sides:
            _check_side(problem, side, places[side.end], found[side.end], scales)


def _check_periodic(problem: Problem, axis: int, found: list[list[np.ndarray]], scales: list[float]) -> None:
    for name, low, high, scale in zip(problem.fields, *found, scales, strict=True):
        gap = np.abs(low - high)
        if gap.max() > _MATCH * max(scale, float(np.abs(low).max())):
            at = int(np.argmax(gap))
            raise ProblemError(
                f"The initial velocity of '{name}' is not periodic along {problem.space[axis]}: it is "
                f"{low[at]:.6g} at one end and {high[at]:.6g} at the other."
            )


def _check_side(
    problem: Problem, side: Side, points: np.ndarray, found: list[np.ndarray], scales: list[float]
) -> None:
    """Where the value of u is prescribed, it starts to move as the velocity says."""
    across = [jnp.asarray(c) for i, c in enumerate(points.T) if i != side.axis]
    start = jnp.full(len(points), float(problem.start))
    moving = jax.jvp(lambda t: problem.boundary_values(side, t, across), (start,), (jnp.ones_like(start),))[1]
    for number, (name, v, scale) in enumerate(zip(problem.fields, found, scales, strict=True)):
        which = side.value_of(number)
        if which is None:
            continue
        rate = np.asarray(moving[number][which]) / side.conditions[number][which].factors[0]
        gap = np.abs(v - rate)
        if gap.max() > _MATCH * max(scale, float(np.abs(rate).max())):
            at = int(np.argmax(gap))
            raise ProblemError(
                f"Initial velocity and boundary data disagree at {side.place}: velocity gives {name}_t = "
                f"{v[at]:.6g} but the data move with {np.broadcast_to(rate, v.shape)[at]:.6g} at t = "
                f"{problem.start:g}. Change one of them so that they agree."
            )


def _at(problem: Problem, points: np.ndarray) -> list[np.ndarray]:
    found = problem.initial_velocities([jnp.asarray(c) for c in points.T])
    return [np.asarray(v) for v in found]
