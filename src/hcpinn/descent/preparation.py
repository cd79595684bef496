"""What lessons are made of: the trial functions, points and objectives of runs that train together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float

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
from .accuracy import Accuracy
from .checks import check_curriculum, check_data, check_trials
from .lessons import Lesson
from .memory import LARGEST_PART, Extent, check_memory
from .method import Method
from .points import Points
from .runs import Run, check_alike
from .segments import Piecewise, Segment, trials_of, window_edges


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
        self.runs, self.devices = list(runs), devices
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
        self.unravel = ravel_pytree(templates[0])[1]
        """The parameters of a network, from a vector."""
        self.points = Points(self.runs, self.method)
        self._check_custom_parts()
        self._objectives: dict[Any, Objective] = {}
        self.accuracy = Accuracy(self, accuracy)
        size = self.objective_of(0, trials[0]).size
        self.bytes = check_memory(
            self.method, Extent.of(trials[0], size, points=self.method.points, runs=len(runs))
        )
        """What training takes at its peak, about."""

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
        objective = self.objective_of(now.window, trials[0])
        chosen = points
        if chosen is None and self.points.by_residual and (now.window, now.number, part) != (0, 0, 0):
            present = self.theta if theta is None else theta

            def squares(number: int, places: np.ndarray) -> np.ndarray:
                return self._squares(objective, trials[number], present[number], places)

            chosen = self.points.chosen(now, part, squares)
        used = self.points.drawn(now, part) if chosen is None else chosen
        each = [
            objective.data(own, trial, seed=run.seed)
            for own, trial, run in zip(used, trials, self.runs, strict=True)
        ]
        data, axes = stack(each)
        return Prepared(objective, objective.place(data, axes), axes, points=chosen)

    @property
    def estimates(self) -> bool:
        """Whether the schedule asks how large the error is."""
        return self.method.lessons > 1

    def trials(self, lesson: Lesson, finished: Sequence[np.ndarray]) -> list[Trial]:
        """Each run's trial function in a lesson, whose window starts where the finished ones end."""
        key = (lesson.window, lesson.factor)
        if key not in self._trials:
            found: list[Trial] = []
            for number in range(len(self.runs)):
                twin = self.twin(number)
                own = self._trial(number, lesson, finished) if twin is None else found[twin]
                found.append(own)
            latest = dict(list(self._trials.items())[-1:])
            self._trials = {**latest, key: found}
        return self._trials[key]

    # Outcomes

    def function(self, number: int, windows: Sequence[np.ndarray]) -> Piecewise:
        """A run's function of t and x, given what was found in its time windows.

        If training was cut short, the last finished window also serves for those after it.
        """
        run = self.runs[number]
        edges = window_edges(run.problem, run.method.windows)
        known = [self.unravel(jnp.asarray(theta[number])) for theta in windows]
        known += [known[-1]] * (run.method.windows - len(known))
        if run.method.windows > 1:
            trials = trials_of(run.problem, run.method, edges, known)
        else:
            trials = [self.trials(Lesson(), [])[number]]
        return Piecewise.make(run.problem, edges, trials, known)

    def residuals(self, number: int, function: Piecewise, points: np.ndarray | None = None) -> Residuals:
        """How well a run's equation holds; `points` are the last it trained on, where they were chosen."""
        run, found = self.runs[number], []
        for purpose in ("interior", "check"):
            total = 0.0
            for segment in function.segments:
                own = points if purpose == "interior" and len(function.segments) == 1 else None
                if own is None:
                    own = self.points.interior(segment.trial.problem, run.seed, self.method.points, purpose)
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

    def _squares_on(self, function: Piecewise, segment: Segment, points: np.ndarray) -> np.ndarray:
        window = function.segments.index(segment)
        theta = np.asarray(ravel_pytree(segment.parameters)[0])
        return self._squares(self.objective_of(window, segment.trial), segment.trial, theta, points)

    # What the above is made of

    def _compile(self, trial: Trial) -> None:
        """Start compiling the kernels of the first stage."""
        stage = self.method.stages[0]
        points = self.method.batches.size if self.method.batches and stage.tolerant else self.method.points
        trial.begin(-(-points // self.devices.count), stage.dtype)

    def twin(self, number: int) -> int | None:
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
        known = [self.unravel(jnp.asarray(theta[number])) for theta in finished[: lesson.window]]
        return trials_of(problem, run.method, edges, known)[-1]

    def objective_of(self, window: int, trial: Trial) -> Objective:
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

    def _squares(
        self, objective: Objective, trial: Trial, theta: np.ndarray, points: np.ndarray
    ) -> np.ndarray:
        """|residual|² at points, as many at a time as are trained on, or a part: one compiled program."""
        parameters = {name: jnp.asarray(float(v)) for name, v in trial.problem.parameters.items()}
        size = min(self.method.points, LARGEST_PART)
        filled = np.concatenate([points, np.repeat(points[-1:], -len(points) % size, axis=0)])
        found = []
        for part in np.split(filled, len(filled) // size):
            block = residual_block(trial, part, chunk=objective.chunk, pruned=False)
            found.append(np.asarray(objective.residual_squares(jnp.asarray(theta), block, parameters)))
        return np.concatenate(found)[: len(points)]

    def _check_custom_parts(self) -> None:
        """A custom lift or gate must suit every time window: better to know before training."""
        count = self.method.windows
        for number, run in enumerate(self.runs):
            custom = isinstance(run.method.lift, CustomLift) or isinstance(run.method.gate, CustomGate)
            if custom and count > 1:
                self._trial(number, Lesson(count - 1), [self.theta] * (count - 1))


def network_key(seed: int) -> Any:
    """The key of a run's initial network."""
    return jax.random.key(int(sampling.generator(seed, "network").integers(2**31)))
