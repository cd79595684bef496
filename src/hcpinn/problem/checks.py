"""What a declaration must satisfy before any work starts on it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ProblemError, unknown_name
from .data_checks import check_data
from .declaration import HORIZON
from .domain import Domain
from .parameters import check_ranges

if TYPE_CHECKING:
    from .declaration import Problem


def check_problem(problem: Problem) -> None:
    """Raise a `ProblemError` if the declaration is inconsistent."""
    if problem.open:
        check_ranges(problem)
        _ = problem.nominal  # which is checked when it is made
        return
    _ = problem.tables, problem.derivatives  # which run the data and rhs once
    check_data(problem)


def check_settings(problem: Problem) -> None:
    """What must hold before any data are looked at."""
    _check_order(problem)
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
    """Breaks lie on an axis of the problem, and within it."""
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


def _check_order(problem: Problem) -> None:
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
