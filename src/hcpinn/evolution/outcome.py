"""What each pass of an evolution did, and why one had to stop."""

from __future__ import annotations

from dataclasses import dataclass

from ..outcome import Stop


class Halted(Exception):
    """A pass that had to stop: why, and how far it came."""

    def __init__(self, stop: Stop, time: float):
        super().__init__(stop.value)
        self.stop, self.time = stop, time


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
