"""Solving: from a problem and a method to a checked solution."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from .catalog import DEFAULT, find_method
from .checking import judge, relative_errors, wiggles
from .descent import Checkpoint, Method, Progress, Run, Trained, to_dict, train
from .equation import fingerprint
from .errors import FileError, HcpinnError, MethodError, ReferenceError
from .machine.background import Beside
from .machine.precision import double
from .machine.processes import is_first
from .machine.provenance import provenance
from .objective import Devices, find_devices, sampling
from .planning import REFERENCE, TrainingPlan, network_key
from .problem import Problem
from .reference import Reference, solve_reference
from .solution import Solution
from .trial import Trial, make_trial

CHECKPOINT = "checkpoint.npz"
"""Name of the checkpoint in an output folder."""


def solve(
    problem: Problem,
    method: Method | str | None = None,
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
        method: how: a `Method`, or the name of one.
        seed: the seed of everything random. Same seed, same machine, same compiled programs: same bits.
        accuracy: the relative L2 error up to which the solution counts as converged; methods that
            stop early, as `expert` does, stop there.
        out: a folder for checkpoints, so that an interrupted training can be resumed.
        resume: go on from the checkpoint in `out`.
        checkpoint_every: seconds between two checkpoints.
        max_seconds: stop training after this time and keep the best so far.
        reference: a trusted solution to compare with; if True it is computed beside the training, if False
            left out.
        progress: whether to show a progress bar; by default only in a terminal or notebook.
        devices: how many devices share out the points; by default all, if each gets 8,192 points
            or more, else one.
    """
    run = Run(problem, _as_method(method, problem), seed)
    return solve_batch(
        [run],
        accuracy=accuracy,
        out=out,
        resume=resume,
        checkpoint_every=checkpoint_every,
        max_seconds=max_seconds,
        reference=reference,
        progress=progress,
        devices=devices,
    )[0]


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
    if not accuracy > 0:
        raise MethodError(f"accuracy must be positive, but is {accuracy!r}.")
    if max_seconds is not None and not max_seconds >= 0:
        raise MethodError(f"max_seconds must be zero or more, but is {max_seconds!r}.")
    with double():
        plan = TrainingPlan(runs, accuracy=accuracy, devices=_devices(runs, devices), soon=True)
        checkpoint = _checkpoint(plan, out, checkpoint_every, resume)
        if progress is None or isinstance(progress, bool):
            progress = Progress(visible=progress if is_first() else False)
        with _references(runs, reference) as references:
            plan.references = references
            if plan.devices.count > 1:  # they all run the same programs in the same order
                references.result()
            outcomes = train(
                plan,
                progress=progress,
                checkpoint=checkpoint,
                resume=resume,
                max_seconds=max_seconds,
            )
            if not references.done:
                progress.waiting(REFERENCE)
            trusted = references.result()
        return [
            _conclude(plan, number, outcome, own, accuracy)
            for number, (outcome, own) in enumerate(zip(outcomes, trusted, strict=True))
        ]


def _devices(runs: Sequence[Run], count: int | None) -> Devices:
    """The devices that share out the points which one step of all runs looks at."""
    if count is not None and not (isinstance(count, Integral) and count >= 1):
        raise MethodError(f"devices must be a whole number from 1 on, but is {count!r}.")
    points = sum(run.method.batches.size if run.method.batches else run.method.points for run in runs)
    return find_devices(count, points=points)


def _references(runs: Sequence[Run], choice: Reference | bool) -> Beside[list[Reference | str]]:
    """For each run its reference, or the reason why there is none, computed beside the training.

    The plan starts it when the first block of steps is done, and who needs it waits for it. On two cores, a
    reference that starts with the checks or with compilation competes with them: the first step of
    allen-cahn-2d, cahn-hilliard and gray-scott then came 1 to 6 s later, and the end no sooner, since the
    work is the same. A reference that is given is checked at once.
    """
    if isinstance(choice, Reference):
        for run in runs:
            _check_reference(run.problem, choice)
        return Beside.known([choice] * len(runs))
    if not choice:
        return Beside.known(["No reference was asked for, so the error is not known."] * len(runs))
    return Beside(lambda: _solve_references(runs))


