"""What ends an evolution from outside: the seconds allowed, and Ctrl-C."""

from __future__ import annotations

import time as clock
from collections.abc import Callable

import numpy as np

from ..machine.background import raise_if_abandoned
from ..outcome import Stop
from .outcome import Halted


class Limits:
    """Checked between the parts of a pass and within every time step."""

    def __init__(self, seconds: float = np.inf, interrupted: Callable[[], bool] = lambda: False):
        self.seconds, self.interrupted = seconds, interrupted
        self.begun = clock.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return clock.perf_counter() - self.begun

    def check(self, time: float = np.nan) -> None:
        """Raise `Halted` where nothing more may be done; `time` is how far the solution has come."""
        raise_if_abandoned()
        if self.interrupted():
            raise Halted(Stop.INTERRUPTED, time)
        if self.spent > self.seconds:
            raise Halted(Stop.TIME, time)

    def allow(self, seconds: float) -> bool:
        """Whether so many seconds are left."""
        return self.spent + seconds <= self.seconds
