"""Who trains the groups of a study: this process, or others that keep to the same few verbs."""

from __future__ import annotations

import gc
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ..training import Progress
from .attempt import Outcome, attempt
from .groups import Group


class Workers(Protocol):
    """Who trains groups: this process, or a cluster."""

    @property
    def free(self) -> int:
        """How many more groups can start now."""
        ...

    @property
    def count(self) -> int:
        """How many groups can train at once."""
        ...

    def start(self, group: Group, folder: Path, seconds: float | None, progress: Progress) -> None:
        """Begin to train a group."""
        ...

    def wait(self) -> tuple[Group, Outcome]:
        """The next group that has ended, and its outcome."""
        ...


@dataclass
class Here:
    """This process as the only worker."""

    checkpoint_every: float
    count: int = 1
    _given: deque[tuple[Group, Path, float | None, Progress]] = field(default_factory=deque)

    @property
    def free(self) -> int:
        return self.count - len(self._given)

    def start(self, group: Group, folder: Path, seconds: float | None, progress: Progress) -> None:
        self._given.append((group, folder, seconds, progress))

    def wait(self) -> tuple[Group, Outcome]:
        group, folder, seconds, progress = self._given.popleft()
        outcome = attempt(
            group, folder, seconds=seconds, checkpoint_every=self.checkpoint_every, progress=progress
        )
        gc.collect()  # compiled programs refer to themselves, and would hold the device's memory
        return group, outcome
