"""The workers that train the groups of a study: this process, or others with the same interface."""

from __future__ import annotations

import gc
import json
import os
import socket
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ..descent import Progress
from ..machine.files import write_bytes
from .attempt import GroupOutcome, attempt
from .groups import Group

RETRIES = 3
"""How often a group is tried again when its process dies."""

WORKER = "worker.json"
"""The file in the folder of a group that names its process, if that is not the one running the study."""


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

    def start(self, group: Group, folder: Path, seconds: float | None, progress: Progress) -> None:
        """Start training a group."""
        ...

    def wait(self) -> tuple[Group, GroupOutcome]:
        """The next group that has ended, and its outcome."""
        ...


@dataclass
class Here:
    """This process as the only worker. Training itself notices an interrupt."""

    checkpoint_every: float
    devices: int = 1
    abreast: int = 1
    interrupted: bool = False
    _given: deque[tuple[Group, Path, float | None, Progress]] = field(default_factory=deque)

    @property
    def free(self) -> int:
        return self.abreast - len(self._given)

    def start(self, group: Group, folder: Path, seconds: float | None, progress: Progress) -> None:
        self._given.append((group, folder, seconds, progress))

    def wait(self) -> tuple[Group, GroupOutcome]:
        group, folder, seconds, progress = self._given.popleft()
        outcome = attempt(
            group, folder, seconds=seconds, checkpoint_every=self.checkpoint_every, progress=progress
        )
        gc.collect()  # compiled programs refer to themselves, and would hold the device's memory
        return group, outcome


def sign(folder: Path) -> None:
    """Record in the folder of a group that this process trains it."""
    who = {"host": socket.gethostname(), "process": os.getpid()}
    write_bytes(folder / WORKER, json.dumps(who).encode())
