"""Runs by their engine, within the time of one call, and what is kept of them on the way."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..descent import Checkpoint, Preparation, Progress, Run, network_key, to_dict, train
from ..equation import fingerprint
from ..errors import FileError, MethodError, NoSolutionError, OutOfTimeError
from ..evolution import Evolution, Pass, evolve
from ..machine.background import Abandoned, current_task, raise_if_abandoned
from ..machine.locks import Lock
from ..machine.precision import double
from ..machine.processes import is_first
from ..objective import Devices, find_devices, sampling
from ..outcome import Outcome, Stop
from ..problem import Problem
from ..trial import Trial, make_trial
from .growth import Grower, within_reach
from .references import References

CHECKPOINT = "checkpoint.npz"
"""Name of the checkpoint in an output folder."""

SoFar = Callable[[Stop], list[Outcome]]
"""What an engine has found by now, one outcome per run, given the reason to stop."""


@dataclass
class Sitting:
    """One call of `solve` or `solve_batch`: the task of its engines, the time limit, and their results."""

    accuracy: float
    out: Any
    resume: bool
    checkpoint_every: float
    devices: int | None
    max_seconds: float | None
    progress: Progress
    references: References
    spent: float = 0.0
    """Seconds of earlier sittings, which count towards `max_seconds`."""
    strict: bool = True
    """Whether `max_seconds` bounds the whole call. If not, it tells engines when to stop after their first
    steps, so that a training resumed again and again always gets further."""
    found: list[tuple[Sequence[Run], SoFar]] = field(default_factory=list)
    """What each engine has found so far, in the order they came."""
    lock: Lock | None = None
    """Keeps other trainings out of the folder."""
    count: int = 1
    """How many devices share the points."""
    began: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float | None:
        """How long engines may take in this call; None without a limit."""
        return None if self.max_seconds is None else max(self.max_seconds - self.spent, 0.0)

    @property
    def deadline(self) -> float:
        """When everything must be done."""
        return self.began + self.seconds if self.strict and self.seconds is not None else math.inf

    @property
    def reserve(self) -> float:
        """Seconds of this call that engines leave for the comparison with the reference."""
        if self.seconds is None or not self.strict:
            return 0.0
        return min(0.5 + 0.05 * self.seconds, 3.0, self.seconds / 4)

    def outcomes(self, runs: Sequence[Run]) -> list[Outcome]:
        """Each run's outcome, by the engine of its method."""
        engines = {run.method.engine for run in runs}
        if len(engines) > 1:
            raise MethodError(
                "Runs by different engines cannot be solved together. Solve them one after the other."
            )
        outcomes = self._evolved(runs) if engines == {Evolution.engine} else self._trained(runs)
        self._keep(runs, lambda stop: outcomes)
        return outcomes

    def nothing_found(self) -> OutOfTimeError:
        """What is raised where the time was too short for anything."""
        return OutOfTimeError(
            f"Nothing was found within max_seconds = {self.max_seconds:g}: there was hardly time to prepare "
            "and to compile. Allow more."
        )

    def _left(self) -> float | None:
        """Seconds left to an engine."""
        if self.seconds is None:
            return None
        return max(0.0, self.began + self.seconds - self.reserve - time.monotonic())

    def _keep(self, runs: Sequence[Run], so_far: SoFar) -> None:
        """Replace an engine's earlier result by its latest."""
        if self.found and self.found[-1][0] is runs:
            self.found.pop()
        self.found.append((runs, so_far))

    def _evolved(self, runs: Sequence[Run]) -> list[Outcome]:
        """Runs by the engine that evolves, one after the other."""
        found: list[Outcome] = []
        with self.progress:
            for run in runs:
                before = [*found]

                def keep(
                    so_far: Callable[[Stop], Any], run: Run = run, before: list[Outcome] = before
                ) -> None:
                    if run is runs[-1]:  # else there is nothing yet for those after it
                        self._keep(runs, lambda stop: [*before, so_far(stop).outcome()])

                evolved = evolve(
                    run.problem,
                    accuracy=within_reach(self.accuracy),
                    seed=run.seed,
                    max_seconds=self._left(),
                    progress=_Passes(run.problem, self.progress, self.references),
                    method=run.method,
                    keep=keep,
                )
                outcome = evolved.outcome()
                if outcome is None and evolved.stop is Stop.TIME:
                    raise self.nothing_found()
                if outcome is None:
                    raise NoSolutionError(
                        f"{run.method.name} found no solution of {run.problem.name}: {evolved.stop.value}"
                    )
                found.append(outcome)
        return found

    def _trained(self, runs: Sequence[Run]) -> list[Outcome]:
        """Runs by the engine that descends, all together."""
        self._take_folder()
        shared = _devices(runs, self.devices)
        self.count = shared.count
        preparation = Preparation(runs, accuracy=self.accuracy, devices=shared, compile_early=True)
        checkpoint = self._checkpoint(preparation)
        if shared.count > 1:  # they all run the same programs in the same order
            self.references.task.result()
        left = self._left()
        return train(
            preparation,
            progress=self.progress,
            checkpoint=checkpoint,
            resume=self.resume,
            max_seconds=None if left is None else self.spent + left,  # of all sittings
            after_block=self.references.look_after,
            estimate=True,
            keep=lambda so_far: self._keep(runs, so_far),
            grower=Grower(runs, self.accuracy, lambda own: _Passes(own, self.progress, self.references)),
        )

    def _take_folder(self) -> None:
        """Keep other trainings out of the folder until this call is over."""
        if self.out is None or not is_first() or self.lock is not None:
            return
        self.lock = Lock.take(Path(self.out) / "training.lock")
        if self.lock is None:
            raise FileError(
                f"Another training is under way in {self.out}, and would lose its checkpoint. Wait until it "
                "is done, or choose another folder."
            )
        try:
            raise_if_abandoned()
        except Abandoned:  # the call is over, and has not seen this lock
            self.lock.release()
            raise

    def _checkpoint(self, preparation: Preparation) -> Checkpoint | None:
        if self.out is None:
            if self.resume:
                raise FileError("resume needs the folder of the interrupted training: give out=….")
            return None
        trials = preparation.trials(preparation.schedule.first, [])
        description = [
            [fingerprint(run.problem), to_dict(run.method), run.seed, probe(run, trial)]
            for run, trial in zip(preparation.runs, trials, strict=True)
        ]
        identity = hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()
        checkpoint = Checkpoint(Path(self.out) / CHECKPOINT, identity, self.checkpoint_every)
        if not self.resume and is_first():
            checkpoint.spare()
        return checkpoint

    def best(self, stop: Stop) -> tuple[Sequence[Run], list[Outcome]] | None:
        """What there is where no engine can be waited for any longer; None if there is nothing.

        Outcomes lack what takes long to compute. Of two engines the one with the lower estimate counts.
        """
        candidates = [(runs, so_far(stop)) for runs, so_far in self.found]
        if not candidates:
            return None
        runs, outcomes = min(candidates, key=lambda c: max(estimate(outcome) for outcome in c[1]))
        return runs, [dataclasses.replace(o, stop=stop, residuals=None, trial=None) for o in outcomes]


