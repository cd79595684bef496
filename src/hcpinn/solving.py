"""Solving: from a problem and a method to a checked solution."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from .catalog import DEFAULT, TAKES_OVER, find_method
from .checking import solution_of
from .descent import Checkpoint, Method, Preparation, Progress, Run, network_key, to_dict, train
from .equation import fingerprint
from .errors import FileError, MethodError, NoReferenceError, NoSolutionError
from .evolution import Evolution, Pass, evolve
from .evolution import applies as why_not
from .machine.background import BackgroundTask
from .machine.locks import Lock
from .machine.precision import double
from .machine.processes import is_first
from .machine.provenance import provenance
from .objective import Devices, find_devices, sampling
from .outcome import Outcome, Stop
from .problem import Problem
from .reference import Reference, solve_reference
from .solution import Solution
from .trial import Trial, make_trial

CHECKPOINT = "checkpoint.npz"
"""Name of the checkpoint in an output folder."""

_WITHIN_REACH = 1e-3
"""About the error that descent reaches on a CPU: an evolution that is better is not handed over to it."""

_FINEST = 1e-12
"""The highest accuracy that an evolution is asked for."""

REFERENCE = "the classical reference"
"""What a finished training may have to wait for."""


def solve(
    problem: Problem,
    method: Method | Evolution | str | None = None,
    *,
    seed: int = 0,
    accuracy: float = 1e-3,
    out: str | Path | None = None,
    resume: bool = False,
    checkpoint_every: float = 30.0,
    max_seconds: float | None = None,
    reference: Reference | bool = True,
    progress: bool | None = None,
    devices: int | None = None,
) -> Solution:
    """Solve a problem and check the outcome.

    Args:
        problem: what to solve.
        method: how: a `Method`, an `Evolution`, or the name of one. By default `evolve`; where that does not
            apply, or ends with an estimated error above 1e-3 and above `accuracy`, `expert` takes over.
        seed: the seed of everything random. Same seed, same machine, same compiled programs: same bits.
        accuracy: the relative L2 error up to which the solution counts as converged. `evolve`, and methods
            of several lessons such as `expert`, stop where their own estimate of the error is below it.
        out: a folder for checkpoints, so that an interrupted training can be resumed; one training at a time
            has it. An evolution, which takes seconds, leaves none.
        resume: go on from the checkpoint in `out`. Without it, a checkpoint that is there is renamed, not
            replaced, with a warning.
        checkpoint_every: seconds between two checkpoints.
        max_seconds: stop training after this time and keep the best so far.
        reference: a trusted solution to compare with; if True it is computed in the background, if False
            left out.
        progress: whether to show a progress bar; by default only in a terminal or notebook.
        devices: how many devices share out the points; by default all, if each gets 8,192 points
            or more, else one.
    """
    _check_numbers(accuracy, max_seconds)
    options: dict[str, Any] = {
        "accuracy": accuracy,
        "out": out,
        "resume": resume,
        "checkpoint_every": checkpoint_every,
        "reference": reference,
        "progress": progress,
        "devices": devices,
    }
    if method is None:
        return _by_default(problem, seed, max_seconds, options)
    return solve_batch([Run(problem, _as_method(method, problem), seed)], max_seconds=max_seconds, **options)[
        0
    ]


def _by_default(problem: Problem, seed: int, max_seconds: float | None, options: dict[str, Any]) -> Solution:
    """By evolution; by training where that does not apply, finds nothing, or ends far from the accuracy."""

    def by(name: str) -> Solution:
        left = None if max_seconds is None else max(0.0, max_seconds - (time.monotonic() - began))
        return solve_batch([Run(problem, find_method(name, problem), seed)], max_seconds=left, **options)[0]

    began, evolved, why = time.monotonic(), None, why_not(problem)
    if options["resume"] and options["out"] is not None and (Path(options["out"]) / CHECKPOINT).exists():
        return by(TAKES_OVER)
    if why is None:
        try:
            evolved = by(DEFAULT)
            if evolved.stop in (Stop.INTERRUPTED, Stop.TIME):
                return evolved
            if _estimate(evolved) <= max(options["accuracy"], _WITHIN_REACH):
                return evolved
            why = f"{evolved.stop.value} Its estimated error is {_estimate(evolved):.0e}."
        except NoSolutionError as error:
            why = str(error)
    trained = by(TAKES_OVER)
    if evolved is not None and _estimate(evolved) <= _estimate(trained):
        return dataclasses.replace(evolved, notes=(f"{TAKES_OVER} was tried too, and did no better.",))
    return dataclasses.replace(trained, notes=(f"{TAKES_OVER} took over from {DEFAULT}: {why}",))


def solve_batch(
    runs: Sequence[Run],
    *,
    accuracy: float = 1e-3,
    out: str | Path | None = None,
    resume: bool = False,
    checkpoint_every: float = 30.0,
    max_seconds: float | None = None,
    reference: Reference | bool = True,
    progress: Progress | bool | None = None,
    devices: int | None = None,
) -> list[Solution]:
    """Solve runs of one computational shape together: different seeds, lifts or parameters.

    Takes the same options as `solve`; a `Reference` that is given serves all runs, and `progress`
    may be a `Progress` of one's own.
    """
    _check_numbers(accuracy, max_seconds)
    if progress is None or isinstance(progress, bool):
        progress = Progress(visible=progress if is_first() else False)
    engines = {run.method.engine for run in runs}
    if engines == {Evolution.engine}:
        return _evolved(runs, accuracy, max_seconds, reference, progress)
    if len(engines) > 1:
        raise MethodError(
            "Runs by different engines cannot be solved together. Solve them one after the other."
        )
    with double(), _alone_in(out):
        shared = _devices(runs, devices)
        preparation = Preparation(runs, accuracy=accuracy, devices=shared, compile_early=True)
        checkpoint = _checkpoint(preparation, out, checkpoint_every, resume)
        with _references(runs, reference) as references:
            if shared.count > 1:  # they all run the same programs in the same order
                references.result()
            outcomes = train(
                preparation,
                progress=progress,
                checkpoint=checkpoint,
                resume=resume,
                max_seconds=max_seconds,
                after_block=lambda: _look_after(references),
                estimate=True,
            )
            if not references.done:
                progress.waiting(REFERENCE)
            trusted = references.result()
        return _judged(runs, outcomes, trusted, accuracy, shared.count)


def _evolved(
    runs: Sequence[Run],
    accuracy: float,
    max_seconds: float | None,
    reference: Reference | bool,
    progress: Progress,
) -> list[Solution]:
    """Runs by the engine that evolves, one after the other."""
    began, found = time.monotonic(), []
    with _references(runs, reference) as references, progress:
        for run in runs:
            left = None if max_seconds is None else max(0.0, max_seconds - (time.monotonic() - began))
            evolved = evolve(
                run.problem,
                accuracy=min(max(accuracy, _FINEST), 0.5),
                seed=run.seed,
                max_seconds=left,
                progress=_Passes(run.problem, progress, references),
                method=run.method,
            )
            outcome = evolved.outcome()
            if outcome is None:
                raise NoSolutionError(
                    f"{run.method.name} found no solution of {run.problem.name}: {evolved.stop.value}"
                )
            found.append(outcome)
        if not references.done:
            progress.waiting(REFERENCE)
        trusted = references.result()
    with double():
        return _judged(runs, found, trusted, accuracy)


def _judged(
    runs: Sequence[Run],
    outcomes: Sequence[Outcome],
    trusted: Sequence[Reference | str],
    accuracy: float,
    devices: int = 1,
) -> list[Solution]:
    """Each run's outcome compared with its reference."""
    return [
        solution_of(
            outcome,
            own,
            problem=run.problem,
            method=run.method,
            seed=run.seed,
            accuracy=accuracy,
            provenance=provenance(devices),
        )
        for run, outcome, own in zip(runs, outcomes, trusted, strict=True)
    ]


