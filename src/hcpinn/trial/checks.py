"""The conditions under which a lift and a gate make initial and boundary data exact.

They are those of the study's consistency theorem: ψ(0, x) = u₀(x), φ(0, x) = 0 and
∂φ/∂t(0, x) ≠ 0 inside; with data at walls, B u = g, also B ψ = g and B φ = 0 there, and with
periodic data equal values of ψ and of φ at both ends. For an equation of second order in time
also ∂ψ/∂t(0, x) = v₀(x) and ∂φ/∂t(0, x) = 0, and it is ∂²φ/∂t² that must not vanish.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .. import jets
from ..errors import MethodError
from ..problem import Index, Piece, Problem, Side
from .walls import OpenCondition

if TYPE_CHECKING:
    from .trial import Trial

_ROUNDING = 1e-10
"""Mismatch, relative to the size of the initial data, that still counts as rounding."""


def open_conditions(trial: Trial, *, free: bool) -> tuple[OpenCondition, ...]:
    """The conditions that the trial function does not meet by construction.

    Raises a `MethodError` that says where and by how much a lift or a gate fails. With
    `free=True` there is neither, and no data hold.
    """
    problem = trial.problem
    boundaries = list(enumerate(problem.boundaries))
    times = np.linspace(problem.start, problem.horizon, 11)
    held = [piece for piece in problem.pieces if any(part == piece.part for part, _ in trial.walls.held)]
    start, *sides = _look(
        trial,
        [
            _slanted_points(problem),
            *(p for a, _ in boundaries for p in _end_points(problem, a, times)),
            *(_rim_points(problem, piece, times) for piece in held),
        ],
    )
    rims = sides[2 * len(boundaries) :]
    ends = {axis: sides[2 * axis : 2 * axis + 2] for axis, _ in boundaries}
    periodic = [axis for axis, condition in boundaries if condition.periodic]
    left: list[OpenCondition] = [("periodic", axis) for axis in periodic if not _repeats(ends[axis])]
    if free:
        return (("initial", None), *left, *trial.walls.bound)
    scale = max([float(np.abs(start.initial).max()), *(float(np.abs(s.lift).max()) for s in sides), 1e-300])
    if problem.order == 2:  # what starts from zero with a velocity is soon as large as this
        scale = max(scale, problem.duration * float(np.abs(start.moving).max()))
    _check_start(problem, start, scale)
    for axis, condition in boundaries:
        if condition.periodic:
            _check_periodic(problem, axis, times, ends[axis], scale)
            continue
        for side in condition.sides:
            _check_side(trial, side, times, ends[axis][side.end], scale)
    for piece, rim in zip(held, rims, strict=True):
        _check_rim(trial, piece, rim, scale)
    return (*left, *trial.walls.left_open)


class _Look(NamedTuple):
    """A trial function's parts at some points, one row for each."""

    points: np.ndarray
    initial: np.ndarray
    lift: np.ndarray
    gate: np.ndarray
    slopes: np.ndarray
    """The gate's time derivatives, up to the order of the equation."""
    moving: np.ndarray
    """The lift's time derivative."""
    features: np.ndarray
    lifts: dict[Index, np.ndarray]
    """Derivatives that conditions at walls use."""
    gates: dict[Index, np.ndarray]


def _look(trial: Trial, places: list[np.ndarray]) -> list[_Look]:
    """The parts at several sets of points, by one program: many small ones take long to compile."""
    problem = trial.problem
    zero = (0,) * len(problem.axes)
    times = [(k, *zero[1:]) for k in range(1, problem.order + 1)]
    wanted = _wall_indices(trial)

    @jax.jit
    def parts(points: Array) -> tuple[Any, ...]:
        initial = problem.to_components(problem.initial_values(list(points.T[1:])))
        gate = jets.nested(trial.gate, points, (zero, *times, *wanted))
        lift = jets.nested(trial.lift, points, (zero, times[0], *wanted))
        value, *slopes = (
            v[:, 0] if v.shape[1] == 1 else jnp.abs(v).max(axis=1) for v in (gate[i] for i in (zero, *times))
        )
        at_walls = [{i: jet[i] for i in wanted} for jet in (lift, gate)]
        moving = lift[times[0]]
        return initial, lift[zero], value, jnp.stack(slopes, 1), moving, trial.embed(points), *at_walls

    found = jax.tree.map(np.asarray, parts(jnp.asarray(np.concatenate(places))))
    cuts = [0, *np.cumsum([len(points) for points in places])]
    return [
        _Look(points, *jax.tree.map(lambda a, b=begin, e=end: a[b:e], found))
        for points, (begin, end) in zip(places, itertools.pairwise(cuts), strict=True)
    ]


