"""What lessons are made of: the trial functions, points and objectives of runs that train together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float

from ..equation.growth import growth_rate
from ..jets.taylor import closure
from ..objective import (
    Data,
    Devices,
    Objective,
    chunk_size,
    penalty_terms,
    residual_block,
    sampling,
    stack,
)
from ..outcome import Residuals
from ..trial import CustomGate, CustomLift, JetNetwork, Trial
from .checks import check_curriculum, check_data, check_trials
from .estimate import Carried, Estimator, relative_error
from .lessons import Lesson
from .memory import check_memory
from .method import Method
from .runs import Run, check_alike
from .segments import Piecewise, trials_of, window_edges

_MARGIN = 0.7
"""The share of the requested accuracy that an estimate has to fall below.

Of true errors it gives 0.9 to 1.1 on the line, 0.7 to 0.8 in the plane, where fewer functions carry it.
"""

_SHARE = 0.25
"""The least share of the accuracy that a time window has to reach for the sake of those after it."""


@dataclass(frozen=True)
class Prepared:
    """What a stage, or a part of it between two replacements of points, trains on."""

    objective: Objective
    data: Data
    axes: Any
    """Which arrays of `data` have an axis of runs, from `objective.stack`."""
    points: Float[np.ndarray, "runs points axes"] | None = None
    """Points that were chosen by looking at the residual; None where seed and lesson alone decide."""


class Preparation:
    """Runs that train together: they may differ in lift, seed and the problem's parameters."""

    def __init__(
        self,
        runs: Sequence[Run],
        *,
        accuracy: float = 0.0,
        devices: Devices = Devices(),
        compile_early: bool = False,
    ):
        """Check the runs and draw their first networks.

        Args:
            runs: what to train.
            accuracy: the relative L2 error that methods of several lessons stop at, by their own estimate.
            devices: who shares out the points.
            compile_early: whether to start compiling kernels in the background, where training follows.
        """
        check_alike(runs)
        self.runs, self.accuracy, self.devices = list(runs), accuracy, devices
        self.method = runs[0].method
        self.schedule = self.method.schedule
        check_curriculum(runs)
        self._trials: dict[Any, list[Trial]] = {}
        trials = self.trials(self.schedule.first, [])
        if compile_early:
            self._compile(trials[0])
        check_data(runs)
        check_trials(trials, self.method)
        templates = [t.init(network_key(r.seed)) for r, t in zip(runs, trials, strict=True)]
        self.theta = np.stack([np.asarray(ravel_pytree(t)[0], np.float64) for t in templates])
        """The first parameters of each run, as vectors."""
        self._template = templates[0]
        self._check_custom_parts()
        self._objectives: dict[Any, Objective] = {}
        self._estimators: dict[Any, Estimator] = {}
        self._fixed: dict[int, tuple[Trial, Any]] = {}
        self._carried: dict[int, list[Carried]] = {}
        check_memory(self.method.stages, self._objective(0, trials[0]), len(runs))

    def prepare(
        self,
        lesson: Lesson | None = None,
        part: int = 0,
        theta: np.ndarray | None = None,
        finished: Sequence[np.ndarray] = (),
        points: np.ndarray | None = None,
    ) -> Prepared:
        """The objective and data of a part of a lesson.

        Args:
            lesson: by default the first.
            part: how often points have been replaced within the stage.
            theta: the present parameters of each run; by default the first ones.
            finished: the parameters of the time windows that are done.
            points: those to use, if they were chosen already, as they are on resuming.
        """
        now: Lesson = self.schedule.first if lesson is None else lesson
        trials = self.trials(now, finished)
        objective = self._objective(now.window, trials[0])
        chosen = points
        if chosen is None and self._by_residual and (now.window, now.number, part) != (0, 0, 0):
            present = self.theta if theta is None else theta
            chosen = self._drawn_by_residual(present, trials, objective, now, part)
        used = self._drawn(now, part) if chosen is None else chosen
        each = [
            objective.data(own, trial, seed=run.seed)
            for own, trial, run in zip(used, trials, self.runs, strict=True)
        ]
        data, axes = stack(each)
        return Prepared(objective, objective.place(data, axes), axes, points=chosen)

    def trials(self, lesson: Lesson, finished: Sequence[np.ndarray]) -> list[Trial]:
        """Each run's trial function in a lesson, whose window starts where the finished ones end."""
        key = (lesson.window, lesson.factor)
        if key not in self._trials:
            found: list[Trial] = []
            for number in range(len(self.runs)):
                twin = self._twin(number)
                own = self._trial(number, lesson, finished) if twin is None else found[twin]
                found.append(own)
            latest = dict(list(self._trials.items())[-1:])
            self._trials = {**latest, key: found}
        return self._trials[key]

    # Estimates

    @property
    def estimates(self) -> bool:
        """Whether the schedule asks how large the error is."""
        return self.method.lessons > 1

    def goal(self, window: int) -> float:
        """How small the estimated error must be at the end of a time window.

        Later windows add errors of their own, and what is left of an early one grows with the equation.
        """
        count = self.method.windows
        left = self.runs[0].problem.duration * (1 - (window + 1) / count)
        share = max(np.exp(-self._growth * left), _SHARE) * (1 + (window + 1) / count) / 2
        return _MARGIN * self.accuracy * share

    @cached_property
    def _growth(self) -> float:
        """The rate at which an error can grow; of no account where there is one window."""
        return max(growth_rate(run.problem) for run in self.runs) if self.method.windows > 1 else 0.0

    def estimate(self, window: int, theta: np.ndarray, finished: Sequence[np.ndarray]) -> np.ndarray:
        """The relative L2 error that each run's parameters make in a time window, with what came before."""
        carried = self._carry(window, theta, finished)
        return np.asarray([relative_error([own]) for own in carried])

    def estimated_errors(self, windows: Sequence[np.ndarray]) -> list[float] | list[None]:
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

    def _carry(self, window: int, theta: np.ndarray, finished: Sequence[np.ndarray]) -> list[Carried]:
        before = self._before(window, finished) if window else None
        trials = self.trials(Lesson(window), finished)
        found = []
        for number, (own, trial, run) in enumerate(zip(theta, trials, self.runs, strict=True)):
            estimator = self._estimator(number, trial, self._objective(window, trials[0]))
            start = None if before is None else before[number]
            found.append(
                estimator.carry(own, trial, self._fix(estimator, trial), seed=run.seed, before=start)
            )
        return found

    def _estimator(self, number: int, trial: Trial, objective: Objective) -> Estimator:
        twin = self._twin(number)
        key = number if twin is None else twin
        if key not in self._estimators:
            self._estimators[key] = Estimator(objective, trial)
        return self._estimators[key]

    def _fix(self, estimator: Estimator, trial: Trial) -> Any:
        if id(trial) not in self._fixed:
            if len(self._fixed) > len(self.runs):  # of windows that are over
                self._fixed.clear()
            self._fixed[id(trial)] = trial, estimator.fix(trial)
        return self._fixed[id(trial)][1]

    # Outcomes

    def function(self, number: int, windows: Sequence[np.ndarray]) -> Piecewise:
        """A run's function of t and x, given the parameters of its time windows.

        Where training was cut short there are none for the last windows; the latest ones stand in.
        """
        run = self.runs[number]
        edges = window_edges(run.problem, run.method.windows)
        unravel = ravel_pytree(self._template)[1]
        known = [unravel(jnp.asarray(own)) for own in windows]
        known += [known[-1]] * (run.method.windows - len(known))
        one = run.method.windows == 1
        trials = (
            [self.trials(Lesson(), [])[number]] if one else trials_of(run.problem, run.method, edges, known)
        )
        return Piecewise.make(run.problem, edges, trials, known)

    def residuals(self, number: int, function: Piecewise, points: np.ndarray | None = None) -> Residuals:
        """How well a run's equation holds; `points` are the last it trained on, where they were chosen."""
        run, found = self.runs[number], []
        for purpose in ("interior", "check"):
            total = 0.0
            for segment in function.segments:
                own = points if purpose == "interior" and len(function.segments) == 1 else None
                if own is None:
                    own = self._interior(segment.trial.problem, run.seed, self.method.points, purpose)
                total += float(np.mean(self._squares_on(function, segment, own)))
            found.append(float(np.sqrt(total / len(function.segments))))

        def squares(points: np.ndarray) -> np.ndarray:
            place = np.searchsorted([s.start for s in function.segments][1:], points[:, 0], side="left")
            result = np.empty(len(points))
            for k, segment in enumerate(function.segments):
                if (place == k).any():
                    result[place == k] = self._squares_on(function, segment, points[place == k])
            return result

        return Residuals(found[0], found[1], squares)

    def _squares_on(self, function: Piecewise, segment: Any, points: np.ndarray) -> np.ndarray:
        window = function.segments.index(segment)
        theta = np.asarray(ravel_pytree(segment.parameters)[0])
        return self._squares(self._objective(window, segment.trial), segment.trial, theta, points)

    # What the above is made of

    def _compile(self, trial: Trial) -> None:
        """Start compiling the kernels of the first stage."""
        stage = self.method.stages[0]
        points = self.method.batches.size if self.method.batches and stage.tolerant else self.method.points
        trial.begin(-(-points // self.devices.count), stage.dtype)

    def _twin(self, number: int) -> int | None:
        """An earlier run with the same trial function, whose checks and compiled programs serve again."""
        run = self.runs[number]
        if run.method.windows > 1:  # each run starts its windows where its own networks end
            return None

        def parts(method: Method) -> tuple[Any, ...]:
            return method.lift, method.gate, method.embedding, method.network, method.curriculum

        for earlier, other in enumerate(self.runs[:number]):
            if other.problem is run.problem and parts(other.method) == parts(run.method):
                return earlier
        return None

    def _trial(self, number: int, lesson: Lesson, finished: Sequence[np.ndarray]) -> Trial:
        run = self.runs[number]
        problem = run.problem
        if run.method.curriculum is not None and lesson.factor != 1.0:
            name = run.method.curriculum.parameter
            problem = problem.with_parameters(**{name: lesson.factor * problem.parameters[name]})
        edges = window_edges(problem, run.method.windows)
        known = [
            ravel_pytree(self._template)[1](jnp.asarray(theta[number])) for theta in finished[: lesson.window]
        ]
        return trials_of(problem, run.method, edges, known)[-1]

    def _objective(self, window: int, trial: Trial) -> Objective:
        """The objective, shared by all windows and lessons where the network takes the features as data."""
        shared = isinstance(self.method.network, JetNetwork)
        key = () if shared else (window, *trial.problem.parameters.values())
        if key not in self._objectives:
            penalties = penalty_terms(trial, self.method.penalties)
            chunk = chunk_size(
                width=getattr(self.method.network, "width", 32),
                indices=len(closure(trial.indices)),
                itemsize=max(s.dtype.itemsize for s in self.method.stages),
                runs=len(self.runs),
                platform=jax.default_backend(),
            )
            self._objectives[key] = Objective(
                trial, self._template, chunk=chunk, penalties=penalties, devices=self.devices
            )
        return self._objectives[key]

    @property
    def _by_residual(self) -> bool:
        return self.method.resampling is not None and self.method.resampling.by == "residual"

    def _drawn(self, lesson: Lesson, part: int) -> list[np.ndarray]:
        """Points that seed and lesson alone decide."""
        fresh = part if self.method.resampling else 0
        number = (lesson.window, lesson.number, fresh)
        purpose = "interior" if number == (0, 0, 0) else f"interior {number}"
        return [self._interior_of(run, lesson, self.method.points, purpose) for run in self.runs]

    def _drawn_by_residual(
        self, theta: np.ndarray, trials: list[Trial], objective: Objective, lesson: Lesson, part: int
    ) -> np.ndarray:
        """Points drawn by the size of the residual at the present parameters."""
        assert self.method.resampling is not None
        many = self.method.resampling.candidates * self.method.points
        purpose = f"by residual {(lesson.window, lesson.number, part)}"
        chosen = []
        for own, trial, run in zip(theta, trials, self.runs, strict=True):
            candidates = self._interior_of(run, lesson, many, f"candidates {purpose}")
            squares = self._squares(objective, trial, own, candidates)
            chosen.append(
                sampling.by_residual(candidates, squares, self.method.points, seed=run.seed, purpose=purpose)
            )
        return np.stack(chosen)

    def _interior_of(self, run: Run, lesson: Lesson, count: int, purpose: str) -> np.ndarray:
        """Points in the part of time that a lesson covers."""
        windows = self.method.windows
        points = self._interior(run.problem, run.seed, count, purpose, until=lesson.share / windows)
        points[:, 0] += lesson.window * (run.problem.duration / windows)
        return points

    def _interior(self, problem: Any, seed: int, count: int, purpose: str, until: float = 1.0) -> np.ndarray:
        sampler = self.method.sampler
        return sampling.interior(problem, count, seed=seed, sampler=sampler, purpose=purpose, until=until)

    def _squares(
        self, objective: Objective, trial: Trial, theta: np.ndarray, points: np.ndarray
    ) -> np.ndarray:
        """|residual|² at points, as many at a time as are trained on: one compiled program serves all."""
        parameters = {name: jnp.asarray(float(v)) for name, v in trial.problem.parameters.items()}
        size = self.method.points
        filled = np.concatenate([points, np.repeat(points[-1:], -len(points) % size, axis=0)])
        found = []
        for part in np.split(filled, len(filled) // size):
            block = residual_block(trial, part, chunk=objective.chunk, pruned=False)
            found.append(np.asarray(objective.residual_squares(jnp.asarray(theta), block, parameters)))
        return np.concatenate(found)[: len(points)]

    def _check_custom_parts(self) -> None:
        """A lift or gate of one's own must suit every time window: better to know before training."""
        count = self.method.windows
        for number, run in enumerate(self.runs):
            custom = isinstance(run.method.lift, CustomLift) or isinstance(run.method.gate, CustomGate)
            if custom and count > 1:
                self._trial(number, Lesson(count - 1), [self.theta] * (count - 1))


def network_key(seed: int) -> Any:
    """The key of a run's initial network."""
    return jax.random.key(int(sampling.generator(seed, "network").integers(2**31)))
