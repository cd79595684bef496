"""Work in a background thread, whose result or error the caller collects later."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import jax

T = TypeVar("T")

_thread = threading.local()


class Abandoned(Exception):
    """The task was abandoned: nobody needs its result any more."""


class BackgroundTask(Generic[T]):
    """A call that runs in a thread once started, or in the caller's thread when its result is first needed.

    Leaving a `with` block abandons the task: it ends at its next call of `raise_if_abandoned`. The thread is
    not a daemon, because a daemon thread inside XLA aborts the process when the interpreter shuts down.
    """

    def __init__(self, call: Callable[[], T]):
        """Wrap `call`. It runs on the caller's default device, but must enable double precision itself."""
        self._call = call
        self._device: Any = jax.config.jax_default_device  # type: ignore[attr-defined]
        self._outcome: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._started = False
        self.abandoned = False

    @classmethod
    def completed(cls, result: T) -> BackgroundTask[T]:
        """A task that already has its result."""
        task = cls(lambda: result)
        task.result()
        return task

    def start(self) -> None:
        """Start the thread, unless the task has already started."""
        if not self._started:
            self._started = True
            threading.Thread(target=self._run, name="hcpinn background task").start()

    @property
    def done(self) -> bool:
        """Whether the task has ended, with a result or an error."""
        return self._outcome.done()

    def raise_if_failed(self) -> None:
        """Raise the task's error if it has failed so far."""
        if self.done:
            self._outcome.result()

    def wait(self) -> None:
        """Wait until the task has ended; Ctrl-C interrupts the wait."""
        if not self._started:
            self._started = True
            self._run()
        while not self.done:  # Windows does not notice Ctrl-C while waiting without a timeout
            concurrent.futures.wait([self._outcome], timeout=1.0)

    def result(self) -> T:
        """Wait for the result and return it, or raise the task's error."""
        self.wait()
        return self._outcome.result()

    def __enter__(self) -> BackgroundTask[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandoned = True

    def _run(self) -> None:
        _thread.task, outer = self, getattr(_thread, "task", None)
        try:
            with jax.default_device(self._device):
                self._outcome.set_result(self._call())
        except BaseException as error:
            self._outcome.set_exception(error)
        finally:
            _thread.task = outer


def raise_if_abandoned() -> None:
    """Raise `Abandoned` inside a task that was abandoned; long computations call this now and then."""
    task = getattr(_thread, "task", None)
    if task is not None and task.abandoned:
        raise Abandoned