def _wall_indices(trial: Trial) -> list[Index]:
    """The derivatives of u, other than itself, that conditions which hold use."""
    found: dict[Index, None] = {}
    for side in trial.problem.sides:
        normal = trial.problem.domain.normal(side.part, None)
        for component, field in enumerate(trial.problem.component_fields):
            if (side.part, component) in trial.walls.held:
                for condition in side.conditions[field]:
                    found |= {index: None for index, _ in condition.terms(normal) if any(index)}
    return list(found)


def _check_start(problem: Problem, start: _Look, scale: float) -> None:
    points, wanted, lift, gate = start.points, start.initial, start.lift, start.gate
    *lower, slope = start.slopes.T
    _refuse(
        ~(np.abs(lift - wanted).max(axis=1) <= _ROUNDING * scale),
        lambda i: (
            f"The lift does not start at the initial data: at {_where(problem, points[i])} it is "
            f"{_show(lift[i])} but u0 = {_show(wanted[i])}. It must satisfy lift(0, x) = u0(x)."
        ),
    )
    _refuse(
        ~(np.abs(gate) <= _ROUNDING),
        lambda i: (
            f"The gate does not vanish at the start: it is {gate[i]:g} at {_where(problem, points[i])}. "
            "It must satisfy gate(0, x) = 0, or the network disturbs the initial data."
        ),
    )
    second = problem.order == 2
    _refuse(
        ~(np.abs(slope) * problem.duration**problem.order > 1e-8) | ~np.isfinite(slope),
        lambda i: (
            f"The gate's {'second ' if second else ''}time derivative is {slope[i]:g} at "
            f"{_where(problem, points[i])}. It must satisfy {'gate_tt' if second else 'gate_t'}(0, x) ≠ 0 "
            f"inside the domain, or {'u_tt' if second else 'u_t'}(0, x) is fixed by the lift alone. "
            f"Use a gate that grows {'like its square' if second else 'linearly'} at first, such as "
            f"{'(t/T)²' if second else 't/T'}."
        ),
    )
    if second:
        _check_velocity(problem, start.moving, points, lower[0], scale)


def _check_velocity(
    problem: Problem, moving: np.ndarray, points: np.ndarray, slope: np.ndarray, scale: float
) -> None:
    """The lift moves with the initial velocity, and the gate leaves it alone."""
    wanted = np.asarray(problem.to_components(problem.initial_velocities(list(jnp.asarray(points.T[1:])))))
    size = max(float(np.abs(wanted).max()), scale / problem.duration)
    _refuse(
        ~(np.abs(moving - wanted).max(axis=1) <= _ROUNDING * size),
        lambda i: (
            f"The lift does not start with the initial velocity: at {_where(problem, points[i])} its time "
            f"derivative is {_show(moving[i])} but velocity = {_show(wanted[i])}. It must satisfy "
            "lift_t(0, x) = velocity(x)."
        ),
    )
    _refuse(
        ~(np.abs(slope) * problem.duration <= _ROUNDING),
        lambda i: (
            f"The gate's time derivative does not vanish at the start: it is {slope[i]:g} at "
            f"{_where(problem, points[i])}. It must satisfy gate_t(0, x) = 0, or the network disturbs the "
            "initial velocity. Use a gate that grows like a square, such as (t/T)²."
        ),
    )


def _check_side(trial: Trial, side: Side, times: np.ndarray, end: _Look, scale: float) -> None:
    """Where conditions hold, B ψ = g and B φ = 0."""
    problem = trial.problem
    across = [jnp.asarray(c) for i, c in enumerate(end.points.T[1:]) if i != side.axis]
    data = problem.boundary_components(side, jnp.asarray(times), across)
    normal = problem.domain.normal(side.part, None)
    zero = (0,) * len(problem.axes)
    for component, (field, own) in enumerate(zip(problem.component_fields, data, strict=True)):
        if (side.part, component) not in trial.walls.held:
            continue
        for condition, g in zip(side.conditions[field], map(np.asarray, own), strict=True):
            terms = condition.terms(normal)
            lifts, gates = {zero: end.lift, **end.lifts}, {zero: end.gate[:, None], **end.gates}
            found = np.sum([factor * lifts[index][:, component] for index, factor in terms], axis=0)
            size = scale * max(abs(factor) for _, factor in terms)
            _refuse(
                ~(np.abs(found - g) <= _ROUNDING * max(size, float(np.abs(g).max()))),
                lambda i, found=found, g=g, kind=condition.kind: (
                    f"The lift does not carry the {kind} data at {side.place}: at "
                    f"{_where(problem, end.points[i])} it gives {found[i]:.6g} but g = {g[i]:.6g}."
                ),
            )
            if not trial.walls.plain:
                continue  # one factor per component: no gate but ours has that
            gate = np.sum([factor * gates[index][:, 0] for index, factor in terms], axis=0)
            _refuse(
                ~(np.abs(gate) <= _ROUNDING * max(abs(factor) for _, factor in terms)),
                lambda i, gate=gate, condition=condition: (
                    f"The gate does not vanish at {side.place}: it is {gate[i]:g} at "
                    f"{_where(problem, end.points[i])}. It must be zero wherever values are prescribed."
                    if condition.order == 0
                    else f"The gate does not meet the homogeneous {condition.kind} condition at "
                    f"{side.place}: it gives {gate[i]:g} in place of 0 at {_where(problem, end.points[i])}."
                ),
            )


