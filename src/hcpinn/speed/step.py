"""The training step that is timed: the driver's own program, on its own data."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from ..descent import Preparation
from ..descent.program import Program, cast
from ..descent.runs import Run
from ..machine.precision import double
from .counts import Work, step_work
from .timing import Timing, time_steps

_SECONDS = 0.1
"""What a block of steps is to last, were a step as fast as its floor."""


class TrainingStep:
    """A stage of runs that train together, just before its first step, with the initial parameters."""

    def __init__(self, runs: Sequence[Run], *, stage: int = 0):
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

    def gradient(self) -> np.ndarray:
        """The gradient of each run's loss, all weights one."""
        axes, measure = self.program.axes, self.program.objective.measure
        with double():
            found = jax.jit(jax.vmap(measure, in_axes=(0, axes)))(self.carry.theta, self.data)
            return np.asarray(found.gradient, np.float64)

    def advance(self, steps: int) -> jax.Array:
        """Take a block of steps, as the driver does, and return their losses."""
        with double():
            self.carry, losses = self.program.advance(self.carry, self.data, self.taken, steps)
        self.taken += steps
        return losses

    def work(self) -> Work:
        """What one step has to compute and to move."""
        return step_work(self.program.objective, self.data, runs=self.program.runs)

    def time(self, floor: float, *, rounds: int = 7, limit: float = 60.0) -> Timing:
        """Time blocks of steps: the driver's, or where a step is slow, shorter ones."""
        steps = min(self.block, max(1, round(_SECONDS / floor)))
        return time_steps(lambda: self.advance(steps), steps=steps, rounds=rounds, limit=limit)