class _Passes:
    """Shows how far each pass has come, and starts the references once the first is under way."""

    def __init__(self, problem: Problem, progress: Progress, references: BackgroundTask[Any]):
        self.problem, self.progress, self.references = problem, progress, references
        self.features = 0

    def __call__(self, found: Pass) -> None:
        _look_after(self.references)
        if found.features != self.features:
            self.features = found.features
            self.progress.stage(f"evolve, {found.features} features, rank {found.rank}", 100, 0)
        share = (found.time - self.problem.start) / self.problem.duration
        self.progress.update(round(100 * share), found.estimate)


def _estimate(solution: Solution) -> float:
    return math.inf if solution.estimated_error is None else solution.estimated_error


def _check_numbers(accuracy: Any, max_seconds: Any) -> None:
    """Refuse what is no number, or makes no sense as one."""
    if not (isinstance(accuracy, int | float) and accuracy > 0):
        raise MethodError(f"accuracy must be a positive number, but is {accuracy!r}.")
    if max_seconds is not None and not (isinstance(max_seconds, int | float) and max_seconds >= 0):
        raise MethodError(f"max_seconds must be a number from zero on, but is {max_seconds!r}.")


def _devices(runs: Sequence[Run], count: int | None) -> Devices:
    """The devices that share out the points which one step of all runs looks at."""
    if count is not None and not (isinstance(count, Integral) and count >= 1):
        raise MethodError(f"devices must be a whole number from 1 on, but is {count!r}.")
    points = sum(run.method.batches.size if run.method.batches else run.method.points for run in runs)
    return find_devices(count, points=points)


