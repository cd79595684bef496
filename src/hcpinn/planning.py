"""The plan of runs that train together: their phases, points, trial functions and data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from .checking.accuracy import grid_error
from .checking.floor import kink_floor
from .checking.resolution import early_error, early_points
from .descent.checks import check_curriculum, check_data, check_trials
from .descent.memory import check_memory
from .descent.method import Method
from .descent.phase import Phase, Prepared
from .descent.runs import Run, check_alike
from .descent.timetable import Place, timetable
from .jets.taylor import closure
from .machine.background import Beside
from .objective import Devices, Objective, chunk_size, penalty_terms, residual_block, sampling, stack
from .reference import Reference
from .trial import CustomGate, CustomLift, JetNetwork, Trial, make_trial, march

_MARGIN = 0.8
"""Of the accuracy asked for: a part of the reference's grid decides when to stop, all of it judges."""

REFERENCE = "the classical reference"
"""What training may have to wait for."""

_APART = 3
"""Points apart from those trained on, over these, by which the best of several lessons is chosen."""


class TrainingPlan:
    """The plan of runs that train together: they may differ in lift, seed and the problem's parameters."""

    def __init__(
        self,
        runs: Sequence[Run],
        *,
        accuracy: float = 0.0,
        devices: Devices = Devices(),
        soon: bool = False,
    ):
        """`accuracy` is where methods that stop early do; `devices` share out the points.

        Where training begins `soon`, kernels for it are compiled beside the checks.
        """
        check_alike(runs)
        self.devices = devices
        self.accuracy = accuracy
        self.references: Beside[list[Reference | str]] | None = None
        """Each run's reference, or the reason why there is none; they tell when the accuracy is reached."""
        self.runs = list(runs)
        self.method = runs[0].method
        self.weights, self.batches = self.method.weights, self.method.batches
        self.phases: Sequence[Phase]
        self.places, self.phases = timetable(self.method)
        check_curriculum(runs)
        self._trials: dict[Any, list[Trial]] = {}
        self._floors: dict[Trial, float | None] = {}
        trials = self.trials(0, self.places[0].factor, [])
        if soon:
            self._begin(trials[0])
        check_data(runs)
        check_trials(trials, self.method)
        templates = [t.init(network_key(r.seed)) for r, t in zip(runs, trials, strict=True)]
        self.theta = np.stack([np.asarray(ravel_pytree(t)[0], np.float64) for t in templates])
        self._template = templates[0]
        self._check_own_parts()
        self._objectives: dict[Any, Objective] = {}
        self._errors: dict[int, Callable[[np.ndarray], float]] = {}
        check_memory(self.method.stages, self._objective(0, trials[0]), len(runs))

    def _begin(self, trial: Trial) -> None:
        """Have the kernels of the first stage compiled."""
        stage = self.method.stages[0]
        points = self.batches.size if self.batches and stage.tolerant else self.method.points
        trial.begin(-(-points // self.devices.count), stage.dtype)

    def satisfied(self, phase: int, theta: np.ndarray) -> np.ndarray:
        """Which runs have reached the accuracy asked for; see `training.Plan`."""
        if self.references is None or not self._may_end(phase):
            return np.zeros(len(self.runs), bool)
        found = zip(self.references.result(), theta, strict=True)
        errors = [self._error(n, reference, own) for n, (reference, own) in enumerate(found)]
        return np.asarray(errors) <= _MARGIN * self.accuracy

    def pending(self, phase: int) -> str:
        """What `satisfied` will have to wait for; see `training.Plan`."""
        waits = self.references is not None and not self.references.done and self._may_end(phase)
        return REFERENCE if waits else ""

    def stepped(self) -> None:
        """Begin what goes on beside the training, and see that it does; see `training.Plan`."""
        if self.references is not None:
            self.references.start()
            self.references.check()

    def _may_end(self, phase: int) -> bool:
        """Whether training may end with a phase because the accuracy is reached."""
        place = self.places[phase]
        return self.method.early and place.whole and place.ends and self.method.windows == 1

    def score(self, phase: int, theta: np.ndarray, finished: Sequence[np.ndarray]) -> np.ndarray | None:
        """Each run's loss on points apart, where several lessons cover the whole; see `training.Plan`."""
        place = self.places[phase]
        several = self.method.horizons.count(1.0) > 1
        if not (several and place.whole and place.ends):
            return None
        trials = self.trials(place.window, place.factor, finished)
        objective = self._objective(place.window, trials[0])
        scores = []
        for own, trial, run in zip(theta, trials, self.runs, strict=True):
            points = self._interior(run, place, _APART * self.method.points, "apart")
            residual = float(np.mean(self._squares(objective, trial, own, points)))
            scores.append(residual + objective.penalty(jnp.asarray(own), trial, run.seed))
        return np.asarray(scores)

    def _error(self, number: int, reference: Reference | str, theta: np.ndarray) -> float:
        """The relative L2 error of a run on a part of its reference's grid, the reference's own included."""
        if isinstance(reference, str):
            return math.inf
        if number not in self._errors:
            trial = self._trial(number, 0, 1.0, [])
            self._errors[number] = grid_error(trial, reference, ravel_pytree(self._template)[1])
        return self._errors[number](theta)

    def prepare(
        self,
        phase: int,
        part: int,
        theta: np.ndarray,
        finished: Sequence[np.ndarray],
        points: np.ndarray | None,
    ) -> Prepared:
        """The data of a part of a phase; see `training.Plan`."""
        place = self.places[phase]
        trials = self.trials(place.window, place.factor, finished)
        objective = self._objective(place.window, trials[0])
        chosen = points
        if chosen is None and self._by_residual and (place.window, place.lesson, part) != (0, 0, 0):
            chosen = self._by_residual_at(theta, trials, objective, place, part)
        used = self._drawn(place, part) if chosen is None else chosen
        each = [
            objective.data(own, trial, seed=run.seed)
            for own, trial, run in zip(used, trials, self.runs, strict=True)
        ]
        data, axes = stack(each)
        return Prepared(objective, objective.place(data, axes), axes, points=chosen)

    def trials(self, window: int, factor: float, finished: Sequence[np.ndarray]) -> list[Trial]:
        """Each run's trial function in a time window, which starts where the finished ones end."""
        key = (window, factor)
        if key not in self._trials:
            found: list[Trial] = []
            for number in range(len(self.runs)):
                twin = self._twin(number)
                found.append(self._trial(number, window, factor, finished) if twin is None else found[twin])
            self._trials = {key: found}
        return self._trials[key]

    def trial(self, number: int) -> Trial:
        """A run's trial function over the whole horizon, where there are no windows."""
        return self.trials(0, 1.0, [])[number]

    def floor(self, number: int) -> float | None:
        """The error that a run's lift leaves, or None; known at once for runs that share a trial function."""
        trial = self.trials(0, self.places[0].factor, [])[number]
        if trial not in self._floors:
            self._floors[trial] = kink_floor(trial)
        return self._floors[trial]

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

    def residual_rms(
        self, run: int, theta: np.ndarray, purpose: str, *, points: np.ndarray | None = None
    ) -> float:
        """Root mean square of a run's residual over the whole horizon: theta has a row per window.

        At `points`, if they are given and there is one window, else at those drawn for a purpose.
        """
        total = 0.0
        for window in range(self.method.windows):
            finished = [theta[k][None] for k in range(window)]
            if self.method.windows == 1:  # what training compiled for this trial serves again
                trial = self.trial(run)
            else:
                trial = self._trial(run, window, 1.0, finished, only=True)
            objective = self._objective(window, trial)
            used = points if self.method.windows == 1 else None
            if used is None:
                used = sampling.interior(
                    trial.problem,
                    self.method.points,
                    seed=self.runs[run].seed,
                    sampler=self.method.sampler,
                    purpose=purpose,
                )
            total += float(np.mean(self._squares(objective, trial, theta[window], used)))
        return float(np.sqrt(total / self.method.windows))

    def early_error(self, run: int, theta: np.ndarray, until: float, size: float) -> float:
        """The relative error that the residual of a run before the time `until` can make."""
        trial = self.trial(run)
        until = min(until, float(trial.problem.horizon))
        drawn = self._interior(self.runs[run], Place(), self.method.points, "early")
        points, shares = early_points(drawn, trial.problem, until)
        squares = self._squares(self._objective(0, trial), trial, theta[0], points)
        return early_error(squares, shares, until - trial.problem.start, size)

    def _trial(
        self, number: int, window: int, factor: float, finished: Sequence[np.ndarray], *, only: bool = False
    ) -> Trial:
        """A run's trial in a window; `finished` holds all runs' parameters, or with `only` this one's."""
        run = self.runs[number]
        problem = run.problem
        if run.method.curriculum is not None and factor != 1.0:
            name = run.method.curriculum.parameter
            problem = problem.with_parameters(**{name: factor * problem.parameters[name]})
        if run.method.windows == 1:
            return make_trial(problem, run.method)
        own = [jnp.asarray(theta[0 if only else number]) for theta in finished[:window]]
        networks = [ravel_pytree(self._template)[1](theta) for theta in own]
        return march(problem, run.method.windows, lambda p: make_trial(p, run.method), networks)[-1]

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

    def _drawn(self, place: Place, part: int) -> list[np.ndarray]:
        """Points that seed and phase alone decide."""
        fresh = part if self.method.resampling else 0
        number = (place.window, place.lesson, fresh)
        purpose = "interior" if number == (0, 0, 0) else f"interior {number}"
        return [self._interior(run, place, self.method.points, purpose) for run in self.runs]

    def _by_residual_at(
        self, theta: np.ndarray, trials: list[Trial], objective: Objective, place: Place, part: int
    ) -> np.ndarray:
        """Points drawn by the size of the residual at the present parameters."""
        assert self.method.resampling is not None
        many = self.method.resampling.candidates * self.method.points
        purpose = f"by residual {(place.window, place.lesson, part)}"
        chosen = []
        for own, trial, run in zip(theta, trials, self.runs, strict=True):
            candidates = self._interior(run, place, many, f"candidates {purpose}")
            squares = self._squares(objective, trial, own, candidates)
            chosen.append(
                sampling.by_residual(candidates, squares, self.method.points, seed=run.seed, purpose=purpose)
            )
        return np.stack(chosen)

    def _interior(self, run: Run, place: Place, count: int, purpose: str) -> np.ndarray:
        length = run.problem.duration / self.method.windows
        points = sampling.interior(
            run.problem,
            count,
            seed=run.seed,
            sampler=self.method.sampler,
            purpose=purpose,
            until=place.share / self.method.windows,
        )
        points[:, 0] += place.window * length
        return points

    def _squares(
        self, objective: Objective, trial: Trial, theta: np.ndarray, points: np.ndarray
    ) -> np.ndarray:
        """|residual|² at points, as many at a time as are trained on: one compiled program serves all."""
        parameters = {name: jnp.asarray(float(v)) for name, v in trial.problem.parameters.items()}
        found = []
        for part in np.split(points, len(points) // self.method.points):
            block = residual_block(trial, part, chunk=objective.chunk, pruned=False)
            found.append(np.asarray(objective.residual_squares(jnp.asarray(theta), block, parameters)))
        return np.concatenate(found)

    def _check_own_parts(self) -> None:
        """A lift or gate of one's own must suit every time window: better to know before training."""
        count = self.method.windows
        for number, run in enumerate(self.runs):
            own = isinstance(run.method.lift, CustomLift) or isinstance(run.method.gate, CustomGate)
            if own and count > 1:
                self._trial(number, count - 1, self.places[0].factor, [self.theta] * (count - 1))


def network_key(seed: int) -> Any:
    """The key of a run's initial network."""
    return jax.random.key(int(sampling.generator(seed, "network").integers(2**31)))
