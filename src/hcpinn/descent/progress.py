"""Progress of a training: a bar in a terminal or notebook, silence elsewhere."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


class Progress:
    """A bar per stage with loss, steps per second and time left; `visible=None` decides by itself."""

    def __init__(self, *, visible: bool | None = None, title: str = ""):
        self.visible = _interactive() if visible is None else visible
        self.title = title
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if self.visible:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress as Bar,
                TextColumn,
                TimeRemainingColumn,
            )

            self._bar = Bar(
                TextColumn("{task.description:<8}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TextColumn("{task.fields[loss]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                speed_estimate_period=20,
            )
            self._bar.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def interrupted(self) -> bool:
        """Whether who follows the training wants it to break off, as with Ctrl-C."""
        return False

    def stage(self, label: str, steps: int, done: int) -> None:
        """A stage begins, or goes on from step `done`."""
        if self._bar is not None:
            self._task = self._bar.add_task(label, total=steps, completed=done, loss="", rate="compiling")

    def update(self, step: int, loss: float, terms: Mapping[str, float] | None = None) -> None:
        """The stage has come to `step`; `terms` are parts of the loss that have names.

        An infinite loss is one that is not known.
        """
        if self._bar is not None:
            speed = self._bar.tasks[self._task].speed
            rate = f"{speed:,.0f} steps/s" if speed else ""
            parts = ", ".join(f"{name} {value:.1e}" for name, value in (terms or {}).items())
            shown = (
                "" if math.isinf(loss) else f"[bold]loss {loss:.2e}[/bold]" + (f" ({parts})" if parts else "")
            )
            self._bar.update(self._task, completed=step, loss=shown, rate=rate)

    def say(self, text: str) -> None:
        """A sentence between two stages."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)

    def waiting(self, what: str) -> None:
        """Nothing goes on until `what` is there."""
        self.say(f"Waiting for {what} …")

    def losses(self, first: int, names: Sequence[str], values: np.ndarray) -> None:
        """Each run's loss and terms, (steps, runs, 1 + terms), from step `first` of the training on.

        Nothing is made of them here; who wants to follow every run does.
        """


def _interactive() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules
