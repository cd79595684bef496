"""The engine: solve with a few features, adapt, solve with more, until two solutions agree.

Each pass draws its features anew. Two consecutive passes are independent, so they differ by about the error
of the first; the second, with more features, is better. Their difference is the estimate.
"""

from __future__ import annotations

import itertools
import math
import time as clock
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

from ..equation import scan
from ..errors import MethodError
from ..machine.interrupt import patient_interrupt
from ..machine.memory import fits
from ..machine.precision import double
from ..outcome import Stop
from ..problem import Problem
from .adapt import densities
from .basis import Bases, orthonormal, quadrature
from .breaks import find_breaks, find_places
from .dense import tolerable_growth
from .estimate import Solved, difference, unseen
from .evolved import Evolved, assemble
from .features import sample
from .lift import Added, Carrier
from .limits import Limits
from .outcome import Halted, Pass
from .pointwise import Pointwise
from .projection import Projection
from .radau import Track, integrate
from .regions import RegionSpace
from .walls import walls_along

Density = tuple[np.ndarray, np.ndarray]

_FIRST = {1: 160, 2: 28, 3: 12}
"""Features per axis in the first pass, by number of space dimensions."""

_MOST = {1: 1600, 2: 240, 3: 72}

_GROWTH = 1.4

_MARGIN = 0.7
"""The share of the requested accuracy that the estimate must be below."""

_ROUNDING = 2e-14
"""No estimate is smaller."""

_STEEP = 40.0
"""Changes of a solution along an axis above which it has fronts."""

_FINER = (1, 2, 4)
"""How many times as many points are tried where a basis with fronts makes the equation unstable."""

_SWINGS = 0.37, 0.5
"""The share of its range that anything in F or the data may cross in a step, in even and in odd passes."""

_SHARPER = 16.0, 0.55
"""Divides the tolerance of time steps, and multiplies what may swing in one, where more features do not help.

About the square of the factor between two passes, so that consecutive ones never take similar steps.
"""

_HELPFUL = 0.5
"""The factor by which more features lower the estimate, if they help."""

_AGREEMENT = 1e-3
"""Where two passes to the horizon differ by less, one that gets stuck has met rounding, not a singularity."""


@dataclass(frozen=True, kw_only=True)
class Evolution:
    """Output weights that move in time: the method's few settings, all found by the engine unless given."""

    engine: ClassVar[str] = "evolution"
    name: str = "evolve"
    """Used in messages, files and tables; it has no other effect."""
    features: int | None = None
    """Features per axis in the last pass; by default as many as the accuracy takes."""
    stages: int | None = None
    """Radau points per time step: 3, 5 or 7."""

    def __post_init__(self) -> None:
        if self.features is not None and not (isinstance(self.features, Integral) and self.features >= 8):
            raise MethodError(
                f"An evolution needs at least 8 features per axis, but features = {self.features!r}."
            )
        if self.stages is not None and self.stages not in (3, 5, 7):
            raise MethodError(f"An evolution has 3, 5 or 7 stages, but stages = {self.stages!r}.")


def applies(problem: Problem) -> str | None:
    """Why the engine cannot solve a problem, in a sentence; None if it can."""
    for axis, ends in enumerate(problem.boundaries):
        order = max(index[axis + 1] for index in problem.derivatives)
        letter = problem.space[axis]
        counts = {sum(len(side.conditions[n]) for side in ends.sides) for n in range(len(problem.fields))}
        if ends.sides and order > 2 and min(counts) < order:
            return (
                f"{problem.name} is of order {order} along {letter}, but has only {min(counts)} conditions "
                f"on both ends together, which do not determine how weights evolve. Give {order}, make "
                f"{letter} periodic, or train a network."
            )
    order = max(sum(index[1:]) for index in problem.derivatives)
    for piece in problem.pieces:
        if order > 2:
            return (
                f"{problem.name} is of order {order} in space, but on curved domains an evolution takes at "
                "most 2. Write it as a system of second order."
            )
        if order == 2 and min(len(own) for own in piece.conditions) < 1:
            return f"{problem.name} is of order 2 in space, but has no condition on {piece.place}. Give one."
    return None