def _references(runs: Sequence[Run], choice: Reference | bool) -> BackgroundTask[list[Reference | str]]:
    """For each run its reference, or the reason why there is none, computed in the background.

    It starts when the first block of steps is done, and is waited for when all of them are. On two cores, a
    reference that starts with the checks or with compilation competes with them: the first step of
    allen-cahn-2d, cahn-hilliard and gray-scott then came 1 to 6 s later, and the end no sooner, since the
    work is the same. A reference that is given is checked at once.
    """
    if isinstance(choice, Reference):
        for run in runs:
            _check_reference(run.problem, choice)
        return BackgroundTask.completed([choice] * len(runs))
    if not choice:
        return BackgroundTask.completed(
            ["No reference was asked for, so the error is not known."] * len(runs)
        )
    return BackgroundTask(lambda: _solve_references(runs))


def _look_after(references: BackgroundTask[list[Reference | str]]) -> None:
    """Start the references once training is under way, and end it where they fail."""
    references.start()
    references.raise_if_failed()


def _solve_references(runs: Sequence[Run]) -> list[Reference | str]:
    """Runs of the same problem share a reference."""
    known: dict[str, Reference | str] = {}
    with double():
        keys = [fingerprint(run.problem) for run in runs]
        for key, run in zip(keys, runs, strict=True):
            if key not in known:
                try:
                    known[key] = solve_reference(run.problem)
                except NoReferenceError as error:
                    known[key] = str(error)
    return [known[key] for key in keys]


def _check_reference(problem: Problem, reference: Reference) -> None:
    """Refuse a reference that cannot be of this problem."""
    ends = [(float(problem.start), float(problem.horizon)), *problem.domain.bounds]
    grids = [reference.times, *reference.coordinates]
    fits = len(grids) == len(ends) and all(
        np.allclose([grid.min(), grid.max()], end) for grid, end in zip(grids, ends, strict=False)
    )
    if not fits or set(reference.values) != set(problem.fields):
        raise FileError(
            f"The reference given is not one of {problem.name}: it holds {', '.join(reference.values)} of "
            f"{reference.problem_name}, and fields, domain or horizon differ."
        )


def _as_method(method: Any, problem: Problem) -> Any:
    if isinstance(method, Method | Evolution):
        return method
    if not isinstance(method, str):
        raise MethodError(
            f"method must be a Method, an Evolution or a name such as 'quick', but is {method!r}."
        )
    return find_method(method, problem)


def probe(run: Run, trial: Trial | None = None) -> list[str]:
    """Lift, gate, features and the first network at a few points: functions of one's own by their values."""
    with double():
        own = make_trial(run.problem, run.method) if trial is None else trial
        places = sampling.interior(run.problem, 8, seed=0, sampler="uniform", purpose="probe")
        found = own.parts(own.init(network_key(run.seed)), jnp.asarray(places))
        return [f"{number:.9g}" for value in found for number in np.asarray(value).ravel()]


@contextlib.contextmanager
def _alone_in(out: Any) -> Iterator[None]:
    """Keep other trainings out of a folder within the block."""
    if out is None or not is_first():
        yield
        return
    lock = Lock.take(Path(out) / "training.lock")
    if lock is None:
        raise FileError(
            f"Another training is under way in {out}, and would lose its checkpoint. Wait until it is done, "
            "or choose another folder."
        )
    try:
        yield
    finally:
        lock.release()


def _checkpoint(preparation: Preparation, out: Any, every: float, resume: bool) -> Checkpoint | None:
    if out is None:
        if resume:
            raise FileError("resume needs the folder of the interrupted training: give out=….")
        return None
    trials = preparation.trials(preparation.schedule.first, [])
    description = [
        [fingerprint(run.problem), to_dict(run.method), run.seed, probe(run, trial)]
        for run, trial in zip(preparation.runs, trials, strict=True)
    ]
    identity = hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()
    checkpoint = Checkpoint(Path(out) / CHECKPOINT, identity, every)
    if not resume and is_first():
        checkpoint.spare()
    return checkpoint
