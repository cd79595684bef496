"""Who trains the groups of a study: this process, or others that keep to the same few verbs."""

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
"""How often a group is given to another process because its own died."""

WORKER = "worker.json"
"""In the folder of a group: which process trains it, if not the one that runs the study."""


class Workers(Protocol):
    """Who trains groups: this process, others on its machine, or a cluster."""

    @property
    def free(self) -> int:
        """How many more groups can start now."""
        ...

    @property
    def devices(self) -> int:
        """How many devices there are: runs of one shape are spread over all of them."""
        ...

    @property
    def abreast(self) -> int:
        """How many groups share the memory of a device."""
        ...

    @property
    def interrupted(self) -> bool:
        """Whether someone wants everything to stop; what is in training then ends with checkpoints."""
        ...

    def start(self, group: Group, folder: Path, seconds: float | None, progress: Progress) -> None:
        """Begin to train a group."""
        ...

    def wait(self) -> tuple[Group, GroupOutcome]:
        """The next group that has ended, and its outcome."""
        ...


@dataclass
class Here:
    """This process as the only worker. Training notices by itself when it is interrupted."""

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
    """Say in the folder of a group that this process trains it."""
    who = {"host": socket.gethostname(), "process": os.getpid()}
    write_bytes(folder / WORKER, json.dumps(who).encode())