def evolve(
    problem: Problem,
    *,
    accuracy: float = 1e-3,
    seed: int = 0,
    max_seconds: float | None = None,
    progress: Callable[[Pass], None] | None = None,
    method: Evolution = Evolution(),
    keep: Callable[[Callable[[Stop], Evolved]], None] = lambda so_far: None,
    added: Added | None = None,
) -> Evolved:
    """Solve a problem to a relative L2 error of `accuracy`, as judged by the engine's own estimate.

    `seed` picks the sampled features, `max_seconds` bounds the time taken, and `progress` is called as time
    advances with the pass so far: its rank, its steps, and the time reached. After each pass `keep` receives
    a function that gives the result so far, for callers that cannot wait for the next one. With a function
    that is `added` to the lift, features carry what that lacks.
    """
    if not 1e-12 <= accuracy < 1:
        raise MethodError(f"The accuracy must lie between 1e-12 and 1, but is {accuracy!r}.")
    reason = applies(problem)
    if reason is not None:
        raise MethodError(reason)
    # Matrices of a few hundred rows are factorised several times faster by one thread than by several.
    with double(), threadpool_limits(1, user_api="blas"), patient_interrupt() as interrupted:
        limits = Limits(np.inf if max_seconds is None else max_seconds, interrupted.is_set)
        return Engine(problem, accuracy, seed, limits, progress, method, keep, added=added).run()


