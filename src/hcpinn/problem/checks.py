"""What a declaration must satisfy before any work starts on it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from ..errors import ProblemError
from .conditions import Dirichlet, Periodic
from .domain import Interval

if TYPE_CHECKING:
    from .declaration import Problem

_MATCH = 1e-8
"""Relative mismatch of initial and boundary data that still counts as rounding."""


def check_problem(problem: Problem) -> None:
    """Raise a `ProblemError` that says what is wrong with the declaration, if anything is."""
    _check_shape(problem)
    _ = problem.derivatives  # runs rhs once
    _check_initial(problem)
    if isinstance(problem.boundary, Dirichlet):
        _check_dirichlet(problem)
    else:
        _check_periodic(problem)


def _check_shape(problem: Problem) -> None:
    if not isinstance(problem.domain, Interval):
        raise ProblemError(f"domain must be an Interval(a, b), but is {problem.domain!r}.")
    if not isinstance(problem.boundary, Periodic | Dirichlet):
        raise ProblemError(
            f"boundary must be Periodic() or Dirichlet(g), but is {problem.boundary!r}. "
            "Mind the parentheses."
        )
    horizon = problem.horizon
    if not (isinstance(horizon, int | float) and math.isfinite(horizon) and horizon > 0):
        raise ProblemError(f"horizon must be a positive, finite time, but is {horizon!r}.")
    for name, value in problem.parameters.items():
        if name in problem.axes:
            raise ProblemError(f"A parameter is called '{name}', which names a coordinate. Rename it.")
        if not (np.isscalar(value) and np.isfinite(value)):  # type: ignore[arg-type]
            raise ProblemError(f"The parameter '{name}' must be a finite number, but is {value!r}.")
    if not problem.fields:
        raise ProblemError(
            "rhs has no field among its arguments. Write it as a function of the unknown: lambda u: u.xx."
        )


def _sample(problem: Problem, count: int = 257) -> np.ndarray:
    return np.linspace(problem.domain.lower[0], problem.domain.upper[0], count)


def _check_initial(problem: Problem) -> None:
    x = _sample(problem)
    for name, value in zip(problem.fields, problem.initial_values([jnp.asarray(x)]), strict=True):
        bad = ~np.isfinite(np.asarray(value))
        if bad.any():
            raise ProblemError(
                f"The initial data for '{name}' are not finite: u(0, {x[bad][0]:g}) = "
                f"{np.asarray(value)[bad][0]}."
            )


def _end_values(problem: Problem) -> tuple[list[complex], list[complex], list[float]]:
    x = jnp.asarray(_sample(problem))
    values = [np.asarray(v) for v in problem.initial_values([x])]
    scales = [max(float(np.abs(v).max()), 1e-300) for v in values]
    return [v[0].item() for v in values], [v[-1].item() for v in values], scales


def _check_periodic(problem: Problem) -> None:
    a, b = problem.domain.lower[0], problem.domain.upper[0]
    for name, low, high, scale in zip(problem.fields, *_end_values(problem), strict=True):
        if abs(low - high) > _MATCH * scale:
            raise ProblemError(
                f"The initial data for '{name}' are not periodic: they are {low:.6g} at x = {a:g} and "
                f"{high:.6g} at x = {b:g}. Change them or the domain, or use boundary=Dirichlet(…)."
            )


def _check_dirichlet(problem: Problem) -> None:
    times = np.linspace(0.0, problem.horizon, 101)
    sides = zip(
        ("lower", "upper"),
        (problem.domain.lower[0], problem.domain.upper[0]),
        problem.boundary_values(jnp.asarray(times)),
        _end_values(problem)[:2],
        strict=True,
    )
    scales = _end_values(problem)[2]
    for side, x, data, initial in sides:
        for name, g, u0, scale in zip(problem.fields, data, initial, scales, strict=True):
            values = np.asarray(g)
            if not np.isfinite(values).all():
                t = times[~np.isfinite(values)][0]
                raise ProblemError(f"The Dirichlet data for '{name}' at the {side} end are not finite at t = {t:g}.")
            if abs(u0 - values[0]) > _MATCH * max(scale, float(np.abs(values).max())):
                raise ProblemError(
                    f"Initial and boundary data disagree at x = {x:g}: u(0, {x:g}) = {u0:.6g} but "
                    f"g(0) = {values[0]:.6g} for '{name}'. Change one of them so that they agree."
                )
