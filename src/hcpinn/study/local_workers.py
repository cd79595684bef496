"""Train the groups of a study in several processes of this machine, side by side on its one device.

While one of them compiles or judges, another keeps the device busy. This process starts them, gives them
groups, hears from them, and alone writes to the store. A group whose process dies goes to a new one, which
resumes from its checkpoint.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cloudpickle
import jax

from ..descent import Progress, Stop
from ..errors import HcpinnError, MethodError
from ..machine.interrupt import patient_interrupt
from .child import START, STOP
from .groups import Group
from .workers import RETRIES, GroupOutcome, Task

_POLL = 0.2
"""Seconds between checks for an interrupt."""

_PATIENCE = 5.0
"""Seconds that a process has to end by itself."""

_PLAIN = (str, int, float, type(None))
"""Kinds of settings that mean the same in another process."""


@contextlib.contextmanager
def local_processes(count: int) -> Iterator[Processes]:
    """A number of processes, none of which outlives this block; the first Ctrl-C in it stops them gently."""
    with patient_interrupt() as event:
        workers = Processes(count, event)
        try:
            yield workers
        finally:
            workers.close()


@dataclass
class _Assignment:
    """A group in training."""

    group: Group
    task: bytes
    progress: Progress
    deaths: int = 0
    """Processes that died of it, or with it."""


class Processes:
    """Processes of this machine, started when there is something for them to do."""

    devices = 1

    def __init__(self, count: int, event: threading.Event):
        self.abreast, self._event = count, event
        self._idle: list[_Child] = []
        self._busy: dict[_Child, _Assignment] = {}
        self._heard: queue.SimpleQueue[tuple[_Child, Any]] = queue.SimpleQueue()

    @property
    def free(self) -> int:
        return self.abreast - len(self._busy)

    @property
    def interrupted(self) -> bool:
        return self._event.is_set()

    def start(self, task: Task, progress: Progress) -> None:
        pickled = _pickled(task)
        progress.__enter__()
        self._give(_Assignment(task.group, pickled, progress))

    def wait(self) -> tuple[Group, GroupOutcome]:
        while True:
            if self.interrupted:
                for child in self._busy:
                    child.stop()
            try:
                child, message = self._heard.get(timeout=_POLL)
            except queue.Empty:
                continue
            outcome = self._hear(child, message)
            if outcome is not None:
                job = self._busy.pop(child)
                job.progress.__exit__(None, None, None)
                if outcome.stop is Stop.INTERRUPTED:
                    self._event.set()  # also where a signal reached one of them alone
                return job.group, outcome

    def close(self) -> None:
        """End all processes, at once."""
        children = [*self._idle, *self._busy]
        for child in children:
            child.dismiss()
        for child in children:
            child.end()

    def _give(self, job: _Assignment) -> None:
        child = self._idle.pop() if self._idle else _Child(self._heard)
        self._busy[child] = job
        child.send(job.task)

    def _hear(self, child: _Child, message: Any) -> GroupOutcome | None:
        """The outcome of a process's group, if its message is one."""
        match message:
            case ("started", str(platform)):
                child.started = True
                _check_platform(platform)
            case (str(method), *arguments):
                getattr(self._busy[child].progress, method)(*arguments)
            case HcpinnError():
                raise message
            case GroupOutcome():
                self._idle.append(child)
                return message
            case _:
                return self._mourn(child)
        return None

    def _mourn(self, child: _Child) -> GroupOutcome | None:
        """Give the work of a dead process to another, unless that was tried often enough."""
        code = child.end()
        if child in self._idle:
            self._idle.remove(child)
            return None
        if not child.started and code > 0:
            raise HcpinnError(f"A process of the study could not start; it ended with code {code}.")
        if self.interrupted:
            return GroupOutcome(stop=Stop.INTERRUPTED)
        job = self._busy[child]
        if job.deaths == RETRIES:
            return GroupOutcome(trouble=f"Its process died {RETRIES + 1} times, at last {_cause(code)}.")
        job.deaths += 1
        del self._busy[child]
        self._give(job)
        return None


class _Child:
    """One process, and a thread that relays its messages; None at the end."""

    def __init__(self, heard: queue.SimpleQueue[tuple[_Child, Any]]):
        self.started = self._told = False
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # The memory of a GPU is for all of them.
            env={"XLA_PYTHON_CLIENT_PREALLOCATE": "false", **os.environ},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._tasks, self._answers = self._process.stdin, self._process.stdout
        self._ear = threading.Thread(target=self._listen, args=(heard,), daemon=True)
        self._ear.start()
        self.send([part or os.getcwd() for part in sys.path])
        self.send({name: v for name, v in jax.config.values.items() if isinstance(v, _PLAIN)})

    def send(self, message: object) -> None:
        with contextlib.suppress(OSError):  # the thread hears it when the process is dead
            pickle.dump(message, self._tasks)
            self._tasks.flush()

    def stop(self) -> None:
        """Ask it, once, to end its task with a checkpoint."""
        if not self._told:
            self._told = True
            self.send(STOP)

    def dismiss(self) -> None:
        """Let it end."""
        with contextlib.suppress(OSError):
            self._tasks.close()

    def end(self) -> int:
        """Make sure that it has ended, and return its exit code."""
        self.dismiss()
        try:
            code = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._ear.join()
        self._answers.close()
        return code

    def _listen(self, heard: queue.SimpleQueue[tuple[_Child, Any]]) -> None:
        while True:
            try:
                message = pickle.load(self._answers)
            except Exception:  # a message that was cut short fails in many ways
                message = None
            heard.put((self, message))
            if message is None:
                return


def _pickled(task: Task) -> bytes:
    try:
        return cloudpickle.dumps(task)
    except Exception as error:  # whatever the user's own functions hold
        first = task.group.runs[0]
        raise MethodError(
            f"{first.problem.name} by {first.method.name} cannot be sent to another process "
            f"({type(error).__name__}: {error}). Train with one process."
        ) from error


def _check_platform(platform: str) -> None:
    own = jax.default_backend()
    if platform != own:
        raise HcpinnError(
            f"This process has a {own}, but one that it started found only a {platform}. If the device's "
            "memory is taken, set XLA_PYTHON_CLIENT_PREALLOCATE=false before anything else."
        )


def _cause(code: int) -> str:
    if code >= 0:
        return f"with exit code {code}"
    hint = ", as happens when memory runs out" if code == -signal.SIGKILL else ""
    return f"by signal {-code} ({signal.strsignal(-code)}){hint}"