class Engine:
    """One run: pass after pass. Families take it apart, to solve many problems on one basis."""

    def __init__(
        self,
        problem: Problem,
        accuracy: float,
        seed: int,
        limits: Limits,
        progress: Callable[[Pass], None] | None,
        method: Evolution,
        keep: Callable[[Callable[[Stop], Evolved]], None],
        pointwise: Any = None,
        added: Added | None = None,
    ):
        self.problem, self.accuracy, self.seed, self.added = problem, accuracy, seed, added
        self.limits, self.progress, self.method, self.keep = limits, progress, method, keep
        self.passes: list[Pass] = []
        self.dimensions = len(problem.space)
        self.best: tuple[float, Solved] | None = None
        self.shared = pointwise
        """F where several problems share it, compiled."""
        self.region: RegionSpace | None = None
        """What a pass does on a curved domain, where features are of all coordinates at once."""
        self.sharpened = 0
        """How often time steps have been made shorter because more features did not help."""
        self.density: list[Density | None] = [None] * self.dimensions
        """Where features should be dense, as found by the previous pass."""

    def run(self) -> Evolved:
        """Pass after pass, until the estimate is small enough or nothing more can be done."""
        try:
            stop = self._passes()
        except Halted as halted:
            stop = halted.stop
        except KeyboardInterrupt:
            stop = Stop.INTERRUPTED
        except (FloatingPointError, np.linalg.LinAlgError):
            stop = Stop.BLOWUP
        if stop is Stop.INTERRUPTED and self.best is None:
            raise KeyboardInterrupt
        return self._evolved(self.best, stop)

    def _evolved(self, best: tuple[float, Solved] | None, stop: Stop) -> Evolved:
        """The result: the best pass as a function, if there is one."""
        estimate, function = np.inf, None
        if best is not None:
            estimate, function = self._function(*best)
        return Evolved(self.problem, function, estimate, stop, tuple(self.passes), self.limits.spent)

    def _function(self, estimate: float, solved: Solved) -> tuple[float, Any]:
        """A pass as a function, and the estimate of its error."""
        if self.region is not None:
            return estimate, self.region.function(solved)
        least = float(solved.projection.scale.min())
        spare = 0.02 * max(min(estimate, self.accuracy), 1e-3 * self.accuracy) * least
        layers = [own.layers for own in solved.projection.bases]
        components = len(self.problem.components)
        function, lacking = assemble(self.carrier, layers, solved.track, components, spare)
        return estimate + lacking / least, function

    def _passes(self) -> Stop:
        carrier = Carrier(self.problem, self.accuracy, added=self.added)
        self.prepare(carrier, self.shared or Pointwise(self.problem))
        given, first, most, helpful = [], _FIRST[self.dimensions], _MOST[self.dimensions], _HELPFUL
        if self.problem.domain.product:
            given = [find_places(self.problem, axis) for axis in range(self.dimensions)]
        else:
            self.region = RegionSpace(
                self.problem, self.carrier, self.pointwise, self.limits, self.seed, self.accuracy
            )
            first, most, helpful = self.region.first, self.region.most, self.region.helpful
        density: list[Density | None] = list(given)
        previous: Solved | None = None
        count, failed, stalled, held = first, np.inf, 0, False
        most = self.method.features or most
        while True:
            count = min(count, most)
            try:
                solved = self._solve(count, density)
            except Halted as halted:
                near = abs(halted.time - failed) < 1e-2 * self.problem.duration
                if halted.stop is not Stop.STUCK:
                    raise
                if near or count == most:
                    agreed = self.best is not None and self.best[0] <= max(self.accuracy, _AGREEMENT)
                    return Stop.STALLED if agreed else Stop.STUCK
                failed, density = halted.time, list(given)
                count = math.ceil(count * _GROWTH)
                continue
            estimate = np.inf
            if previous is not None:
                estimate = self._estimate(previous, solved)
            self._note(count, solved, estimate)
            before = np.inf if self.best is None else self.best[0]
            if self.best is None or estimate <= before:
                self.best, stalled = (estimate, solved), 0
            else:
                stalled += 1
            self.keep(partial(self._evolved, self.best))
            if estimate <= _MARGIN * self.accuracy:
                return Stop.ESTIMATE
            if stalled == 3 or estimate == self.carrier.leftover:
                return Stop.STALLED  # features lower nothing of what the waves of the lift leave
            if count == most and previous is not None:
                return Stop.RANK
            if not fits(self._bytes(min(math.ceil(count * _GROWTH), most), solved)):
                return Stop.RANK
            if previous is not None and not self.limits.allow(self.passes[-1].seconds):
                return Stop.TIME  # a pass with more features takes longer than the last one
            found = [] if self.region else densities(solved.projection, solved.track, self.accuracy)
            if self.region is not None:
                self.region.adapt(solved)
            density = [larger(self._uneven(d), g) for d, g in zip(found, given, strict=True)]
            self.density = density
            previous = solved
            held = not held and helpful * before < estimate < np.inf
            if held:  # the error may be one of time, which features do not lower
                self.sharpened += 1
            else:
                count = math.ceil(count * _GROWTH)

    def _bytes(self, count: int, last: Solved) -> float:
        """The approximate bytes of a pass with so many features and as many steps as the last one."""
        if self.region is not None:
            return self.region.takes(count, last)
        grown = count / self.passes[-1].features
        stages, projection = last.track.stages, last.projection
        unknowns = projection.unknowns * grown**self.dimensions
        points = len(projection.space) * grown**self.dimensions
        arguments = 3 * len(self.pointwise.orders) * projection.count * points * stages
        matrices = (3 + stages) * unknowns**2 if self.dimensions == 1 else 0.0
        return 8.0 * (arguments + matrices + 3 * (stages + 1) * (last.track.steps + 1) * unknowns)

    def _estimate(self, previous: Solved, solved: Solved) -> float:
        """The difference of two passes; if that is small, at least the error that neither of them can see."""
        region = self.region
        differ = partial(difference, self.problem) if region is None else region.difference
        found = max(differ(previous, solved), _ROUNDING)
        if found <= _MARGIN * self.accuracy:
            found = max(found, self.carrier.leftover)
            if region is None:
                found = max(found, unseen(self.problem, self.pointwise, self.carrier, solved))
            else:
                found = max(found, region.unseen(solved))
        return found

    def _uneven(self, density: Density) -> Density | None:
        """The density where it asks for fronts; none where even features serve as well."""
        x, values = density
        length = x[-1] - x[0]
        return density if values.max() * length > _STEEP else None

    def prepare(self, carrier: Carrier, pointwise: Any) -> None:
        """Set what all passes share: the lift, F, and the times where steps end."""
        self.breaks = find_breaks(self.problem)
        self.limits.check()
        self.carrier, self.pointwise = carrier, pointwise

    def _solve(self, count: int, density: list[Density | None]) -> Solved:
        return self.advance(self.project(count, density, len(self.passes)), len(self.passes), count)

    def advance(self, projection: Any, number: int, count: int = 0) -> Solved:
        """The projected equation integrated to the horizon, with the tolerance of a pass of this number."""
        few = 3 if self.accuracy > 1e-5 else 5 if self.accuracy > 1e-8 else 7
        stages = self.method.stages or (few if self.problem.order == 1 else 7)
        tolerance = min(self.accuracy / 20, 1e-5) / _SHARPER[0] ** self.sharpened
        if self.problem.order == 2:  # swings keep every error of a step: they add up
            tolerance /= 5 * 10 ** max(number - 1, 0)
        tolerance = max(tolerance, 4e-13) / (1 if number % 2 else 4)
        begun, state = clock.perf_counter(), projection.start()
        track = Track(stages, [self.breaks[0]], [], self.problem.order)

        def report(time: float) -> None:
            if self.progress is not None:
                spent = clock.perf_counter() - begun
                self.progress(Pass(count, projection.unknowns, track.steps, spent, np.inf, time))

        def longest(time: float) -> float:
            """No step passes over what F or the data do."""
            return scan(self.problem).time.reach(time, _SWINGS[number % 2] * _SHARPER[1] ** self.sharpened)

        # Steps of two passes never coincide, else their errors in time would be the same and go unseen.
        growth = 8.0 if number % 2 else 4.0
        for piece in itertools.pairwise(self.breaks):
            integrate(
                projection,
                state,
                piece,
                track,
                tolerance,
                growth=growth,
                limits=self.limits,
                longest=longest,
                report=report,
            )
            state = track.values[-1][-1]
        return Solved(projection, track)

    def project(self, count: int, density: list[Density | None], number: int) -> Any:
        """The projected equation on a fresh sample; with more points, or no fronts, where it is unstable.

        Panels that leave out too much of the products of steep functions make an equation unstable that
        conserves: the eigenvalues of its linear part tell before a step is taken.
        """
        if self.region is not None:
            return self.region.projection(count, number)
        for finer in _FINER if any(d is not None for d in density) else ():
            projection = self._on(count, density, number, finer)
            if projection.growth() <= self._tolerable:
                return projection
        return self._on(count, [None] * self.dimensions, number, 1)

    def _on(self, count: int, density: list[Density | None], number: int, finer: int) -> Projection:
        bases = []
        for axis, own in enumerate(density):
            bases.append(self._along(axis, count, own, number, finer))
            self.limits.check()
        return Projection(self.problem, self.pointwise, self.carrier, bases)

    @cached_property
    def _tolerable(self) -> float:
        even = self._on(_FIRST[self.dimensions], [None] * self.dimensions, 0, 1)
        return tolerable_growth(even.growth(), self.problem.duration)

    def _along(self, axis: int, count: int, density: Density | None, number: int, finer: int) -> Bases:
        problem = self.problem
        periodic = problem.boundaries[axis].periodic
        low, high = problem.domain.bounds[axis]
        key = [zlib.crc32(problem.space[axis].encode()), self.seed, number]
        walls, of = walls_along(problem, axis)
        layers = [
            sample(
                count,
                low,
                high,
                periodic=periodic,
                wall=wall,
                density=density,
                steepest=2.0,
                rng=np.random.default_rng(key),
            )
            for wall in walls
        ]
        if density is not None and periodic:  # periodic fronts come in pairs, half a period apart
            x, values = density
            density = x, np.maximum(values, np.interp(x + (high - low) / 2, x, values, period=high - low))
        room = (2.0 if density is None else 2.5 * finer) if self.dimensions == 1 else 1.5 * finer
        points, weights = quadrature(int(room * count), low, high, periodic=periodic, density=density)
        order = max(index[axis + 1] for index in problem.derivatives)
        cut = 1e-13 if self.dimensions == 1 else 1e-10
        kinds = [orthonormal(each, points, weights, order=max(order, 2), cut=cut) for each in layers]
        return Bases.join(kinds, of)

    def _note(self, count: int, solved: Solved, estimate: float) -> None:
        spent = self.limits.spent - sum(p.seconds for p in self.passes)
        done = Pass(
            count, solved.projection.unknowns, solved.track.steps, spent, estimate, solved.track.times[-1]
        )
        self.passes.append(done)
        if self.progress is not None:
            self.progress(done)


def larger(one: Density | None, other: Density | None) -> Density | None:
    """The larger of two densities at every place."""
    if one is None or other is None:
        return other if one is None else one
    x = np.union1d(one[0], other[0])
    return x, np.maximum(np.interp(x, *one), np.interp(x, *other))
