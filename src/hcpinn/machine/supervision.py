"""Work that ends in time: by a deadline, and within two seconds of Ctrl-C or SIGTERM, wherever it is.

It runs in a thread of its own, for a compiler or a factorisation that has been called cannot be called back.
The thread that asked for it waits, notices signals and the clock, and leaves when it must.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TypeVar

import jax

from .background import BackgroundTask
from .interrupt import patient_interrupt

T = TypeVar("T")

ANSWER = 0.9
"""Seconds that interrupted work has to end by itself with the best it has."""

_LOOK = 0.05
"""Seconds between two looks at signals and clock."""


class Left(Exception):
    """The work was left where it was: because of a signal, or because the time was up."""

    def __init__(self, *, interrupted: bool):
        super().__init__("Interrupted." if interrupted else "The time was up.")
        self.interrupted = interrupted


def supervised(
    work: Callable[[], T], seconds: float | None = None, heard: Callable[[], None] = lambda: None
) -> T:
    """The result of `work()`, or `Left` where it has not ended after `seconds`, or soon after a signal.

    The first Ctrl-C or SIGTERM asks the work to stop, as `patient_interrupt` tells it; a second one raises
    `KeyboardInterrupt` at once; `heard` is called at the first. Work that is left ends at its next call of
    `raise_if_abandoned`. Processes that work together must all come to the same end, so there nothing is left
    before it is done.
    """
    if jax.process_count() > 1:
        return work()
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    task = BackgroundTask(work)
    with patient_interrupt() as interrupted, task:
        while not task.wait_for(_LOOK):
            if interrupted.is_set() and not task.stopping.is_set():
                task.stopping.set()
                heard()
                deadline = min(deadline, time.monotonic() + ANSWER)
            if time.monotonic() > deadline:
                raise Left(interrupted=interrupted.is_set())
        return task.result()
