"""Why an evolution ended, and what each of its passes did."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any


class Stop(enum.Enum):
    """Why an evolution ended; the value is the sentence a user reads."""

    ACCURATE = "Reached the requested accuracy by its own error estimate."
    RANK = (
        "Stopped at the largest basis that fits; the estimated error is still above the requested accuracy."
    )
    STALLED = "Stopped because more features no longer lower the estimated error."
    TIME = "Stopped at the time limit."
    INTERRUPTED = "Interrupted; the last finished pass is kept."
    STUCK = "Stopped because the time step became too small: the solution may end or blow up there."
    BLOWUP = "Stopped because the solution grew without bound or became NaN."


class Halted(Exception):
    """An integration that could not go on: why, when, and what was found until then."""

    def __init__(self, stop: Stop, time: float, track: Any = None):
        super().__init__(stop.value)
        self.stop, self.time, self.track = stop, time, track


@dataclass(frozen=True)
class Pass:
    """One solution of the projected equation."""

    features: int
    rank: int
    steps: int
    seconds: float
    estimate: float
    """Estimated relative L2 error, infinite where nothing could be compared yet."""
    time: float
    """The time it reached."""
