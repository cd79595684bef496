"""Why training ended."""

from __future__ import annotations

import enum


class Stop(enum.Enum):
    """A reason to stop; its value is the sentence a user reads."""

    BUDGET = "The step budget was used up."
    FLAT = "The gradient vanished to within rounding: training can go no further from here."
    PRECISION = (
        "The line search found no lower point: the loss is as small as this precision and these points allow."
    )
    ACCURACY = "The accuracy asked for was reached, as an independent solution shows."
    CAUSAL = (
        "Every causal weight passed its threshold at the last tolerance: the residual is small at all times."
    )
    NOT_FINITE = (
        "The loss or its gradient became NaN or infinite; the best parameters so far were kept. "
        "Try a smaller learning rate, or float64."
    )
    DIVERGED = (
        "The loss grew to a million times its start; the best parameters so far were kept. "
        "Try a smaller learning rate."
    )
    TIME = "The time budget was used up; the best parameters so far were kept."
    INTERRUPTED = "Training was interrupted; the best parameters so far were kept."

    @property
    def code(self) -> int:
        """The number that stands for this reason inside compiled code; 0 means still running."""
        return list(Stop).index(self) + 1

    @classmethod
    def from_code(cls, code: int) -> Stop:
        """The reason behind a non-zero code."""
        return list(cls)[code - 1]

    @property
    def failed(self) -> bool:
        """Whether training broke down, rather than came to an end."""
        return self in (Stop.NOT_FINITE, Stop.DIVERGED)
