"""Work in a background thread, whose result or error the caller collects later."""

from __future__ import annotations

import concurrent.futures
import contextvars
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import jax

T = TypeVar("T")

_thread = threading.local()

_running: set[BackgroundTask[Any]] = set()


class Abandoned(Exception):
    """The task was abandoned: nobody needs its result any more."""


class BackgroundTask(Generic[T]):
    """A call that runs in a thread once started, or in the caller's thread when its result is first needed.

    Leaving a `with` block abandons the task, and those it has started: they end at their next call of
    `raise_if_abandoned`. The thread is not a daemon, because a daemon thread inside XLA aborts the process
    when the interpreter shuts down.
    """

    def __init__(self, call: Callable[[], T]):
        """Wrap `call`. It runs on the caller's default device, but must enable double precision itself."""
        self._call, self._context = call, contextvars.copy_context()
        self._parent = current_task()
        self._device: Any = jax.config.jax_default_device  # type: ignore[attr-defined]
        self._outcome: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._started = False
        self._abandoned = False
        self.stopping = threading.Event()
        """Set where the task is asked to end soon with the best it has: see `patient_interrupt`."""

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

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits for the task any more, nor for the one that made it."""
        return self._abandoned or (self._parent is not None and self._parent.abandoned)

    def abandon(self) -> None:
        """Let the task end at its next call of `raise_if_abandoned`."""
        self._abandoned = True

    def raise_if_failed(self) -> None:
        """Raise the task's error if it has failed so far."""
        if self.done:
            self._outcome.result()

    def wait_for(self, seconds: float) -> bool:
        """Start the task, wait for it that long at most, and tell whether it has ended."""
        self.start()
        concurrent.futures.wait([self._outcome], timeout=max(seconds, 0.0))
        return self.done

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
        self.abandon()

    def _run(self) -> None:
        _thread.task, outer = self, current_task()
        _running.add(self)
        try:
            with jax.default_device(self._device):
                self._outcome.set_result(self._context.copy().run(self._call))
        except BaseException as error:
            self._outcome.set_exception(error)
        finally:
            _thread.task = outer
            _running.discard(self)


def current_task() -> BackgroundTask[Any] | None:
    """The task that this thread runs, if it runs one."""
    return getattr(_thread, "task", None)


def any_running() -> bool:
    """Whether a task has not ended, be it that it was abandoned and has not noticed yet."""
    return bool(_running)


def raise_if_abandoned() -> None:
    """Raise `Abandoned` inside a task that was abandoned; long computations call this now and then."""
    task = current_task()
    if task is not None and task.abandoned:
        raise Abandoned
