"""The verdict over a family: by classical solutions at random and at worst-looking parameters."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..errors import NoReferenceError
from ..family import Evolved, FamilyFunction
from ..machine.background import raise_if_abandoned
from ..machine.precision import double
from ..machine.provenance import Provenance
from ..outcome import History, Outcome
from ..problem import Problem
from ..reference import Reference, solve_reference
from ..solution import Check, Verdict
from .judgement import solution_of

_RANDOM = 6
"""Parameters drawn at random."""

_CORNERS = 4
"""Corners of the ranges, at most."""

_ORDER = ("converged", "suspect", "not converged")


def looked_at(evolved: Evolved, seed: int) -> list[tuple[str, tuple[float, ...]]]:
    """The parameters to check, and why: where the engine fears most, corners, and random ones."""
    interpolation = evolved.function.interpolation
    ranges, dimension = interpolation.ranges, len(interpolation.ranges)
    rng = np.random.default_rng([seed, 20])
    shares = rng.random((_RANDOM, dimension))
    corners = list(itertools.product((0.0, 1.0), repeat=dimension))
    chosen = [corners[n] for n in rng.permutation(len(corners))[:_CORNERS]]
    found = [("the largest estimated error", evolved.worst)]
    found += [("a random choice", tuple(map(float, v))) for v in interpolation.parameters(shares)]
    found += [
        (
            "a corner" if dimension > 1 else "an end",
            tuple(own.at(s) for own, s in zip(ranges, c, strict=True)),
        )
        for c in chosen
    ]
    return found


def judge_family(
    evolved: Evolved,
    problem: Problem,
    *,
    method: object,
    seed: int,
    accuracy: float,
    provenance: Provenance,
    deadline: float,
    said: Callable[[str], None] = lambda text: None,
) -> tuple[Verdict, tuple[Check, ...]]:
    """Compare a family with classical solutions, and judge by the worst.

    `problem` has its parameters open but not its horizon. Nothing new is begun that would not be done by the
    `deadline`, in seconds of `time.monotonic`.
    """
    function, names = evolved.function, evolved.function.exact.names
    checks, reasons, longest = [], {}, 0.0
    planned = looked_at(evolved, seed)
    for why, values in planned:
        raise_if_abandoned()
        begun = time.monotonic()
        if begun + 1.5 * longest > deadline:
            break
        named = dict(zip(names, values, strict=True))
        said(f"a classical solution at {_said(named)}")
        status, error, because = _compare(
            function, evolved, problem.with_parameters(**named), values, method, seed, accuracy, provenance
        )
        checks.append(Check(named, error, status, why))
        reasons[len(checks) - 1] = because
        longest = max(longest, time.monotonic() - begun)
    return _weighed(checks, reasons, len(planned), accuracy), tuple(checks)


def _compare(
    function: FamilyFunction,
    evolved: Evolved,
    problem: Problem,
    values: Sequence[float],
    method: object,
    seed: int,
    accuracy: float,
    provenance: Provenance,
) -> tuple[str, float | None, tuple[str, ...]]:
    """The verdict on one member, without what it says of the engine."""
    with double():
        try:
            reference: Reference | str = solve_reference(problem)
        except NoReferenceError as error:
            reference = str(error)
        member = Outcome(
            function=function.at(values),
            stop=evolved.stop,
            history=History(np.zeros(0), ()),
            seconds=evolved.seconds,
            estimated_error=evolved.estimate,
        )
        found = solution_of(
            member,
            reference,
            problem=problem,
            method=method,
            seed=seed,
            accuracy=accuracy,
            provenance=provenance,
        )
    return found.verdict.status, found.verdict.error, found.verdict.reasons


def _weighed(
    checks: list[Check], reasons: dict[int, tuple[str, ...]], planned: int, accuracy: float
) -> Verdict:
    """The worst check decides; a family without any is suspect."""
    known = [n for n, check in enumerate(checks) if check.error is not None]
    if not known:
        why = reasons.get(0, ("There was no time for a classical solution: allow more with max_seconds=….",))
        return Verdict("suspect", None, why)
    worst = max(known, key=lambda n: (_ORDER.index(checks[n].status), checks[n].error))
    largest = max(known, key=lambda n: checks[n].error or 0.0)
    said = [
        f"The worst of {len(known)} classical solutions, at random and at worst-looking parameters, is at "
        f"{_said(checks[largest].parameters)} ({checks[largest].why}).",
    ]
    if len(checks) < planned:
        said.append(f"Only {len(checks)} of {planned} fitted into the time.")
    status = checks[worst].status
    if len(known) < len(checks):
        status = max(status, "suspect", key=_ORDER.index)
        said.append(f"At {len(checks) - len(known)} others there was none to compare with.")
    if status != "converged":
        said += [f"At {_said(checks[worst].parameters)}: {' '.join(reasons[worst])}"]
    return Verdict(status, checks[largest].error, tuple(said))


def _said(named: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in named.items())
