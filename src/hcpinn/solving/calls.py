"""The two calls, `solve` and `solve_batch`: what they are given is checked, and what comes back is judged."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from ..catalog import DEFAULT, TAKES_OVER, find_method, find_problem
from ..checking import solution_of
from ..descent import Method, Progress, Run, Status, seconds_spent
from ..errors import MethodError, NoSolutionError, OutOfTimeError, ProblemError, UnusableFileError
from ..evolution import Evolution, applies as why_not
from ..machine.files import answering, check_folder
from ..machine.precision import double
from ..machine.processes import is_first
from ..machine.provenance import provenance
from ..machine.supervision import Left, supervised
from ..outcome import Outcome, Stop
from ..problem import Problem, refuse_open
from ..reference import Reference
from ..solution import Solution
from .engines import CHECKPOINT, Sitting, estimate
from .families import solve_family
from .references import References, late

_WITHIN_REACH = 1e-3
"""About the error that descent reaches on a CPU; better evolutions are kept."""


def solve(
    problem: Problem | str,
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
    on_progress: Callable[[Status], Any] | None = None,
    devices: int | None = None,
) -> Any:
    """Solve a problem and check the outcome: a `Solution`, or a `Family` where parameters are open.

    The first Ctrl-C or SIGTERM ends it within two seconds with the best found so far, a second one at once.

    Args:
        problem: what to solve, or the name of a problem of the catalogue or of a `.toml` file.
        method: how: a `Method`, an `Evolution`, or the name of one. By default `evolve`; where that does not
            apply, or ends with an estimated error above 1e-3 and above `accuracy`, `expert` takes over.
        seed: the seed of everything random. Same seed, machine, cores and compiled programs: same bits.
        accuracy: the relative L2 error up to which the solution counts as converged. `evolve`, and methods
            of several lessons such as `expert`, stop where their own estimate of the error is below it.
        out: a folder for checkpoints, so that an interrupted training can be resumed; one training at a time
            has it. An evolution, which takes seconds, leaves none.
        resume: go on from the checkpoint in `out`. Without it, a checkpoint that is there is renamed, not
            replaced, with a warning.
        checkpoint_every: seconds between two checkpoints.
        max_seconds: the time this may take, with compilation, the reference and the comparison with it. When
            it is up, the best found so far comes back, and a reference that is not done is left out. A
            training that is resumed counts the time of earlier sittings too.
        reference: a trusted solution to compare with; if True it is computed in the background, if False
            left out.
        progress: whether to show a progress bar; by default only in a terminal or notebook.
        on_progress: a function that is told a `Status` of stage, loss or estimated error, and time every now
            and then, from the thread that computes.
        devices: how many devices share out the points; by default all, if each gets 8,192 points
            or more, else one.

    Raises:
        OutOfTimeError: `max_seconds` was too short to find anything.
    """
    problem = _as_problem(problem)
    _check_options(accuracy, max_seconds, checkpoint_every, devices, out)
    if problem.open:
        return solve_family(
            problem,
            method,
            seed=seed,
            accuracy=float(accuracy),
            max_seconds=max_seconds,
            reference=reference,
            progress=progress,
        )
    if method is None:
        runs = [Run(problem, Evolution(), seed)]
    else:
        runs = [Run(problem, _as_method(method, problem), seed)]
    shown = Progress(
        visible=progress if is_first() else False, accuracy=float(accuracy), on_progress=on_progress
    )
    sitting = _sitting(runs, accuracy, out, resume, checkpoint_every, max_seconds, reference, shown, devices)
    if method is None:
        return _within_its_time(sitting, lambda: _by_default(sitting, problem, seed))[0]
    return _within_its_time(sitting, lambda: _judged(sitting, runs, sitting.outcomes(runs)))[0]


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
    may be a `Progress` of one's own. `max_seconds` is the time of the engine alone, which takes its first
    steps in any case: a training that is resumed again and again gets further each time.
    """
    if isinstance(runs, Run):
        raise MethodError("solve_batch takes a list of runs: write solve_batch([run]).")
    for run in runs:
        if not isinstance(run, Run):
            raise MethodError(
                f"solve_batch takes runs, made as Run(problem, method, seed), but one is {run!r}."
            )
    runs = [settled(run) for run in runs]
    _check_options(accuracy, max_seconds, checkpoint_every, devices, out)
    sitting = _sitting(
        runs, accuracy, out, resume, checkpoint_every, max_seconds, reference, progress, devices
    )
    sitting.strict = False
    return _within_its_time(sitting, lambda: _judged(sitting, runs, sitting.outcomes(runs)))


def _sitting(
    runs: Sequence[Run],
    accuracy: float,
    out: Any,
    resume: bool,
    checkpoint_every: float,
    max_seconds: float | None,
    reference: Reference | bool,
    progress: Progress | bool | None,
    devices: int | None,
) -> Sitting:
    if progress is None or isinstance(progress, bool):
        progress = Progress(visible=progress if is_first() else False)
    return Sitting(
        accuracy=float(accuracy),
        out=out,
        resume=resume,
        checkpoint_every=checkpoint_every,
        devices=devices,
        max_seconds=max_seconds,
        progress=progress,
        references=References(runs, reference),
        spent=_spent(out) if resume and out is not None and max_seconds is not None else 0.0,
    )


def _spent(out: Any) -> float:
    """Seconds of earlier sittings; a checkpoint of no use is dealt with when it is resumed."""
    try:
        with answering(out):
            return seconds_spent(Path(out) / CHECKPOINT)
    except UnusableFileError:
        return 0.0


