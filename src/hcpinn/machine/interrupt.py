"""Ctrl-C as a request to stop soon, at a point where nothing is lost."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

from . import signals
from .background import current_task


@contextlib.contextmanager
def patient_interrupt() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C or SIGTERM into an event that a loop checks; a second one interrupts at once.

    An ignored signal stays ignored, as shells expect of a background job, and one that a program around
    Python handles stays with it. A block within another one lets the outer one know as well. Outside the main
    thread, where Python sets no handlers, the event is that of the surrounding background task, which whoever
    waits for the task may set.
    """
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        task = current_task()
        yield event if task is None else task.stopping
        return

    def handle(number: int, frame: Any) -> None:
        signals.answered()
        if event.is_set():
            raise KeyboardInterrupt
        for own in signals.patient:
            own.set()

    signals.patient.append(event)
    previous = signals.handle_by(handle)
    try:
        yield event
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        signals.patient.remove(event)
