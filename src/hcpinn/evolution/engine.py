"""The engine: solve with a few features, adapt, solve with more, until two solutions agree.

Each pass draws its features anew. Two consecutive passes are independent, so they differ by about the error
of the first; the second, with more features, is better. Their difference is the estimate.
"""

from __future__ import annotations

import itertools
import math
import time as clock
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

from ..errors import MethodError
from ..machine.interrupt import patient_interrupt
from ..machine.precision import double
from ..outcome import Stop
from ..problem import Problem
from .breaks import find_breaks
from .estimate import Solved
from .evolved import Evolved
from .lift import Carrier
from .limits import Limits
from .outcome import Halted, Pass
from .pointwise import Pointwise
from .radau import Track, integrate
from .spaces import space_of

_GROWTH = 1.4

_MARGIN = 0.7
"""Of the accuracy asked for: what the estimate must be below."""

_ROUNDING = 2e-14
"""The smallest error that is claimed."""


@dataclass(frozen=True, kw_only=True)
class Evolution:
    """Output weights that move in time: the method's few settings, all found by the engine unless given."""

    engine: ClassVar[str] = "evolution"
    name: str = "evolve"
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
) -> Evolved:
    """Solve a problem to a relative L2 error of `accuracy`, as judged by the engine's own estimate.

    `seed` picks the sampled features, `max_seconds` bounds the time taken, and `progress` is called as time
    advances with the pass so far: its rank, its steps, and the time reached. `keep` is handed a function
    after each pass that gives what there is by then, for whoever cannot wait for the next.
    """
    if not 1e-12 <= accuracy < 1:
        raise MethodError(f"The accuracy must lie between 1e-12 and 1, but is {accuracy!r}.")
    reason = applies(problem)
    if reason is not None:
        raise MethodError(reason)
    # Matrices of a few hundred rows are factorised several times faster by one thread than by several.
    with double(), threadpool_limits(1, user_api="blas"), patient_interrupt() as interrupted:
        limits = Limits(np.inf if max_seconds is None else max_seconds, interrupted.is_set)
        return _Engine(problem, accuracy, seed, limits, progress, method, keep).run()


class _Engine:
    def __init__(
        self,
        problem: Problem,
        accuracy: float,
        seed: int,
        limits: Limits,
        progress: Callable[[Pass], None] | None,
        method: Evolution,
        keep: Callable[[Callable[[Stop], Evolved]], None],
    ):
        self.problem, self.accuracy, self.seed = problem, accuracy, seed
        self.limits, self.progress, self.method, self.keep = limits, progress, method, keep
        self.passes: list[Pass] = []
        self.best: tuple[float, Solved] | None = None

    def run(self) -> Evolved:
        """Pass after pass, until the estimate is met or nothing more can be done."""
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
        """What is handed over: the best pass as a function, if there is one."""
        estimate, function = np.inf, None
        if best is not None:
            estimate, function = best[0], self.space.function(best[1], self._spare(*best))
        return Evolved(self.problem, function, estimate, stop, tuple(self.passes), self.limits.spent)

    def _spare(self, estimate: float, solved: Solved) -> float:
        """The L² size of what the function may leave out."""
        spare = 0.02 * max(min(estimate, self.accuracy), 1e-3 * self.accuracy)
        return spare * float(solved.projection.scale.min())

    def _passes(self) -> Stop:
        self.breaks = find_breaks(self.problem)
        self.limits.check()
        self.carrier, self.pointwise = Carrier(self.problem, self.accuracy), Pointwise(self.problem)
        space = self.space = space_of(self.problem, self.carrier, self.pointwise, self.limits, self.seed)
        given = found = space.places()
        previous: Solved | None = None
        count, failed, stalled = space.first, np.inf, 0
        most = self.method.features or space.most
        while True:
            count = min(count, most)
            try:
                solved = self._solve(count, found)
            except Halted as halted:
                near = abs(halted.time - failed) < 1e-2 * self.problem.duration
                if halted.stop is not Stop.STUCK or near or count == most:
                    raise
                failed, found = halted.time, given
                count = math.ceil(count * _GROWTH)
                continue
            estimate = np.inf
            if previous is not None:
                estimate = self._estimate(previous, solved)
            self._note(count, solved, estimate)
            if self.best is None or estimate <= self.best[0]:
                self.best, stalled = (estimate, solved), 0
            else:
                stalled += 1
            self.keep(partial(self._evolved, self.best))
            if estimate <= _MARGIN * self.accuracy:
                return Stop.ESTIMATE
            if stalled == 3:
                return Stop.STALLED
            if count == most and previous is not None:
                return Stop.RANK
            if previous is not None and not self.limits.allow(self.passes[-1].seconds):
                return Stop.TIME  # a pass with more features takes longer than the last one
            found = space.adapted(solved, given, self.accuracy)
            previous = solved
            count = math.ceil(count * _GROWTH)

    def _estimate(self, previous: Solved, solved: Solved) -> float:
        """The difference of two passes; if that is small enough, also what neither of them can see."""
        found = max(self.space.difference(previous, solved), _ROUNDING)
        if found <= _MARGIN * self.accuracy:
            found = max(found, self.carrier.leftover)
            found = max(found, self.space.unseen(solved))
        return found

    def _solve(self, count: int, found: Any) -> Solved:
        number = len(self.passes)
        projection = self.space.projection(count, found, number)
        few = 3 if self.accuracy > 1e-5 else 5 if self.accuracy > 1e-8 else 7
        stages = self.method.stages or (few if self.problem.order == 1 else 7)
        tolerance = min(self.accuracy / 20, 1e-5) / (1 if number % 2 else 4)
        if (
            self.problem.order == 2
        ):  # swings keep every error of a step: they add up, and shorter ones are tried
            tolerance /= 10 ** max(number - 1, 0)
        tolerance = max(tolerance, 1e-13)
        begun, state = clock.perf_counter(), projection.start()
        track = Track(stages, [self.breaks[0]], [], self.problem.order)

        def report(time: float) -> None:
            if self.progress is not None:
                spent = clock.perf_counter() - begun
                self.progress(Pass(count, projection.unknowns, track.steps, spent, np.inf, time))

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
                report=report,
            )
            state = track.values[-1][-1]
        return Solved(projection, track)

    def _note(self, count: int, solved: Solved, estimate: float) -> None:
        spent = self.limits.spent - sum(p.seconds for p in self.passes)
        done = Pass(
            count, solved.projection.unknowns, solved.track.steps, spent, estimate, solved.track.times[-1]
        )
        self.passes.append(done)
        if self.progress is not None:
            self.progress(done)