def _solve_references(runs: Sequence[Run]) -> list[Reference | str]:
    """Runs of the same problem share a reference."""
    known: dict[str, Reference | str] = {}
    with double():
        keys = [fingerprint(run.problem) for run in runs]
        for key, run in zip(keys, runs, strict=True):
            if key not in known:
                try:
                    known[key] = solve_reference(run.problem)
                except ReferenceError as error:
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


def _conclude(
    plan: TrainingPlan, number: int, outcome: Trained, trusted: Reference | str, accuracy: float
) -> Solution:
    """Compare with the reference, look at the residual on fresh points, and judge."""
    run = plan.runs[number]
    reference = trusted if isinstance(trusted, Reference) else None
    # A training that was cut short has no networks yet for its last windows: the latest one stands in.
    missing = run.method.windows - len(outcome.theta)
    theta = np.concatenate([outcome.theta, np.repeat(outcome.theta[-1:], missing, axis=0)])

    def solution(verdict: Any, **errors: Any) -> Solution:
        return Solution(
            problem=run.problem,
            method=run.method,
            seed=run.seed,
            theta=theta.ravel(),
            history=outcome.history,
            stop=outcome.stop,
            seconds=outcome.seconds,
            provenance=provenance(plan.devices.count),
            verdict=verdict,
            reference=reference,
            weights=outcome.weights,
            trained=plan.trial(number) if run.method.windows == 1 else None,
            **errors,
        )

    rel_l2 = rel_l1 = None
    early = between = 0.0
    if reference is not None:
        found = solution(None)
        predicted = found.on_grid(reference.times, *reference.coordinates)
        rel_l2, rel_l1 = relative_errors(run.problem, predicted, reference.values)
        sizes = [float(np.sqrt(np.mean(np.abs(v) ** 2))) for v in reference.values.values()]
        size = min((s for s in sizes if s > 0), default=1.0)
        early = plan.early_error(number, theta, float(reference.times[1]), size)
        if early > accuracy:  # which says what may be: look what is
            early = _early_comparison(found, reference, early)
        between = wiggles(found.on_grid, predicted, reference)
    verdict = judge(
        stop=outcome.stop,
        accuracy=accuracy,
        errors=rel_l2,
        reference=trusted,
        residual_trained=plan.residual_rms(number, theta, "interior", points=outcome.points),
        residual_fresh=plan.residual_rms(number, theta, "check"),
        early=early,
        between=between,
        floor=plan.floor(number),
    )
    return solution(verdict, rel_l2=rel_l2, rel_l1=rel_l1)


def _early_comparison(found: Solution, reference: Reference, estimate: float) -> float:
    """The error before the reference's second time, against a reference of that time alone."""
    try:
        short = dataclasses.replace(found.problem, horizon=float(reference.times[1]))
        close = solve_reference(short, times=21)
    except HcpinnError:
        return estimate
    predicted = found.on_grid(close.times, *close.coordinates)
    return max(relative_errors(short, predicted, close.values)[0].values())


def _as_method(method: Method | str | None, problem: Problem) -> Method:
    if isinstance(method, Method):
        return method
    if method is not None and not isinstance(method, str):
        raise MethodError(
            f"method must be a Method or the name of one, as in method='paper', but is {method!r}."
        )
    return find_method(DEFAULT if method is None else method, problem)


def probe(run: Run, trial: Trial | None = None) -> list[str]:
    """Lift, gate, features and the first network at a few points: functions of one's own by their values."""
    with double():
        own = make_trial(run.problem, run.method) if trial is None else trial
        places = sampling.interior(run.problem, 8, seed=0, sampler="uniform", purpose="probe")
        found = own.parts(own.init(network_key(run.seed)), jnp.asarray(places))
        return [f"{number:.9g}" for value in found for number in np.asarray(value).ravel()]


def _checkpoint(plan: TrainingPlan, out: Any, every: float, resume: bool) -> Checkpoint | None:
    if out is None:
        if resume:
            raise FileError("resume needs the folder of the interrupted training: give out=….")
        return None
    trials = plan.trials(0, plan.places[0].factor, [])
    description = [
        [fingerprint(run.problem), to_dict(run.method), run.seed, probe(run, trial)]
        for run, trial in zip(plan.runs, trials, strict=True)
    ]
    identity = hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()
    return Checkpoint(Path(out) / CHECKPOINT, identity, every)
