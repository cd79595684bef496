"""Solutions at any θ on one basis, with their sensitivities along the same steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...outcome import Stop
from ...problem import Index, Problem
from ..engine import Engine, Evolution
from ..evolved import Evolved
from ..lift import Carrier
from ..limits import Limits
from ..outcome import Halted
from ..projection import Projection
from ..radau import Track, integrate, scheme
from .opened import Opened
from .places import BoxPlaces, Places, RegionPlaces
from .systems import OpenProjection, OpenRegion

_ENOUGH = 1e-8
"""Relative change at which the linear stage equations count as solved."""

_SPLITS = 6
"""How often a step is halved whose stage equations do not converge."""


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
        bases: Sequence[Any],
        breaks: Sequence[float],
        stages: int,
    ):
        """`carrier` is the lift at θ₀ = `theta`; `bases` has one per axis, or for a region per component."""
        self.opened, self.base = opened, np.asarray(theta, float)
        self.carrier, self.bases = carrier, tuple(bases)
        self.breaks, self.stages = tuple(breaks), stages
        self.shift = opened.shift(carrier.indices)
        self.curved = not opened.problem.domain.product
        if not self.curved:
            self.psi = Projection(carrier.problem, opened.pointwise, carrier, bases).psi
        self._lifted: dict[Any, Callable[[np.ndarray], np.ndarray]] = {}

    def lifted(self, indices: Sequence[Index], points: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """ψ(θ₀) at places as a function of times, compiled once."""
        key = (tuple(indices), points.tobytes())
        if key not in self._lifted:
            self._lifted[key] = self.carrier.of(indices).on(points)
        return self._lifted[key]

    def system(self, theta: np.ndarray) -> OpenProjection | OpenRegion:
        """The projected equation at θ."""
        return OpenRegion(self, theta) if self.curved else OpenProjection(self, theta)

    def places(self, points: np.ndarray, indices: Sequence[Index]) -> Places:
        """Points (t, x, …) at which derivatives are wanted."""
        return (RegionPlaces if self.curved else BoxPlaces)(self, points, indices)

    def solve(
        self, theta: np.ndarray, *, tolerance: float, slopes: bool = True, limits: Limits | None = None
    ) -> Flow:
        """The solution at θ. Raises `Halted` where there is none on this basis, or `limits` say so."""
        theta = np.asarray(theta, float)
        self.opened.pointwise.theta = theta
        projection = self.system(theta)
        track = Track(self.stages, [self.breaks[0]], [], self.opened.problem.order)
        state = projection.start()
        for begin, end in zip(self.breaks[:-1], self.breaks[1:], strict=True):
            try:
                integrate(projection, state, (begin, end), track, tolerance, limits=limits)
            except (FloatingPointError, np.linalg.LinAlgError) as error:
                raise Halted(Stop.BLOWUP, track.times[-1]) from error
            state = track.values[-1][-1]
        return Flow(self, theta, track, _tangents(projection, track, limits) if slopes else None)


def _tangents(projection: OpenProjection | OpenRegion, track: Track, limits: Limits | None) -> Track:
    """The sensitivities along a track, step by step."""
    found = Track(track.stages, [track.times[0]], [], track.order)
    state = projection.begin()
    for number, values in enumerate(track.values):
        ends = track.times[number], track.times[number + 1]
        state = _advance(projection, track, ends, values[1:].T, state, found, limits, _SPLITS)
    return found


def _advance(
    projection: OpenProjection | OpenRegion,
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
            solved = (
                solve(part) if projection.dense else np.stack([solve(column) for column in part.T], axis=1)
            )
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
