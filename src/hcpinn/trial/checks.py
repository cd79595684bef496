"""The conditions under which a lift and a gate make initial and boundary data exact.

They are those of the study's consistency theorem: ψ(0, x) = u₀(x), φ(0, x) = 0 and
∂φ/∂t(0, x) ≠ 0 inside; with Dirichlet data also ψ = g and φ = 0 on the boundary, and with
periodic data equal values of ψ and of φ at both ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from .. import jets
from ..errors import MethodError
from ..problem import Dirichlet, Periodic, Problem
from .part import Condition

if TYPE_CHECKING:
    from .trial import Trial

_ROUNDING = 1e-10
"""Mismatch, relative to the size of the initial data, that still counts as rounding."""


def open_conditions(trial: Trial, *, free: bool) -> tuple[Condition, ...]:
    """The conditions that the trial function does not meet by construction.

    Raises a `MethodError` that says where and by how much a lift or a gate fails. With
    `free=True` there is neither, and no data hold.
    """
    boundaries = list(enumerate(trial.problem.boundaries))
    periodic = [axis for axis, condition in boundaries if isinstance(condition, Periodic)]
    left: list[Condition] = [("periodic", axis) for axis in periodic if not _repeats(trial, axis)]
    if free:
        return (("initial", None), *left, *(("boundary", a) for a, _ in boundaries if a not in periodic))
    start = _slanted_points(trial.problem)
    wanted = np.asarray(
        trial.problem.to_components(trial.problem.initial_values([jnp.asarray(c) for c in start.T[1:]]))
    )
    scale = max(float(np.abs(wanted).max()), 1e-300)
    _check_start(trial, start, wanted, scale)
    for axis, condition in boundaries:
        if isinstance(condition, Dirichlet):
            _check_dirichlet(trial, axis, scale)
        elif isinstance(condition, Periodic):
            _check_periodic(trial, axis, scale)
        else:
            left.append(("boundary", axis))
    return tuple(left)


def _check_start(trial: Trial, points: np.ndarray, wanted: np.ndarray, scale: float) -> None:
    problem = trial.problem
    lift = np.asarray(trial.lift(jnp.asarray(points)))
    _refuse(
        ~(np.abs(lift - wanted).max(axis=1) <= _ROUNDING * scale),
        lambda i: (
            f"The lift does not start at the initial data: at {_where(problem, points[i])} it is "
            f"{_show(lift[i])} but u0 = {_show(wanted[i])}. It must satisfy lift(0, x) = u0(x)."
        ),
    )
    zero = (0,) * len(problem.axes)
    first = (1, *zero[1:])
    gate = jets.nested(trial.gate, jnp.asarray(points), (zero, first))
    value, slope = np.asarray(gate[zero])[:, 0], np.asarray(gate[first])[:, 0]
    _refuse(
        ~(np.abs(value) <= _ROUNDING),
        lambda i: (
            f"The gate does not vanish at the start: it is {value[i]:g} at {_where(problem, points[i])}. "
            "It must satisfy gate(0, x) = 0, or the network disturbs the initial data."
        ),
    )
    _refuse(
        ~(np.abs(slope) * problem.duration > 1e-8) | ~np.isfinite(slope),
        lambda i: (
            f"The gate's time derivative is {slope[i]:g} at {_where(problem, points[i])}. It must satisfy "
            "gate_t(0, x) ≠ 0 inside the domain, or u_t(0, x) is fixed by the lift alone. "
            "Use a gate that grows linearly at first, such as t/T."
        ),
    )


def _check_dirichlet(trial: Trial, axis: int, scale: float) -> None:
    problem = trial.problem
    times, ends = _end_points(problem, axis)
    across = [jnp.asarray(c) for i, c in enumerate(ends[0].T[1:]) if i != axis]
    data = problem.boundary_values(jnp.asarray(times), across, axis=axis)
    for side, points, g in zip(("lower", "upper"), ends, data, strict=True):
        lift, wanted = np.asarray(trial.lift(jnp.asarray(points))), np.asarray(problem.to_components(g))
        gate = np.asarray(trial.gate(jnp.asarray(points)))[:, 0]
        _refuse(
            ~(np.abs(lift - wanted).max(axis=1) <= _ROUNDING * max(scale, float(np.abs(wanted).max()))),
            lambda i, points=points, lift=lift, wanted=wanted, side=side: (
                f"The lift does not carry the Dirichlet data at the {side} end of {problem.space[axis]}: at "
                f"{_where(problem, points[i])} it is {_show(lift[i])} but g = {_show(wanted[i])}."
            ),
        )
        _refuse(
            ~(np.abs(gate) <= _ROUNDING),
            lambda i, points=points, gate=gate, side=side: (
                f"The gate does not vanish at the {side} end of {problem.space[axis]}: it is {gate[i]:g} at "
                f"{_where(problem, points[i])}. It must be zero wherever values are prescribed."
            ),
        )


def _check_periodic(trial: Trial, axis: int, scale: float) -> None:
    times, ends = _end_points(trial.problem, axis)
    for name, function, unit in (("lift", trial.lift, scale), ("gate", trial.gate, 1.0)):
        low, high = (np.asarray(function(jnp.asarray(points))) for points in ends)
        _refuse(
            ~(np.abs(low - high).max(axis=1) <= _ROUNDING * max(unit, float(np.abs(low).max()))),
            lambda i, name=name, low=low, high=high: (
                f"The {name} is not periodic in {trial.problem.space[axis]}: at t = {times[i]:g} it is "
                f"{_show(low[i])} at the lower end and {_show(high[i])} at the upper."
            ),
        )


def _repeats(trial: Trial, axis: int) -> bool:
    """Whether the network sees the same at both ends of an axis."""
    _, ends = _end_points(trial.problem, axis)
    low, high = (np.asarray(trial.embed(jnp.asarray(points))) for points in ends)
    return np.allclose(low, high, rtol=0.0, atol=_ROUNDING * max(1.0, float(np.abs(low).max())))


def _slanted_points(problem: Problem, count: int = 65) -> np.ndarray:
    """Points at the start along a slanted line through the domain, away from ends and symmetries."""
    low, high = np.asarray(problem.domain.lower), np.asarray(problem.domain.upper)
    share = (np.arange(count)[:, None] + 0.5) / count + np.arange(len(low)) * 0.381966
    return np.column_stack([np.full(count, problem.start), low + (high - low) * (share % 1.0)])


def _end_points(problem: Problem, axis: int, count: int = 11) -> tuple[np.ndarray, list[np.ndarray]]:
    """Times, and points at those times at the lower and at the upper end of an axis."""
    times = np.linspace(problem.start, problem.horizon, count)
    ends = []
    for edge in (problem.domain.lower[axis], problem.domain.upper[axis]):
        points = np.column_stack([times, _slanted_points(problem, count)[:, 1:]])
        points[:, axis + 1] = edge
        ends.append(points)
    return times, ends


def _where(problem: Problem, point: np.ndarray) -> str:
    return "(" + ", ".join(f"{n} = {v:.4g}" for n, v in zip(problem.axes, point, strict=True)) + ")"


def _show(values: np.ndarray) -> str:
    return ", ".join(f"{v:.6g}" for v in values)


def _refuse(bad: np.ndarray, message: Callable[[int], str]) -> None:
    if bad.any():
        raise MethodError(message(int(np.argmax(bad))))
