"""Runs, and which of them can train together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import MethodError
from ..problem import Problem
from .method import Method


@dataclass(frozen=True)
class Run:
    """One training: what to solve, how, and from which seed."""

    problem: Any
    """A `Problem`, or the name of one until it is solved."""
    method: Any
    """A `Method`, or that of another engine; or the name of one until it is solved."""
    seed: int = 0
    """Of everything random."""

    def __post_init__(self) -> None:
        if not (isinstance(self.seed, Integral) and self.seed >= 0):
            raise MethodError(f"A seed must be a whole number of at least 0, but is {self.seed!r}.")
        object.__setattr__(self, "seed", int(self.seed))


def check_alike(runs: Sequence[Run]) -> None:
    """Refuse runs that cannot train together."""
    if not runs:
        raise MethodError("There are no runs to solve.")
    first = runs[0]
    if len(runs) > 1 and any(run.method.engine != Method.engine for run in runs):
        raise MethodError("Only trainings can share their steps. Solve the other runs one after the other.")
    for run in runs[1:]:
        for what in ("components", "domain", "horizon", "start"):
            if getattr(run.problem, what) != getattr(first.problem, what):
                raise MethodError(
                    f"Runs that train together must have the same {what}: {run.problem.name} has "
                    f"{getattr(run.problem, what)}, {first.problem.name} has {getattr(first.problem, what)}. "
                    "Solve them one after the other."
                )
        if run.problem.rhs is not first.problem.rhs and equation(run.problem) != equation(first.problem):
            raise MethodError(
                f"Runs that train together must share their equation, but {run.problem.name} and "
                f"{first.problem.name} do not. Solve them one after the other."
            )
        kinds = [[b.signature for b in (*r.problem.boundaries, *r.problem.pieces)] for r in (run, first)]
        if kinds[0] != kinds[1]:
            raise MethodError(
                "Runs that train together must have the same kind of boundary along each axis, and Robin "
                "conditions the same factors. Solve them one after the other."
            )
        for part in _SHARED:
            if getattr(run.method, part) != getattr(first.method, part):
                raise MethodError(
                    f"Runs that train together must have the same {part}; methods '{first.method.name}' and "
                    f"'{run.method.name}' differ. They may differ in lift, seed and the problem's parameters."
                )


_SHARED = (
    *("gate", "embedding", "network", "penalties", "points", "sampler", "batches"),
    *("weights", "resampling", "windows", "horizons", "curriculum", "lessons", "growth", "stages"),
)
"""The parts of a method in which runs that train together agree."""

_EQUATIONS: WeakKeyDictionary[Problem, str] = WeakKeyDictionary()


def equation(problem: Problem) -> str:
    """The right-hand side as text: what it computes from derivatives, coordinates and parameters."""
    if problem not in _EQUATIONS:
        _EQUATIONS[problem] = _traced(problem)
    return _EQUATIONS[problem]


def _traced(problem: Problem) -> str:
    indices = problem.derivatives

    def rates(values: Any, coordinates: Any, parameters: Any) -> Any:
        return problem.evaluate_rhs(lambda n, i: values[n][indices.index(i)], coordinates, parameters)

    values = [[jnp.zeros((), complex if c else float) for _ in indices] for c in problem.complex_fields]
    coordinates = [jnp.zeros(()) for _ in problem.axes]
    parameters = {name: jnp.zeros(()) for name in sorted(problem.parameters)}
    traced = jax.make_jaxpr(rates)(values, coordinates, parameters)
    return (
        f"{problem.fields} {indices} {sorted(parameters)} {traced} {[np.asarray(c) for c in traced.consts]}"
    )