class _Passes:
    """Shows how far each pass has come, and starts the references once the first is under way."""

    def __init__(self, problem: Problem, progress: Progress, references: References):
        self.problem, self.progress, self.references = problem, progress, references
        self.features = 0

    def __call__(self, found: Pass) -> None:
        self.references.look_after()
        task = current_task()
        if self.progress.interrupted or (task is not None and task.stopping.is_set()):
            raise KeyboardInterrupt  # which makes an evolution end with the best it has
        first, self.features = found.features != self.features, found.features
        share = (found.time - self.problem.start) / self.problem.duration
        self.progress.evolving(found.rank, found.time, share, found.estimate, first=first)


def estimate(outcome: Outcome) -> float:
    """The engine's own estimate of the error; infinite where it has none."""
    return math.inf if outcome.estimated_error is None else outcome.estimated_error


def _devices(runs: Sequence[Run], count: int | None) -> Devices:
    """The devices that share out the points which one step of all runs looks at."""
    points = sum(run.method.batches.size if run.method.batches else run.method.points for run in runs)
    return find_devices(count, points=points)


def probe(run: Run, trial: Trial | None = None) -> list[str]:
    """Lift, gate, features and the first network at a few points, which identify custom functions."""
    with double():
        own = make_trial(run.problem, run.method) if trial is None else trial
        places = sampling.interior(run.problem, 8, seed=0, sampler="uniform", purpose="probe")
        found = own.parts(own.init(network_key(run.seed)), jnp.asarray(places))
        return [f"{number:.9g}" for value in found for number in np.asarray(value).ravel()]
