"""What trains the groups of a study: `attempt`, called by this process or by others with its interface."""

from __future__ import annotations

import dataclasses
import datetime
import gc
import json
import os
import socket
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ..descent import Progress, Stop, seconds_spent, set_aside
from ..errors import FileError, HcpinnError, UnusableFileError
from ..machine.commit import source_commit
from ..machine.files import write_bytes
from ..solution import Solution
from ..solving import CHECKPOINT, solve_batch
from .groups import Group
from .record import Record, record_of

RETRIES = 3
"""How often a group is tried again when its process dies."""

WORKER = "worker.json"
"""The file in the folder of a group that names its process, if that is not the one running the study."""


@dataclass(frozen=True)
class Task:
    """A group to train, and how."""

    group: Group
    folder: Path
    """Where its checkpoint is."""
    deadline: float | None
    """On the monotonic clock, which the processes of a machine share."""
    checkpoint_every: float
    """Seconds between checkpoints."""
    solutions: bool
    """Whether to return solutions with the records."""

    @property
    def left(self) -> float | None:
        """Seconds to its deadline."""
        return None if self.deadline is None else self.deadline - time.monotonic()


@dataclass(frozen=True)
class GroupOutcome:
    """What became of a group: its results, why it stopped early, or what broke it."""

    results: tuple[tuple[Record, bytes | None], ...] = ()
    """Records, each with the content of its solution's file if that is wanted."""
    stop: Stop | None = None
    """Stop.TIME or Stop.INTERRUPTED; the folder then has a checkpoint."""
    trouble: str = ""
    too_large: bool = False
    """Whether it ran out of memory."""
    note: str = ""
    """A remark to show, such as on a checkpoint that was set aside."""


def attempt(task: Task, progress: Progress) -> GroupOutcome:
    """Train a group until it ends or time is up, resuming from a checkpoint in its folder if there is one.

    An unreadable or unwritable file is not the group's fault and may be temporary, so it raises and nothing
    is lost. An unusable checkpoint is set aside, beside the folder, which is removed later.
    """
    group, folder = task.group, task.folder
    checkpoint = folder / CHECKPOINT
    resume = checkpoint.exists()
    try:
        spent, left = seconds_spent(checkpoint), task.left
        solutions = solve_batch(
            group.runs,
            accuracy=group.accuracy,
            out=folder,
            resume=resume,
            checkpoint_every=task.checkpoint_every,
            max_seconds=None if left is None else spent + max(left, 0.0),
            progress=progress,
        )
    except UnusableFileError as error:
        if not resume:
            return GroupOutcome(trouble=str(error))
        kept = set_aside(checkpoint, folder.with_name(f"{folder.name}.checkpoint"))
        rest = attempt(task, progress)
        return dataclasses.replace(rest, note=f"{error} It is kept as {kept}. {rest.note}".rstrip())
    except FileError:
        raise
    except HcpinnError as error:
        return GroupOutcome(trouble=str(error))
    except Exception as error:
        told = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
        too_large = isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error)
        return GroupOutcome(trouble=told, too_large=too_large)
    for solution in solutions:
        if solution.stop in (Stop.TIME, Stop.INTERRUPTED):
            return GroupOutcome(stop=solution.stop)
    facts = {
        "trained_together": len(group),
        "group": group.short_keys,
        "accuracy": group.accuracy,
        "commit": source_commit(),
        "finished": now(),
    }
    pairs = zip(group.keys, solutions, strict=True)
    return GroupOutcome(
        tuple(
            (record_of(s, key=key, **facts), _content(s, folder) if task.solutions else None)
            for key, s in pairs
        )
    )


def _content(solution: Solution, folder: Path) -> bytes:
    """The content of a lean solution's file, which is in the folder meanwhile."""
    path = solution.lean().save(folder / f"solution-{os.getpid()}.npz")
    content = path.read_bytes()
    path.unlink()
    return content


def now() -> str:
    """The time, in ISO form."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


class Workers(Protocol):
    """What trains groups: this process, others on its machine, or a cluster."""

    @property
    def free(self) -> int:
        """How many more groups can start now."""
        ...

    @property
    def devices(self) -> int:
        """How many devices there are; runs of one shape are spread over all of them."""
        ...

    @property
    def abreast(self) -> int:
        """How many groups share a device's memory."""
        ...

    @property
    def interrupted(self) -> bool:
        """Whether everything should stop; groups in training then end with checkpoints."""
        ...

    def start(self, task: Task, progress: Progress) -> None:
        """Start training a group."""
        ...

    def wait(self) -> tuple[Group, GroupOutcome]:
        """The next group that has ended, and its outcome."""
        ...


@dataclass
class Here:
    """This process as the only worker. Training itself notices an interrupt."""

    devices: int = 1
    abreast: int = 1
    interrupted: bool = False
    _given: deque[tuple[Task, Progress]] = field(default_factory=deque)

    @property
    def free(self) -> int:
        return self.abreast - len(self._given)

    def start(self, task: Task, progress: Progress) -> None:
        self._given.append((task, progress))

    def wait(self) -> tuple[Group, GroupOutcome]:
        task, progress = self._given.popleft()
        outcome = attempt(task, progress)
        gc.collect()  # compiled programs refer to themselves, and would hold the device's memory
        return task.group, outcome


def sign(folder: Path) -> None:
    """Record in the folder of a group that this process trains it."""
    who = {"host": socket.gethostname(), "process": os.getpid()}
    write_bytes(folder / WORKER, json.dumps(who).encode())