def _within_its_time(sitting: Sitting, work: Callable[[], list[Solution]]) -> list[Solution]:
    """The result of the work or, if there is no time to wait, its best so far, without comparison."""

    def doubly() -> list[Solution]:
        with double(), sitting.references.task:
            return work()

    try:
        seconds = sitting.seconds if sitting.strict else None
        with answering(sitting.out):
            return supervised(doubly, seconds, sitting.progress.interrupt)
    except Left as left:
        sitting.progress.__exit__(None, None, None)
        stop = Stop.INTERRUPTED if left.interrupted else Stop.TIME
        with double():
            found = sitting.best(stop)
            if found is not None:
                why = (
                    "Interrupted before it was compared with a reference." if left.interrupted else late(None)
                )
                return _compared(sitting, *found, [why] * len(found[1]))
        if left.interrupted:
            raise KeyboardInterrupt from None
        raise sitting.nothing_found() from None
    finally:
        if sitting.lock is not None:
            sitting.lock.release()


def _by_default(sitting: Sitting, problem: Problem, seed: int) -> list[Solution]:
    """By evolution; by training where that does not apply, finds nothing, or ends far from the accuracy."""

    def runs(name: str) -> list[Run]:
        return [Run(problem, find_method(name, problem), seed)]

    if sitting.resume and sitting.out is not None and (Path(sitting.out) / CHECKPOINT).exists():
        trained = runs(TAKES_OVER)
        return _judged(sitting, trained, sitting.outcomes(trained))
    own, evolved = runs(DEFAULT), None
    why = why_not(problem)
    if why is None:
        try:
            [evolved] = sitting.outcomes(own)
            if evolved.stop in (Stop.INTERRUPTED, Stop.TIME) or estimate(evolved) <= max(
                sitting.accuracy, _WITHIN_REACH
            ):
                return _judged(sitting, own, [evolved])
            why = f"{evolved.stop.value} Its estimated error is {estimate(evolved):.0e}."
        except OutOfTimeError:
            raise
        except NoSolutionError as error:
            why = str(error)
    if evolved is not None and not problem.domain.product:
        return _judged(sitting, own, [evolved])
    trained = runs(TAKES_OVER)
    [other] = sitting.outcomes(trained)
    if evolved is not None and estimate(evolved) <= estimate(other):
        [solution] = _judged(sitting, own, [evolved])
        return [_noted(solution, f"{TAKES_OVER} was tried too, and did no better.")]
    [solution] = _judged(sitting, trained, [other])
    return [_noted(solution, f"{TAKES_OVER} took over from {DEFAULT}: {why}")]


def _noted(solution: Solution, note: str) -> Solution:
    return dataclasses.replace(solution, notes=(*solution.notes, note))


def _judged(sitting: Sitting, runs: Sequence[Run], outcomes: Sequence[Outcome]) -> list[Solution]:
    """Each run's outcome compared with its reference, which is waited for while there is time."""
    limit = sitting.deadline - sitting.reserve / 2
    return _compared(sitting, runs, outcomes, sitting.references.wait(sitting.progress, limit, sitting.began))


def _compared(
    sitting: Sitting, runs: Sequence[Run], outcomes: Sequence[Outcome], trusted: Sequence[Reference | str]
) -> list[Solution]:
    return [
        solution_of(
            outcome,
            own,
            problem=run.problem,
            method=run.method,
            seed=run.seed,
            accuracy=sitting.accuracy,
            provenance=provenance(sitting.count),
            notes=(*run.problem.notes, *outcome.notes),
        )
        for run, outcome, own in zip(runs, outcomes, trusted, strict=True)
    ]


def settled(run: Run) -> Run:
    """A run whose problem and method are no longer names."""
    problem = _as_problem(run.problem)
    refuse_open(problem, "Give it a number with problem.with_parameters(…), or hand it to solve.")
    method = find_method(run.method, problem) if isinstance(run.method, str) else run.method
    return dataclasses.replace(run, problem=problem, method=method)


def _as_problem(problem: Any) -> Problem:
    if isinstance(problem, str):
        problem = find_problem(problem)
    if isinstance(problem, Problem):
        return problem
    if isinstance(problem, list | tuple):
        raise ProblemError(
            f"solve takes one Problem, but got {len(problem)} in a {type(problem).__name__}. Solve them "
            "one after the other: [hcpinn.solve(p) for p in problems]."
        )
    raise ProblemError(f"solve takes a Problem, but got {problem!r}.")


def _check_options(accuracy: Any, max_seconds: Any, checkpoint_every: Any, devices: Any, out: Any) -> None:
    """Refuse settings that are not sensible numbers, and a folder that cannot be written to."""

    def is_number(value: Any) -> bool:
        return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)

    if not (is_number(accuracy) and accuracy > 0):
        raise MethodError(f"accuracy must be a positive number, but is {accuracy!r}.")
    if max_seconds is not None and not (is_number(max_seconds) and max_seconds >= 0):
        raise MethodError(f"max_seconds must be a number of at least 0, but is {max_seconds!r}.")
    if not (is_number(checkpoint_every) and checkpoint_every >= 0):
        raise MethodError(f"checkpoint_every must be a number of seconds, but is {checkpoint_every!r}.")
    if devices is not None and not (isinstance(devices, Integral) and int(devices) >= 1):
        raise MethodError(f"devices must be a whole number of at least 1, but is {devices!r}.")
    if out is not None:
        if not isinstance(out, str | Path):
            raise MethodError(f"out must be the name of a folder, but is {out!r}.")
        check_folder(Path(out), "out=…")


def _as_method(method: Any, problem: Problem) -> Any:
    if isinstance(method, Method | Evolution):
        return method
    if not isinstance(method, str):
        raise MethodError(
            f"method must be a Method, an Evolution or a name such as 'quick', but is {method!r}."
        )
    return find_method(method, problem)
