"""References beside an engine: given, or computed in the background and waited for while time is left."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from ..descent import Progress, Run
from ..equation import content_of
from ..errors import FileError, MethodError, NoReferenceError
from ..machine.background import BackgroundTask, raise_if_abandoned
from ..machine.precision import double
from ..problem import Problem
from ..reference import Reference, solve_reference

AWAITED = "the classical reference"
"""What a finished engine may have to wait for."""

_PATIENCE, _SHARE = 300.0, 10.0
"""Seconds that a reference may keep a finished solution waiting where `max_seconds` says nothing, or so many
times as long as the engine took."""

_LOOK = 0.05


class References:
    """For each run its reference, or the reason why there is none.

    They start when the engine's first block of steps is done. On two cores, a reference that starts with the
    checks or with compilation competes with them: the first step of allen-cahn-2d, cahn-hilliard and
    gray-scott then came 1 to 6 s later, and the end no sooner, since the work is the same.
    """

    def __init__(self, runs: Sequence[Run], choice: Reference | bool):
        """`choice` is a reference, which is checked at once, or whether to compute one."""
        self.so_far: list[Reference | None] = [None] * len(runs)
        """What is good enough to compare with while it is refined further."""
        if isinstance(choice, Reference):
            for run in runs:
                _check(run.problem, choice)
            self.task = BackgroundTask[list[Reference | str]].completed([choice] * len(runs))
        elif not isinstance(choice, bool | np.bool_):
            raise MethodError(
                f"reference must be True, False or an hcpinn.Reference, but is {_described(choice)}. "
                "hcpinn.Reference(problem_name=…, times=…, coordinates=(x,), values={'u': …}, "
                "error_estimate=…, solver=…) makes one of your own data."
            )
        elif not choice:
            self.task = BackgroundTask[list[Reference | str]].completed(
                ["No reference was asked for, so the error is not known."] * len(runs)
            )
        else:
            self.task = BackgroundTask(lambda: _solve(runs, self.so_far))
        self.stopping = False

    def look_after(self) -> None:
        """Start them once the engine is under way, and end it where they fail."""
        raise_if_abandoned()
        self.task.start()
        self.task.raise_if_failed()

    def wait(self, progress: Progress, deadline: float, began: float) -> list[Reference | str]:
        """What there is in the end; those that are not done by the deadline are cut."""
        now = time.monotonic()
        if not self.task.done:
            progress.waiting(AWAITED)
        patience = max(_PATIENCE, _SHARE * (now - began)) if math.isinf(deadline) else deadline - now
        last = now + patience
        while not self.task.wait_for(min(_LOOK, last - time.monotonic())):
            raise_if_abandoned()
            if time.monotonic() >= last:
                self.task.abandon()
                instead = late(patience if math.isinf(deadline) else None)
                return [instead if found is None else found for found in self.so_far]
        return self.task.result()


def late(waited: float | None) -> str:
    """Why there is no reference where time ran out."""
    why = "when the time was up" if waited is None else f"after another {waited:.0f} s"
    return (
        f"The classical reference was not done {why}, so the error is not known: only the engine's own "
        "estimate speaks for the solution. Allow more time with max_seconds=…, or give a reference."
    )


def _solve(runs: Sequence[Run], so_far: list[Reference | None]) -> list[Reference | str]:
    """Runs of the same problem share a reference."""
    known: dict[str, Reference | str] = {}
    with double():
        keys = [content_of(run.problem) or str(id(run.problem)) for run in runs]
        for key, run in zip(keys, runs, strict=True):
            if key in known:
                continue

            def keep(found: Reference, key: str = key) -> None:
                so_far[:] = [found if k == key else own for k, own in zip(keys, so_far, strict=True)]

            try:
                known[key] = solve_reference(run.problem, keep=keep)
            except NoReferenceError as error:
                known[key] = str(error)
    return [known[key] for key in keys]


def _check(problem: Problem, reference: Reference) -> None:
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


def _described(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return repr(value)
