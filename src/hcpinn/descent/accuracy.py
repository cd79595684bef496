"""How accurate runs are by their own estimate, window by window, and how accurate they have to be."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from threadpoolctl import threadpool_limits

from ..equation.growth import growth_rate
from ..machine.processes import agreed
from ..outcome import Stop
from ..trial import Trial
from .checkpoint import Position
from .corrections import Corrector, Layers, work
from .estimate import Carried, Estimator, relative_error
from .lessons import Lesson
from .segments import Found, corrected

if TYPE_CHECKING:
    from .preparation import Preparation

_MARGIN = 0.7
"""The share of the requested accuracy that an estimate has to fall below.

Of true errors it gives 0.9 to 1.1 on the line, 0.7 to 0.8 in the plane, where fewer functions carry it.
"""

_SHARE = 0.25
"""The least share of the accuracy that a time window has to reach for the sake of those after it."""


_PATIENCE = 3
"""Training has not stalled if, at the pace of the last lesson, so many more reach the accuracy."""

_GAIN = 10.0
"""What corrections divide the error by, about: training that does as much for the same work goes on."""

_WORTH = 0.5
"""A correction is worth another if the error falls to this share; new ones are, if training lowers it by
this share for each lesson that they cost, and tenfold at the latest."""


class Accuracy:
    """The estimated errors of runs that train together, and what lowers them where training stalls."""

    def __init__(self, preparation: Preparation, wanted: float):
        """`wanted` is the relative L2 error that methods of several lessons stop at."""
        self.preparation, self.wanted = preparation, wanted
        self.runs, self.method = preparation.runs, preparation.method
        self.corrected_to = np.inf
        """The largest estimated error with the corrections made since training last stalled."""
        self._estimators: dict[Any, Estimator] = {}
        self._fixed: dict[int, tuple[Trial, Any]] = {}
        self._carried: dict[int, list[Carried]] = {}

    def goal(self, window: int) -> float:
        """How small the estimated error must be at the end of a time window.

        Later windows add errors of their own, and early ones grow as the equation amplifies them.
        """
        count = self.method.windows
        left = self.runs[0].problem.duration * (1 - (window + 1) / count)
        share = max(np.exp(-self._growth * left), _SHARE) * (1 + (window + 1) / count) / 2
        return _MARGIN * self.wanted * share

    @cached_property
    def _growth(self) -> float:
        """The rate at which an error can grow; of no account where there is one window."""
        return max(growth_rate(run.problem) for run in self.runs) if self.method.windows > 1 else 0.0

    def in_window(self, window: int, found: Found, finished: Sequence[Found]) -> np.ndarray:
        """The relative L2 error that each run makes in a time window, with what came before."""
        carried = self._carry(window, found, finished)
        return np.asarray([relative_error([own]) for own in carried])

    def compare(self, position: Position, found: Found, codes: np.ndarray) -> tuple[np.ndarray, float]:
        """Keep the functions with the lowest estimated errors, and end runs that are accurate enough.

        Args:
            position: how far training has come.
            found: what runs have now.
            codes: why they stopped, if they have.

        Returns:
            The codes, and the largest error of the runs that continue.
        """
        window = position.lesson.window
        errors = agreed(self.in_window(window, found, position.finished))
        if position.kept is None or position.scores is None:
            position.kept, position.scores = found, np.full(len(errors), np.inf)
        going = ~is_final(codes)
        better = errors < position.scores
        position.kept = position.kept.better(found, better)
        position.scores = np.where(better, errors, position.scores)
        good = going & (position.scores <= self.goal(window))
        ended = np.where(good, Stop.ESTIMATE.code, codes).astype(np.int32)
        return ended, float(np.max(errors, where=going & ~good, initial=0.0))

    def stalled(self, position: Position, now: float) -> bool:
        """Whether the last lesson lowered the error, which is `now`, by too little for more of the same."""
        lesson = position.lesson
        if lesson.correction:
            before, self.corrected_to = self.corrected_to, now
            return not now < _WORTH * before
        before, position.before = position.before, now
        if before is None or not 0 < now < np.inf:
            return False
        pace, far = np.log(before / now), np.log(now / max(self.goal(lesson.window), 1e-300))
        stalled = bool(_PATIENCE * pace < far and self._cost * pace < np.log(_GAIN))
        anew = max(_WORTH ** max(self._cost, 1.0), 1 / _GAIN)
        if position.grown_from is not None and now > anew * position.grown_from:
            return False
        if stalled:
            position.grown_from = self.corrected_to = now
        return stalled

    def over_all(self, windows: Sequence[Found]) -> list[float] | list[None]:
        """The relative L2 error of each run over the whole duration; None where windows are missing."""
        last = len(windows) - 1
        if last + 1 < self.method.windows:
            return [None] * len(self.runs)
        carried = [self._before(k, windows) for k in range(1, last + 1)]
        carried.append(self._carry(last, windows[last], windows[:last]))
        return [relative_error(own) for own in zip(*carried, strict=True)]

    def corrected(
        self, lesson: Lesson, found: Found, finished: Sequence[Found], going: np.ndarray
    ) -> tuple[Found, np.ndarray]:
        """What runs have, with one more correction for those still going, and the mean square residuals.

        Args:
            lesson: which correction of which window.
            found: what they have so far.
            finished: what they have in the windows before.
            going: which of them are still going.
        """
        trials, squares = self.preparation.trials(Lesson(lesson.window), finished), np.zeros(len(going))
        added: list[tuple[Layers, ...]] = list(found.corrections or ((),) * len(found.theta))
        for number, run in enumerate(self.runs):
            if going[number]:
                with threadpool_limits(1, user_api="blas"):  # several mostly wait for one another
                    layers, left = self._corrector.correct(
                        corrected(trials[number]),
                        found.of(number, self.preparation.unravel, grown=True),
                        sampler=self.method.sampler,
                        seed=run.seed,
                        label=f"correction {(lesson.window, lesson.number)}",
                    )
                added[number] = (*added[number], *([] if layers is None else [layers]))
                squares[number] = left**2
        return Found(found.theta, tuple(added) if any(added) else ()), squares

    @cached_property
    def _cost(self) -> float:
        """How many lessons take as much work as a correction."""
        method = self.method
        parameters = self.preparation.theta.shape[1]
        lesson = sum(stage.steps * stage.work(method.points, parameters) for stage in method.stages)
        return 0.0 if method.growth is None else work(method.growth.width) / max(lesson, 1.0)

    @cached_property
    def _corrector(self) -> Corrector:
        assert self.method.growth is not None
        return Corrector(self.preparation.trials(Lesson(), [])[0], width=self.method.growth.width)

    def _before(self, window: int, finished: Sequence[Found]) -> list[Carried]:
        """What the window before this one leaves, remembered from one call to the next."""
        if window - 1 not in self._carried:
            self._carried[window - 1] = self._carry(window - 1, finished[window - 1], finished)
        return self._carried[window - 1]

    def _carry(self, window: int, found: Found, finished: Sequence[Found]) -> list[Carried]:
        before = self._before(window, finished) if window else None
        prepared = self.preparation
        trials, result = prepared.trials(Lesson(window), finished), []
        for number, (trial, run) in enumerate(zip(trials, self.runs, strict=True)):
            own = trial if self.method.growth is None else corrected(trial)
            estimator = self._estimator(number, own)
            network = found.of(number, prepared.unravel, grown=self.method.growth is not None)
            conditions = 0.0
            if not estimator.closed:
                theta = jnp.asarray(found.theta[number])
                conditions = prepared.objective_of(window, trial).penalty(theta, trial, run.seed)
            with threadpool_limits(1, user_api="blas"):
                carried = estimator.carry(
                    network,
                    trial,
                    self._fix(estimator, trial),
                    conditions=conditions,
                    before=None if before is None else before[number],
                )
            result.append(carried)
        return result

    def _estimator(self, number: int, trial: Trial) -> Estimator:
        twin = self.preparation.twin(number)
        key = number if twin is None else twin
        if key not in self._estimators:
            self._estimators[key] = Estimator(trial)
        return self._estimators[key]

    def _fix(self, estimator: Estimator, trial: Trial) -> Any:
        if id(trial) not in self._fixed:
            if len(self._fixed) > len(self.runs):  # of windows that are over
                self._fixed.clear()
            self._fixed[id(trial)] = trial, estimator.fix(trial)
        return self._fixed[id(trial)][1]


def is_final(codes: np.ndarray) -> np.ndarray:
    """Which runs take no further step in this window: they are good enough, or broke down."""
    return np.isin(codes, [stop.code for stop in Stop if stop.failed or stop is Stop.ESTIMATE])
