"""What each pass of an evolution did, and why one could not go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..outcome import Stop


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
