"""Work beside the caller's: in a thread, with its result, or its error, when that is asked for."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import jax

T = TypeVar("T")

_here = threading.local()


class Abandoned(Exception):
    """Nobody wants the result any more."""


class Beside(Generic[T]):
    """A piece of work that begins when it is started, or at the latest when its result is asked for.

    Its thread is no daemon: one that is inside XLA while the interpreter shuts down aborts the process.
    Leaving the block of a `with` abandons the work instead, which then ends at its next `check_wanted`.
    """

    def __init__(self, work: Callable[[], T]):
        """`work` finds the caller's default device, but has to ask for double precision itself."""
        self._work = work
        self._device: Any = jax.config.jax_default_device  # type: ignore[attr-defined]
        self._found: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._begun = False
        self.abandoned = False

    @classmethod
    def known(cls, result: T) -> Beside[T]:
        """Work that is done already."""
        work = cls(lambda: result)
        work.result()
        return work

    def start(self) -> None:
        """Begin in a thread, unless it has begun."""
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._run, name="beside").start()

    @property
    def done(self) -> bool:
        """Whether the result is there, or an error in place of it."""
        return self._found.done()

    def check(self) -> None:
        """Raise the error that the work ended with, if it has ended and there is one."""
        if self.done:
            self._found.result()

    def wait(self) -> None:
        """Until it has come to an end, in one way or the other. Ctrl-C ends the waiting."""
        if not self._begun:
            self._begun = True
            self._run()
        while not self.done:  # without a limit Windows would not hear Ctrl-C
            concurrent.futures.wait([self._found], timeout=1.0)

    def result(self) -> T:
        """What the work gave; raises what it raised."""
        self.wait()
        return self._found.result()

    def __enter__(self) -> Beside[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandoned = True

    def _run(self) -> None:
        _here.work, before = self, getattr(_here, "work", None)
        try:
            with jax.default_device(self._device):
                self._found.set_result(self._work())
        except BaseException as error:
            self._found.set_exception(error)
        finally:
            _here.work = before


def check_wanted() -> None:
    """Raise `Abandoned` within work whose result nobody wants any more; long work calls it now and then."""
    work = getattr(_here, "work", None)
    if work is not None and work.abandoned:
        raise Abandoned
