"""A child process that trains the groups it is given while its parent lives.

Tasks arrive on standard input; progress and results leave on standard output. Progress is a tuple: 'started'
and the kind of device, then the name of a method of `Progress` and its arguments. When the input closes,
because the parent has finished or died, the child ends at once.
"""

from __future__ import annotations

import gc
import os
import pickle
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ..descent import Progress
from ..errors import HcpinnError
from ..machine.programs import keep_programs
from .workers import GroupOutcome, Task, attempt, sign

START = """
import pickle, signal, sys
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
sys.path[:] = pickle.load(sys.stdin.buffer)
from hcpinn.study.child import main
main(pickle.load(sys.stdin.buffer))
"""
"""A program that reads the module path and the settings of JAX, then trains.

Ctrl-C in a terminal reaches it too, but its parent tells it when to stop.
"""

STOP = "stop"
"""Sent in place of a task, which is a pickled `Task`: end the current one with a checkpoint."""

_OFTEN = 0.25
"""Seconds between progress messages."""


def main(settings: Mapping[str, Any]) -> None:
    """Train requested groups, with these JAX settings, until the input closes."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed is no answer
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    stop = threading.Event()

    def tell(answer: object) -> None:
        try:
            pickle.dump(answer, answers)
            answers.flush()
        except OSError:  # the parent is gone
            os._exit(1)

    threading.Thread(target=_listen, args=(tasks, stop), daemon=True).start()
    for name, value in settings.items():
        if jax.config.values.get(name, value) != value:
            jax.config.update(name, value)
    keep_programs()
    tell(("started", jax.default_backend()))
    while True:
        try:
            tell(_train(tasks.get(), _Telling(tell, stop)))
        except KeyboardInterrupt:
            os._exit(130)
        gc.collect()  # compiled programs refer to themselves, and would hold the device's memory


def _listen(tasks: queue.SimpleQueue[bytes], stop: threading.Event) -> None:
    while True:
        try:
            message = pickle.load(sys.stdin.buffer)
        except Exception:  # the end, or a message that was cut short
            os._exit(0)
        if message == STOP:
            stop.set()
        else:
            tasks.put(message)


def _train(pickled: bytes, progress: Progress) -> GroupOutcome | HcpinnError:
    """The outcome of a task, or why no task can be done here, such as a full disk."""
    try:
        task: Task = pickle.loads(pickled)  # its group has functions of the user's, which may be missing here
        sign(task.folder)
        return attempt(task, progress)
    except HcpinnError as error:
        return error
    except Exception as error:
        return HcpinnError(f"A process of the study broke down: {type(error).__name__}: {error}")


class _Telling(Progress):
    """Passes progress on, and tells training whether to stop."""

    def __init__(self, tell: Callable[[object], None], stop: threading.Event):
        super().__init__(visible=False)
        self._tell, self._stop, self._last = tell, stop, -_OFTEN

    @property
    def interrupted(self) -> bool:
        return self._stop.is_set()

    def stage(self, label: str, steps: int, done: int) -> None:
        self._tell(("stage", label, steps, done))

    def update(self, step: int, loss: float, terms: Mapping[str, float] | None = None) -> None:
        if time.monotonic() - self._last >= _OFTEN:
            self._last = time.monotonic()
            self._tell(("update", step, loss, terms))

    def losses(self, first: int, names: Sequence[str], values: np.ndarray) -> None:
        """Only the last step of each block is passed on."""
        self._tell(("losses", first + len(values) - 1, list(names), values[-1:]))
