"""Ctrl-C and SIGTERM from the first line of a command to its last: one exit code and sentence, soon.

Python runs handlers of signals only between two of its own steps in the main thread, so one who waits for a
compiler or a factorisation there would not hear them. A thread of `watch_over` does.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

INTERRUPTED = 130
"""The exit code of what was interrupted, as shells have it."""

patient: list[threading.Event] = []
"""What a signal sets in blocks of `patient_interrupt`, from the outside in."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_PATIENCE = 1.2
"""Seconds that the main thread has to run the handler of a signal."""

_LOOK = 0.05
"""Seconds between two looks at whether it has."""

_bell: socket.socket | None = None
"""Gets a byte for each signal as it comes; handlers take it away."""


def handle_by(handler: Callable[[int, FrameType | None], Any]) -> dict[signal.Signals, Any]:
    """Set the handler of both signals, and tell what it was before.

    An ignored signal stays ignored, as shells expect of a background job, and one that a program around
    Python handles stays with it. An interpreter inside another one sets none either.
    """
    previous: dict[signal.Signals, Any] = {}
    with contextlib.suppress(ValueError):
        for number in _SIGNALS:
            # None stands for a handler that is not Python's, which Python could not put back.
            if signal.getsignal(number) not in (None, signal.SIG_IGN):
                previous[number] = signal.signal(number, handler)
    return previous


def answered() -> None:
    """What every handler calls first: the main thread has heard all signals so far."""
    if _bell is not None:
        with contextlib.suppress(OSError):
            _bell.recv(64)


def leave(*_: Any) -> NoReturn:
    """End the process at once: the handler while there is nothing to lose."""
    with contextlib.suppress(OSError):
        os.write(2, b"Interrupted.\n")
    os._exit(INTERRUPTED)


def interrupt(_: int, frame: FrameType | None) -> None:
    """Raise `KeyboardInterrupt`: the handler while there may be something to clean up.

    Not within an import, where nothing is to be cleaned up, but parts written in C swallow exceptions.
    """
    answered()
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            leave()
        frame = frame.f_back
    raise KeyboardInterrupt


def watch_over() -> None:
    """From now on signals end this process at once, and do so later if the main thread does not hear them."""
    global _bell
    handle_by(leave)
    _bell, rope = socket.socketpair()
    for end in (_bell, rope):
        end.setblocking(False)
    # Detached, since nobody keeps it.
    signal.set_wakeup_fd(rope.detach(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(_bell,), name="hcpinn signals", daemon=True).start()


def ignore() -> None:
    """From now on signals change nothing: the work is done, and the process about to end."""
    handle_by(signal.SIG_IGN)  # type: ignore[arg-type]


def _watch(bell: socket.socket) -> None:
    """Leave where a signal is not heard in time, unless it is the first, and results are being kept."""
    while True:
        select.select([bell], [], [])
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline and _rung(bell):
            time.sleep(_LOOK)
        unheard = _rung(bell)
        if not unheard or not all(patient or signal.getsignal(n) in (leave, interrupt) for n in unheard):
            answered()  # also where someone else set a handler, and answers by it
        elif len(unheard) > 1 or not patient or any(event.is_set() for event in patient):
            leave()


def _rung(bell: socket.socket) -> list[int]:
    """The signals that the main thread has not heard yet."""
    try:
        return [number for number in bell.recv(64, socket.MSG_PEEK) if number in _SIGNALS]
    except OSError:
        return []
