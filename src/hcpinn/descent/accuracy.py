"""How accurate runs are by their own estimate, window by window, and how accurate they have to be."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from ..equation.growth import growth_rate
from ..machine.processes import agreed
from ..outcome import Stop
from ..trial import Trial
from .checkpoint import Position
from .estimate import Carried, Estimator, relative_error
from .lessons import Lesson

if TYPE_CHECKING:
    from .preparation import Preparation

_MARGIN = 0.7
"""The share of the requested accuracy that an estimate has to fall below.

Of true errors it gives 0.9 to 1.1 on the line, 0.7 to 0.8 in the plane, where fewer functions carry it.
"""

_SHARE = 0.25
"""The least share of the accuracy that a time window has to reach for the sake of those after it."""


_PATIENCE = 3
"""Training stalls if, at the pace of the last lesson, the accuracy is more than this many lessons away."""

_WORTH = 0.1
"""Growth is tried again where training has lowered the error to this share since."""


class Accuracy:
    """The estimated errors of runs that train together, and what lowers them where training stalls."""

    def __init__(self, preparation: Preparation, wanted: float):
        """`wanted` is the relative L2 error that methods of several lessons stop at."""
        self.preparation, self.wanted = preparation, wanted
        self.runs, self.method = preparation.runs, preparation.method
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

    def in_window(self, window: int, found: np.ndarray, finished: Sequence[np.ndarray]) -> np.ndarray:
        """The relative L2 error that each run makes in a time window, with what came before."""
        carried = self._carry(window, found, finished)
        return np.asarray([relative_error([own]) for own in carried])

    def compare(self, position: Position, found: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, float]:
        """Keep the networks with the lowest estimated errors, and end runs that are accurate enough.

        Args:
            position: how far training has come.
            found: the parameters of each run's network now.
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
        position.kept = np.where(better[:, None], found, position.kept)
        position.scores = np.where(better, errors, position.scores)
        good = going & (position.scores <= self.goal(window))
        ended = np.where(good, Stop.ESTIMATE.code, codes).astype(np.int32)
        return ended, float(np.max(errors, where=going & ~good, initial=0.0))

    def stalled(self, position: Position, now: float) -> bool:
        """Whether the last lesson lowered the error, which is `now`, by too little for more of the same."""
        before, position.before = position.before, now
        if before is None or not 0 < now < np.inf:
            return False
        goal = self.goal(position.lesson.window)
        stalled = bool(goal * (before / now) ** _PATIENCE < now)
        if position.grown_from is not None and now > _WORTH * position.grown_from:
            return False
        if stalled:
            position.grown_from = now
        return stalled

    def over_all(self, windows: Sequence[np.ndarray]) -> list[float] | list[None]:
        """The relative L2 error of each run over the whole duration; None where windows are missing."""
        last = len(windows) - 1
        if last + 1 < self.method.windows:
            return [None] * len(self.runs)
        carried = [self._before(k, windows) for k in range(1, last + 1)]
        carried.append(self._carry(last, windows[last], windows[:last]))
        return [relative_error(own) for own in zip(*carried, strict=True)]

    def _before(self, window: int, finished: Sequence[np.ndarray]) -> list[Carried]:
        """What the window before this one leaves, remembered from one call to the next."""
        if window - 1 not in self._carried:
            self._carried[window - 1] = self._carry(window - 1, finished[window - 1], finished)
        return self._carried[window - 1]

    def _carry(self, window: int, found: np.ndarray, finished: Sequence[np.ndarray]) -> list[Carried]:
        before = self._before(window, finished) if window else None
        prepared = self.preparation
        trials, result = prepared.trials(Lesson(window), finished), []
        for number, (trial, run) in enumerate(zip(trials, self.runs, strict=True)):
            estimator, theta = self._estimator(number, trial), jnp.asarray(found[number])
            conditions = 0.0
            if not estimator.closed:
                conditions = prepared.objective_of(window, trial).penalty(theta, trial, run.seed)
            result.append(
                estimator.carry(
                    prepared.unravel(theta),
                    trial,
                    self._fix(estimator, trial),
                    conditions=conditions,
                    before=None if before is None else before[number],
                )
            )
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
