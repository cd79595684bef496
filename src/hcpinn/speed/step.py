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
"""How long a block of steps would last if each took only its floor."""


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
        """Take so many steps in one call, as training does, and return their losses."""
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
