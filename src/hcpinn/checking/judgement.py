"""From an outcome and a reference to a solution: the evidence is gathered and judged in one place."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import numpy as np

from ..errors import HcpinnError
from ..machine.provenance import Provenance
from ..outcome import Outcome
from ..problem import Problem
from ..reference import Reference, solve_reference
from ..solution import Solution, on_grid
from .comparison import relative_errors
from .floor import kink_floor
from .resolution import start_error, wiggles
from .verdict import judge


def solution_of(
    outcome: Outcome,
    reference: Reference | str,
    *,
    problem: Problem,
    method: Any,
    seed: int,
    accuracy: float,
    provenance: Provenance,
    notes: tuple[str, ...] = (),
) -> Solution:
    """Compare an engine's outcome with the reference, look where that cannot, and judge.

    `reference` may be the reason why there is none; `notes` go with the solution.
    """
    errors: dict[str, Any] = {}
    unseen: dict[str, float] = {}
    if isinstance(reference, Reference):
        predicted = on_grid(problem, outcome.function, reference.times, *reference.coordinates)
        errors = dict(
            zip(("rel_l2", "rel_l1"), relative_errors(problem, predicted, reference.values), strict=True)
        )
        unseen = {
            "at_start": _start_error(outcome, problem, reference, accuracy),
            "between": wiggles(partial(on_grid, problem, outcome.function), predicted, reference),
        }
    verdict = judge(
        stop=outcome.stop,
        accuracy=accuracy,
        errors=errors.get("rel_l2"),
        reference=reference,
        residual_trained=outcome.residuals and outcome.residuals.trained,
        residual_fresh=outcome.residuals and outcome.residuals.fresh,
        estimate=outcome.estimated_error,
        floor=None if outcome.trial is None else kink_floor(outcome.trial),
        **unseen,
    )
    return Solution(
        problem=problem,
        method=method,
        seed=seed,
        function=outcome.function,
        history=outcome.history,
        stop=outcome.stop,
        seconds=outcome.seconds,
        provenance=provenance,
        verdict=verdict,
        estimated_error=outcome.estimated_error,
        reference=reference if isinstance(reference, Reference) else None,
        weights=outcome.weights,
        notes=notes,
        **errors,
    )


def _start_error(outcome: Outcome, problem: Problem, reference: Reference, accuracy: float) -> float:
    """The error before the reference's second time: what it may be, and if that is too much what it is."""
    if outcome.residuals is None:  # its step control sees the start as well as any other time
        return 0.0
    sizes = [float(np.sqrt(np.mean(np.abs(v) ** 2))) for v in reference.values.values()]
    until = min(float(reference.times[1]), float(problem.horizon))
    size = min((s for s in sizes if s > 0), default=1.0)
    possible = start_error(outcome.residuals.squares, problem, until, size)
    if possible <= accuracy:
        return possible
    try:
        short = dataclasses.replace(problem, horizon=until)
        close = solve_reference(short, times=21)
    except HcpinnError:
        return possible
    predicted = on_grid(problem, outcome.function, close.times, *close.coordinates)
    return max(relative_errors(short, predicted, close.values)[0].values())