def _check_rim(trial: Trial, piece: Piece, rim: _Look, scale: float) -> None:
    """Where values hold on a part of a curved boundary, ψ = g and φ = 0."""
    problem = trial.problem
    data = problem.piece_components(piece, [jnp.asarray(c) for c in rim.points.T])
    for component, field in enumerate(problem.component_fields):
        number = piece.value_of(field)
        if number is None:
            continue
        wanted = np.asarray(data[component][number]) / piece.conditions[field][number].factors[0]
        lift, gate = rim.lift[:, component], rim.gate
        _refuse(
            ~(np.abs(lift - wanted) <= _ROUNDING * max(scale, float(np.abs(wanted).max()))),
            lambda i, lift=lift, wanted=wanted: (
                f"The lift does not carry the Dirichlet data on {piece.place}: at "
                f"{_where(problem, rim.points[i])} it gives {lift[i]:.6g} but g = {wanted[i]:.6g}."
            ),
        )
        _refuse(
            trial.walls.plain & ~(np.abs(gate) <= _ROUNDING),  # else only our own gate has several factors
            lambda i, gate=gate: (
                f"The gate does not vanish on {piece.place}: it is {gate[i]:g} at "
                f"{_where(problem, rim.points[i])}. It must be zero wherever values are prescribed."
            ),
        )


def _check_periodic(problem: Problem, axis: int, times: np.ndarray, ends: list[_Look], scale: float) -> None:
    for name, unit, low, high in (
        ("lift", scale, ends[0].lift, ends[1].lift),
        ("gate", 1.0, ends[0].gate[:, None], ends[1].gate[:, None]),
    ):
        _refuse(
            ~(np.abs(low - high).max(axis=1) <= _ROUNDING * max(unit, float(np.abs(low).max()))),
            lambda i, name=name, low=low, high=high: (
                f"The {name} is not periodic in {problem.space[axis]}: at t = {times[i]:g} it is "
                f"{_show(low[i])} at the lower end and {_show(high[i])} at the upper."
            ),
        )


def _repeats(ends: list[_Look]) -> bool:
    """Whether the network sees the same at both ends of an axis."""
    low, high = (end.features for end in ends)
    return np.allclose(low, high, rtol=0.0, atol=_ROUNDING * max(1.0, float(np.abs(low).max())))


def _slanted_points(problem: Problem, count: int = 65) -> np.ndarray:
    """Points at the start, away from ends and symmetries."""
    inside = problem.domain.inside(_slanted(count, problem.domain.dimension))
    return np.column_stack([np.full(count, problem.start), inside])


def _end_points(problem: Problem, axis: int, times: np.ndarray) -> list[np.ndarray]:
    """Points at some times at the lower and at the upper end of an axis."""
    unit = np.delete(_slanted(len(times), problem.domain.dimension), axis, axis=1)
    return [np.column_stack([times, problem.domain.on(face, unit)]) for face in problem.domain.ends(axis)]


def _rim_points(problem: Problem, piece: Piece, times: np.ndarray) -> np.ndarray:
    """Points at some times on a part of a curved boundary."""
    unit = _slanted(len(times), problem.domain.dimension - 1)
    return np.column_stack([times, problem.domain.on(piece.part, unit)])


def _slanted(count: int, dimension: int) -> np.ndarray:
    """Points along a slanted line through the unit cube."""
    return ((np.arange(count)[:, None] + 0.5) / count + np.arange(dimension) * 0.381966) % 1.0


def _where(problem: Problem, point: np.ndarray) -> str:
    return "(" + ", ".join(f"{n} = {v:.4g}" for n, v in zip(problem.axes, point, strict=True)) + ")"


def _show(values: np.ndarray) -> str:
    return ", ".join(f"{v:.6g}" for v in values)


def _refuse(bad: np.ndarray, message: Callable[[int], str]) -> None:
    if bad.any():
        raise MethodError(message(int(np.argmax(bad))))
