"""Solutions for any parameters on one fixed basis, with their exact derivatives by the parameters.

With u = ψ(θ) + Q c and the sensitivity ∂u/∂θ = ψ_θ + Q d, the projected equation c′ = f(t, c; θ) gives the
linear one d′ = (∂f/∂c) d + ∂f/∂θ. It is solved by the same Radau scheme, at the steps that c took and for all
parameters at once: each step costs its factorisations and a few products of matrices.

The lift is ψ(θ) = ψ(θ₀) + w(θ) − w(θ₀), w the lift without waves: what initial and boundary data do with θ is
exact, and nothing needs to be expanded or compiled again.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..outcome import Stop
from ..problem import Index, Problem
from ..trial import jet_of
from ..trial.edges import join_edges
from ..trial.function import columns
from .basis import Bases
from .engine import Engine, Evolution
from .evolved import Evolved
from .lift import Carrier, _chunked, depends, swung
from .limits import Limits
from .motion import fading
from .outcome import Halted
from .pointwise import Pointwise
from .projection import Projection
from .radau import Track, integrate, scheme

Named = Callable[[Any], Mapping[str, Any]]
"""The vector θ as the values of the problem's parameters, traceable."""

_ENOUGH = 1e-8
"""Relative change at which the linear stage equations count as solved."""

_SPLITS = 6
"""How often a step is halved whose stage equations do not converge."""

_ROWS = 512
"""Points evaluated at once."""


