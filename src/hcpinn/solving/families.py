"""Solving a problem with open parameters: a family, judged at its worst parameters."""

from __future__ import annotations

import math
import time
from typing import Any

from ..checking import judge_family
from ..errors import MethodError, OutOfTimeError
from ..evolution import Evolution, applies
from ..family import evolve_family, span
from ..machine.processes import is_first
from ..machine.provenance import provenance
from ..machine.supervision import Left, supervised
from ..problem import Between, Box, Problem
from ..solution import Family, Verdict

_MOST = 5
"""Open parameters at once."""

_SHARE = 0.7
"""Of the time there is: what the engine may take; the rest is for classical solutions."""

_FINEST = 1e-11


def solve_family(
    problem: Problem,
    method: Any,
    *,
    seed: int,
    accuracy: float,
    max_seconds: float | None,
    reference: Any,
    progress: bool | None,
) -> Family:
    """Solve for all values of the open parameters, and compare with classical solutions."""
    method = _checked(problem, method)
    began = time.monotonic()
    if not isinstance(reference, bool):
        raise MethodError(
            "A family is compared with classical solutions at many parameters: reference must be True or "
            "False."
        )
    deadline = math.inf if max_seconds is None else began + max_seconds
    show = _Lines(progress)

    def work() -> Family:
        evolved = evolve_family(
            problem,
            accuracy=max(accuracy, _FINEST),
            seed=seed,
            max_seconds=None if max_seconds is None else (_SHARE if reference else 0.95) * max_seconds,
            method=method,
            report=show.step,
        )
        facts: dict[str, Any] = {"method": method, "seed": seed, "provenance": provenance(1)}
        verdict, checks = (
            Verdict("suspect", None, ("No reference was asked for, so the error is not known.",)),
            (),
        )
        if reference:
            verdict, checks = judge_family(
                evolved, span(problem), accuracy=accuracy, deadline=deadline, said=show.say, **facts
            )
        return Family(
            problem=problem,
            function=evolved.function,
            stop=evolved.stop,
            seconds=evolved.seconds,
            verdict=verdict,
            estimated_error=evolved.estimate,
            checks=checks,
            kinks=evolved.kinks,
            notes=(*evolved.notes, *problem.notes),
            **facts,
        )

    try:
        with show:
            return supervised(work, max_seconds)
    except Left as left:
        if left.interrupted:
            raise KeyboardInterrupt from None
        raise OutOfTimeError(
            f"Nothing was found within max_seconds = {max_seconds:g}: a family takes several solutions. "
            "Allow more."
        ) from None


def _checked(problem: Problem, method: Any) -> Evolution:
    """The method, where it and the problem are fit for a family."""
    other = [name for name, own in problem.open.items() if not isinstance(own, Between)]
    if other:
        raise MethodError(
            f"'{other[0]}' is {problem.open[other[0]]}, but solve takes ranges, such as hcpinn.Between(1, "
            "5). Unknowns are found from data by hcpinn.fit."
        )
    if len(problem.open) > _MOST:
        raise MethodError(
            f"{len(problem.open)} parameters are open; a family has up to {_MOST}. Give some of them numbers."
        )
    names = span(problem).open
    if not names:
        raise MethodError(
            "Only the horizon is open: solve up to the latest one, whose solution holds all earlier ones."
        )
    if method in (None, "evolve"):
        method = Evolution()
    if not isinstance(method, Evolution):
        raise MethodError(
            f"A family is solved by evolution, not by {getattr(method, 'name', method)!r}: leave method out, "
            "or train one network with the parameters as inputs: hcpinn.parameters_as_inputs(problem)."
        )
    if not isinstance(problem.domain, Box):
        raise MethodError(
            f"{problem.name} lies on a curved domain; families are solved on intervals and boxes. Solve for "
            "one parameter after the other."
        )
    why = applies(problem.nominal)
    if why is not None:
        raise MethodError(why)
    return method


class _Lines:
    """One line per step of the work, in a terminal or notebook."""

    def __init__(self, visible: bool | None):
        from ..descent import Progress

        self.progress = Progress(visible=visible if is_first() else False)

    def __enter__(self) -> _Lines:
        self.progress.__enter__()
        return self

    def __exit__(self, *_: Any) -> None:
        self.progress.__exit__()

    def step(self, said: str, estimate: float) -> None:
        """What is being solved, and how far the interpolation was off."""
        self.progress.say(said if math.isinf(estimate) else f"{said}, estimated error {estimate:.1e}")

    def say(self, text: str) -> None:
        """A sentence."""
        self.progress.say(text)
