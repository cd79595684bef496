"""The training step that is timed: the driver's own program on its own data, and model problems for it."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..descent import Preparation
from ..descent.program import Program, cast
from ..descent.runs import Run
from ..errors import ProblemError
from ..machine.precision import double
from ..problem import Box, Problem
from ..problem.domain import AXES
from .counts import Work, step_work

_DIFFUSION = 1e-3

_SECONDS = 0.1
"""How long a block of steps would last if each took only its floor."""


@dataclass(frozen=True)
class Timing:
    """Seconds per step."""

    median: float
    fastest: float
    slowest: float
    rounds: int
    compiling: float
    """Seconds the first call took longer than the second."""


def time_steps(
    advance: Callable[[], Any], *, steps: int, rounds: int = 7, seconds: float = 0.3, limit: float = 60.0
) -> Timing:
    """Time a function that takes some steps whenever it is called.

    Args:
        advance: the function; what it returns is waited for.
        steps: how many steps one call takes.
        rounds: how many rounds to time, at most.
        seconds: about how long each round lasts, with at least one call.
        limit: seconds after which no further round begins.
    """

    def spent(calls: int) -> float:
        began = time.perf_counter()
        jax.block_until_ready([advance() for _ in range(calls)])
        return time.perf_counter() - began

    began = time.perf_counter()
    first, once = spent(1), spent(1)
    calls = max(1, round(seconds / once))
    found: list[float] = []
    while len(found) < rounds and (not found or time.perf_counter() - began < limit):
        found.append(spent(calls) / (calls * steps))
    return Timing(
        median=statistics.median(found),
        fastest=min(found),
        slowest=max(found),
        rounds=len(found),
        compiling=max(first - once, 0.0),
    )


class TrainingStep:
    """A stage of runs that train together, set up for its first step."""

    def __init__(self, runs: Sequence[Run], *, stage: int = 0):
        """Prepare the stage with this number, with the initial parameters of the runs."""
        with double():
            preparation = Preparation(runs)
            prepared, method = preparation.prepare(), preparation.method
            own = method.stages[stage]
            self.program = Program(
                prepared.objective,
                own,
                prepared.axes,
                runs=len(runs),
                rule=method.weights,
                batches=method.batches,
            )
            self.data = cast(prepared.data, own.dtype)
            running = np.zeros(len(runs), np.int32)
            self.carry = self.program.begin(preparation.theta, running, None, self.data)
            self.block = self.program.block(self.data, own.steps)
        self.taken = 0

    def advance(self, steps: int) -> jax.Array:
        """Take this many steps in one call, as training does, and return their losses."""
        with double():
            self.carry, losses = self.program.advance(self.carry, self.data, self.taken, steps)
        self.taken += steps
        return losses

    def work(self) -> Work:
        """What one step has to compute and to move at least."""
        return step_work(self.program.objective, self.data, runs=self.program.runs)

    def time(self, floor: float, *, rounds: int = 7, limit: float = 60.0) -> Timing:
        """Time blocks of steps: as long as in training or, if steps are slow, shorter."""
        steps = min(self.block, max(1, round(_SECONDS / floor)))
        return time_steps(lambda: self.advance(steps), steps=steps, rounds=rounds, limit=limit)


def model_problem(*, order: int = 2, fields: int = 1, dimensions: int = 1) -> Problem:
    """uₜ = ε Σₐ ± ∂ₐⁿu + u (1 − v²) on a periodic box, where v is the next field in turn, or u itself."""
    for what, value, most in (("order", order, 6), ("fields", fields, 4), ("dimensions", dimensions, 3)):
        if not 1 <= value <= most:
            raise ProblemError(f"{what} of a model problem must be between 1 and {most}, but is {value}.")
    axes = AXES[:dimensions]
    sign = 1 if order % 4 in (1, 2) else -1  # so that short waves decay
    factor = sign * _DIFFUSION / math.pi ** (2 * (order - 1))

    def rates(*unknowns: Any) -> tuple[Any, ...]:
        following = (*unknowns[1:], unknowns[0])
        return tuple(
            sum(factor * getattr(u, order * axis) for axis in axes) + u * (1 - v**2)
            for u, v in zip(unknowns, following, strict=True)
        )

    right_hand_sides: dict[int, Callable[..., Any]] = {
        1: lambda u: rates(u),
        2: lambda u, v: rates(u, v),
        3: lambda u, v, w: rates(u, v, w),
        4: lambda u, v, w, p: rates(u, v, w, p),
    }
    initial: dict[int, Callable[..., Any]] = {
        1: lambda x: _waves(fields, x),
        2: lambda x, y: _waves(fields, x, y),
        3: lambda x, y, z: _waves(fields, x, y, z),
    }
    return Problem(
        name=f"model-{order}-{fields}-{dimensions}",
        domain=Box(*[(-1.0, 1.0)] * dimensions),
        horizon=1.0,
        rhs=right_hand_sides[fields],
        initial=initial[dimensions],
    )


def _waves(fields: int, *coordinates: Array) -> tuple[Array, ...]:
    """Smooth periodic initial data for each field."""
    wave = sum((jnp.cos(jnp.pi * x) for x in coordinates[1:]), jnp.cos(jnp.pi * coordinates[0]))
    return tuple(0.5 * wave / (1 + number) for number in range(fields))