class OpenPointwise(Pointwise):
    """F at points, compiled once for all values of θ."""

    def __init__(self, problem: Problem, named: Named):
        super().__init__(problem)
        self.named = named
        self.theta = np.zeros(0)

    def __call__(self, values: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        function = partial(self._open, self.theta)
        return self._chunked(function, values, coordinates, (self.count,))

    def slopes(self, values: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        shape = (len(self.orders), self.count, self.count)
        return self._chunked(partial(self._open_slopes, self.theta), values, coordinates, shape)

    def by_theta(self, values: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """∂F/∂θ: parameter × component × point."""
        shape = (len(self.theta), self.count)
        return self._chunked(partial(self._open_theta, self.theta), values, coordinates, shape)

    def _at(self, theta: Array, values: Array, coordinates: Array) -> Array:
        return self._evaluate(values, coordinates, {**self.problem.parameters, **self.named(theta)})

    @cached_property
    def _open(self) -> Any:
        return jax.jit(self._at)

    @cached_property
    def _open_slopes(self) -> Any:
        def run(theta: Array, values: Array, coordinates: Array) -> Array:
            flat = (-1, values.shape[-1])

            def along(row: Array) -> Array:
                direction = jnp.broadcast_to(row[:, None], (row.size, values.shape[-1])).reshape(values.shape)
                return jax.jvp(lambda v: self._at(theta, v, coordinates), (values,), (direction,))[1]

            size = len(self.orders) * self.count
            found = jax.lax.map(along, jnp.eye(size))
            return found.reshape(len(self.orders), self.count, self.count, *flat[1:])

        return jax.jit(run)

    @cached_property
    def _open_theta(self) -> Any:
        def run(theta: Array, values: Array, coordinates: Array) -> Array:
            return jnp.moveaxis(jax.jacfwd(lambda th: self._at(th, values, coordinates))(theta), -1, 0)

        return jax.jit(run)


def with_values(problem: Problem, values: Mapping[str, Any]) -> Problem:
    """The same problem with other values of parameters, which may be traced; nothing is checked again."""
    other = copy.copy(problem)
    object.__setattr__(other, "parameters", {**problem.parameters, **values})
    return other


class Shift:
    """w(θ), the lift without waves: what initial and boundary data do with θ, and its slopes."""

    def __init__(self, problem: Problem, named: Named, indices: Sequence[Index], theta: np.ndarray):
        self.problem, self.named, self.indices = problem, named, tuple(indices)
        self.rate = fading(problem) if problem.order == 2 else 0.0
        self.moves = self._depends(theta)
        """Whether the data depend on θ at all."""

    def _lift(self, theta: Array, points: Array) -> Array:
        problem = with_values(self.problem, self.named(theta))
        found = jet_of(_data_lift(problem, self.rate), points, self.indices)
        return jnp.stack([found[i] for i in self.indices])

    def _depends(self, theta: np.ndarray) -> bool:
        inside = self.problem.domain.inside(np.full((1, self.problem.domain.dimension), 0.3))
        points = jnp.asarray(np.column_stack([[self.problem.start], inside]))
        return depends(lambda th: self._lift(th, points), jnp.asarray(theta))

    def values(self, theta: np.ndarray, base: np.ndarray, points: np.ndarray) -> np.ndarray:
        """w(θ) − w(θ₀) at points: index × point × component."""
        return _chunked(partial(self._compiled, jnp.asarray(theta), jnp.asarray(base)), points)

    def slopes(self, theta: np.ndarray, points: np.ndarray) -> np.ndarray:
        """∂w/∂θ at points: index × point × component × parameter."""
        return _chunked(partial(self._compiled_slopes, jnp.asarray(theta)), points)

    @cached_property
    def _compiled(self) -> Any:
        return jax.jit(lambda theta, base, points: self._lift(theta, points) - self._lift(base, points))

    @cached_property
    def _compiled_slopes(self) -> Any:
        return jax.jit(lambda theta, points: jax.jacfwd(self._lift)(theta, points))


def _data_lift(problem: Problem, rate: float) -> Callable[[Array], Array]:
    """The initial data joined with those at the walls, without layers: those of θ₀ stay in ψ(θ₀)."""

    def start(t: Array, space: list[Array]) -> Array:
        value = problem.to_components(problem.initial_values(space))
        since = (t - problem.start)[:, None]
        return swung(rate, since, value, lambda: problem.to_components(problem.initial_velocities(space)))

    held = {(side.part, c) for side in problem.sides for c in range(len(problem.components))}
    joined = join_edges(problem, held, problem.parameters, start)

    def lift(points: Array) -> Array:
        t, *space = columns(problem, points)
        return joined(t, space)

    return lift


class Opened:
    """A problem whose parameters are functions of a vector θ, and all that is compiled for it once."""

    def __init__(self, problem: Problem, named: Named, theta: np.ndarray):
        """`problem` is closed at some θ; `named` makes parameters of any."""
        self.problem, self.named, self.theta = problem, named, np.asarray(theta, float)
        self.pointwise = OpenPointwise(problem, named)
        self._shifts: dict[tuple[Index, ...], Shift] = {}

    def shift(self, indices: Sequence[Index]) -> Shift:
        """w with its derivatives."""
        key = tuple(indices)
        if key not in self._shifts:
            self._shifts[key] = Shift(self.problem, self.named, key, self.theta)
        return self._shifts[key]

    @cached_property
    def gap_slopes(self) -> Any:
        """∂u₀/∂θ, and ∂v₀/∂θ behind it, at rows (x, …): level × point × component × parameter."""

        def run(theta: Array, space: Array) -> Array:
            problem = with_values(self.problem, self.named(theta))
            found = [problem.to_components(problem.initial_values(list(space.T)))]
            if problem.order == 2:
                found.append(problem.to_components(problem.initial_velocities(list(space.T))))
            return jnp.stack(found)

        return jax.jit(jax.jacfwd(run))


class OpenProjection(Projection):
    """The projected equation at one θ, and its derivative by c and θ along given directions."""

    pointwise: OpenPointwise

    def __init__(self, frame: Frame, theta: np.ndarray):
        problem = with_values(frame.opened.problem, frame.opened.named(theta))
        super().__init__(problem, frame.opened.pointwise, frame.carrier, frame.bases)
        self.frame, self.theta = frame, np.asarray(theta, float)
        self._psi = frame.psi

    def _on_points(self, times: np.ndarray, of: Callable[..., np.ndarray]) -> np.ndarray:
        points = np.column_stack([np.tile(times, len(self.space)), np.repeat(self.space, len(times), axis=0)])
        found = of(self.theta, points)
        return found.reshape(found.shape[0], len(self.space), len(times), *found.shape[2:])

    def psi(self, times: np.ndarray) -> np.ndarray:
        """ψ(θ) and its derivatives at the points."""
        shift = self.frame.shift
        if not shift.moves:
            return super().psi(times)
        key = times.tobytes()
        if key not in self._known:
            moved = self._on_points(times, lambda theta, at: shift.values(theta, self.frame.base, at))
            self._known = {key: self._psi(times) + np.moveaxis(moved, 3, 1)}
        return self._known[key]

    def begin(self) -> np.ndarray:
        """∂c/∂θ at the start: unknowns × parameters."""
        count = len(self.theta)
        if self._exact or not self.frame.shift.moves:
            return np.zeros((self.unknowns, count))
        times = np.array([self.problem.start])
        psi = self._on_points(times, self.frame.shift.slopes)[
            :, :, 0
        ]  # index × point × component × parameter
        exact = np.asarray(self.frame.opened.gap_slopes(self.theta, self.space))
        levels = [psi[0], psi[-2]][: self.order]
        gaps = [np.moveaxis(e - p, 1, 0) for e, p in zip(exact, levels, strict=True)]
        return np.concatenate([self._tested(gap).reshape(-1, count) for gap in gaps])

    def tangents(self, times: np.ndarray, states: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """D ↦ (∂f/∂c) D + ∂f/∂θ at given times and states; D is unknowns × times × parameters."""
        values, _ = self._arguments(times, states)
        flat, at = values.reshape(*values.shape[:2], -1), self._coordinates(times)
        shape, parameters = (len(self.space), len(times)), len(self.theta)
        slopes = self.pointwise.slopes(flat, at)
        slopes = slopes.reshape(*slopes.shape[:3], *shape)
        own = np.moveaxis(self.pointwise.by_theta(flat, at).reshape(parameters, self.count, *shape), 0, -1)
        if self.frame.shift.moves:
            psi = np.moveaxis(self._on_points(times, self.frame.shift.slopes), 3, 1)
            for number in range(len(self.pointwise.orders)):
                own = own + np.einsum("stxk,sxkp->txkp", slopes[number], psi[number])
            own = own - psi[-1]
        used = [(n, s, t) for n, s, t in np.ndindex(slopes.shape[:3]) if slopes[n, s, t].any()]
        spatial = sorted({self.pointwise.orders[n] for n, _, _ in used})

        def along(directions: np.ndarray) -> np.ndarray:
            levels = self._levels(directions.reshape(self.unknowns, -1))
            fields = {
                index: self._spread(levels[index[0]], index[1:]).reshape(self.count, *shape, parameters)
                for index in spatial
            }
            rate = own.copy()
            for number, source, target in used:
                rate[target] += (
                    slopes[number, source, target][..., None] * fields[self.pointwise.orders[number]][source]
                )
            tested = self._tested(rate.reshape(self.count, len(self.space), -1))
            found = np.concatenate([*levels[1:], tested.reshape(-1, len(times) * parameters)])
            return found.reshape(self.unknowns, len(times), parameters)

        return along


@dataclass(frozen=True)
class Flow:
    """A solution at one θ on a frame."""

    frame: Frame
    theta: np.ndarray
    track: Track
    tangents: Track | None
    """∂c/∂θ, unknowns × parameters flattened; None where it was not asked for."""

    def at(self, places: Places) -> np.ndarray:
        """u and its derivatives at places: index × component × point."""
        return places.values(self.track, 1)[..., 0] + places.lift(self.theta)

    def slopes(self, places: Places) -> np.ndarray:
        """∂/∂θ of that: index × component × point × parameter."""
        assert self.tangents is not None
        return places.values(self.tangents, len(self.theta)) + places.lift_slopes(self.theta)


class Frame:
    """A basis, a lift and breaks in time, on which a problem is solved for any θ near θ₀."""

    def __init__(
        self,
        opened: Opened,
        theta: np.ndarray,
        carrier: Carrier,
        bases: Sequence[Bases],
        breaks: Sequence[float],
        stages: int,
    ):
        """`carrier` is the lift at θ₀ = `theta`."""
        self.opened, self.base = opened, np.asarray(theta, float)
        self.carrier, self.bases = carrier, tuple(bases)
        self.breaks, self.stages = tuple(breaks), stages
        self.shift = opened.shift(carrier.indices)
        self.psi = Projection(carrier.problem, opened.pointwise, carrier, bases).psi

    def solve(
        self, theta: np.ndarray, *, tolerance: float, slopes: bool = True, limits: Limits | None = None
    ) -> Flow:
        """The solution at θ. Raises `Halted` where there is none on this basis, or `limits` say so."""
        theta = np.asarray(theta, float)
        self.opened.pointwise.theta = theta
        projection = OpenProjection(self, theta)
        track = Track(self.stages, [self.breaks[0]], [], self.opened.problem.order)
        state = projection.start()
        for begin, end in zip(self.breaks[:-1], self.breaks[1:], strict=True):
            try:
                integrate(projection, state, (begin, end), track, tolerance, limits=limits)
            except (FloatingPointError, np.linalg.LinAlgError) as error:
                raise Halted(Stop.BLOWUP, track.times[-1]) from error
            state = track.values[-1][-1]
        return Flow(self, theta, track, _tangents(projection, track, limits) if slopes else None)


def _tangents(projection: OpenProjection, track: Track, limits: Limits | None) -> Track:
    """The sensitivities along a track, step by step."""
    found = Track(track.stages, [track.times[0]], [], track.order)
    state = projection.begin()
    for number, values in enumerate(track.values):
        ends = track.times[number], track.times[number + 1]
        state = _advance(projection, track, ends, values[1:].T, state, found, limits, _SPLITS)
    return found


def _advance(
    projection: OpenProjection,
    track: Track,
    ends: tuple[float, float],
    stages: np.ndarray,
    start: np.ndarray,
    found: Track,
    limits: Limits | None,
    splits: int,
) -> np.ndarray:
    """One step of d′ = J d + b: the stage equations by the iteration that serves c, or else two halves."""
    rule, step = scheme(track.stages), ends[1] - ends[0]
    inside = 1e-12 * step
    times = np.minimum(ends[0] + rule.nodes * step, ends[1] - inside)
    if limits is not None:
        limits.check(ends[0])
    along = projection.tangents(times, stages)
    middle = track.stages // 2
    linear = projection.linearised(times[middle], stages[:, middle])
    solvers = [linear(mu / step) for mu in rule.eigenvalues]
    many = len(projection.bases) == 1
    change = np.zeros((len(start), track.stages, start.shape[1]))
    last = np.inf
    for _ in range(60):
        rate = along(start[:, None] + change)
        right = np.einsum(
            "nsp,es->nep", rate - np.einsum("njp,sj->nsp", change, rule.inverse) / step, rule.forward
        )
        update = np.zeros_like(change)
        for number, solve in enumerate(solvers):
            part = right[:, number]
            solved = solve(part) if many else np.stack([solve(column) for column in part.T], axis=1)
            update += np.real(rule.backward[:, number][None, :, None] * solved[:, None, :])
        change = change + update
        size, scale = np.abs(update).max(initial=0.0), np.abs(start[:, None] + change).max(initial=0.0)
        if size <= _ENOUGH * scale or not scale:
            found.values.append(
                np.concatenate([start[:, None], start[:, None] + change], axis=1)
                .transpose(1, 0, 2)
                .reshape(track.stages + 1, -1)
            )
            found.times.append(ends[1])
            return start + change[:, -1]
        if not np.isfinite(size) or size > 4 * last:
            break
        last = size
    if not splits:
        raise Halted(Stop.STUCK, ends[0])
    half = (ends[0] + ends[1]) / 2
    for piece in ((ends[0], half), (half, ends[1])):
        inner = piece[0] + rule.nodes * (piece[1] - piece[0])
        states = _states(track, inner)
        start = _advance(projection, track, piece, states, start, found, limits, splits - 1)
    return start


def _states(track: Track, times: np.ndarray) -> np.ndarray:
    """The whole state at given times: unknowns × times."""
    return np.concatenate([track.at(times, slope=bool(k)).T for k in range(track.order)])


class Places:
    """Points (t, x, …) of a frame's problem, at which derivatives in space are wanted."""

    def __init__(self, frame: Frame, points: np.ndarray, indices: Sequence[Index]):
        self.frame, self.points, self.indices = frame, points, tuple(indices)
        axes = [
            own.layers.derivatives(points[:, axis + 1], max(i[axis + 1] for i in indices))
            for axis, own in enumerate(frame.bases)
        ]
        self.tables = [[axes[axis][i[axis + 1]] for axis in range(len(axes))] for i in self.indices]
        with_lift = [np.asarray(frame.carrier.derivative(jnp.asarray(points), i)) for i in self.indices]
        self.still = np.moveaxis(np.stack(with_lift), 2, 1)
        self.shift = frame.opened.shift(self.indices)

    def lift(self, theta: np.ndarray) -> np.ndarray:
        """ψ(θ): index × component × point."""
        if not self.shift.moves:
            return self.still
        return self.still + np.moveaxis(self.shift.values(theta, self.frame.base, self.points), 2, 1)

    def lift_slopes(self, theta: np.ndarray) -> np.ndarray | float:
        """∂ψ/∂θ: index × component × point × parameter."""
        if not self.shift.moves:
            return 0.0
        return np.moveaxis(self.shift.slopes(theta, self.points), 2, 1)

    def values(self, track: Track, parameters: int) -> np.ndarray:
        """Q c for a track whose unknowns go with `parameters` columns: index × component × point × column."""
        count, times = len(self.frame.opened.problem.components), self.points[:, 0]
        ranks = [own.rank for own in self.frame.bases]
        result = np.empty((len(self.indices), count, len(times), parameters))
        order = np.argsort(times, kind="stable")
        for first in range(0, len(times), _ROWS):
            rows = order[first : first + _ROWS]
            states = track.at(times[rows]).reshape(len(rows), count, *ranks, parameters)
            for number, tables in enumerate(self.tables):
                part = states
                for table in tables:
                    one = table.ndim == 2  # else a table for each component
                    subscripts = "nr,ncr...->nc..." if one else "cnr,ncr...->nc..."
                    part = np.einsum(subscripts, table[..., rows, :], part)
                result[number][:, rows] = np.moveaxis(part, 0, 1)
        return result


def make_frame(
    opened: Opened,
    problem: Problem,
    theta: np.ndarray,
    *,
    accuracy: float,
    seed: int = 0,
    limits: Limits | None = None,
    method: Evolution = Evolution(),
) -> tuple[Frame | None, Evolved]:
    """Solve a problem, closed at θ, adaptively, and keep the basis; None where no pass came to its end."""
    opened.pointwise.theta = np.asarray(theta, float)
    engine = Engine(
        problem,
        accuracy,
        seed,
        limits or Limits(),
        None,
        method,
        lambda so_far: None,
        pointwise=opened.pointwise,
    )
    evolved = engine.run()
    if engine.best is None:
        return None, evolved
    solved = engine.best[1]
    bases, stages = solved.projection.bases, solved.track.stages
    return Frame(opened, theta, engine.carrier, bases, engine.breaks, stages), evolved
