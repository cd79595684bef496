"""Progress of a solve: one live line in a terminal or notebook, and reports to whoever asks for them."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Status:
    """How far a solve has come, as `on_progress` is told."""

    stage: str
    """What is being done, such as "pass 2, rank 161" or "Adam"."""
    share: float
    """How much of it is done, from 0 to 1."""
    step: int
    """The steps of a training that are done, or hundredths of an evolution's pass."""
    time: float | None
    """The time of the problem that an evolution has reached; None in training."""
    loss: float | None
    """The loss of a training; None where there is none."""
    terms: Mapping[str, float]
    """Its parts, by name."""
    estimate: float | None
    """The latest estimate of the relative error; None before there is one."""
    accuracy: float | None
    """The requested error."""
    seconds: float
    """Since the start."""


class Progress:
    """One live line: the stage, how far it has come, the error, and the time left.

    Args:
        visible: whether it is shown; by default in a terminal or notebook.
        title: the name of the task.
        accuracy: the requested error, shown next to the estimates.
        on_progress: is told what there is to tell, from the thread that computes.
    """

    def __init__(
        self,
        *,
        visible: bool | None = None,
        title: str = "",
        accuracy: float | None = None,
        on_progress: Callable[[Status], Any] | None = None,
    ):
        self.visible = _interactive() if visible is None else visible
        self.title, self.accuracy, self.on_progress = title, accuracy, on_progress
        self._bar: Any = None
        self._task: Any = None
        self._began = monotonic()
        self._stage, self._steps, self._passes = "", 1, 0
        self._time: float | None = None
        self._estimate: float | None = None

    def __enter__(self) -> Progress:
        if self.visible:
            from rich.console import Console
            from rich.progress import BarColumn, Progress as Bar, TextColumn, TimeRemainingColumn

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(bar_width=10),
                TextColumn("{task.fields[place]}"),
                TextColumn("{task.fields[news]}"),
                TimeRemainingColumn(compact=True),
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
        """A stage begins, or continues from step `done`."""
        self._stage, self._steps, self._time = label, max(steps, 1), None
        if self._bar is not None:
            if self._task is None:
                self._task = self._bar.add_task(label, total=steps, place="", news="")
            self._bar.reset(
                self._task, description=label, total=steps, completed=done, place="compiling", news=""
            )

    def evolving(self, rank: int, time: float, share: float, estimate: float, *, first: bool) -> None:
        """A pass of an evolution has come to a time of the problem; `first` if it is a new one."""
        if first:
            self._passes += 1
            self.stage(f"pass {self._passes}, rank {rank}", 100, 0)
        self._time = time
        if not math.isinf(estimate):
            self._estimate = estimate
        self.update(round(100 * share), math.inf)

    def update(self, step: int, loss: float, terms: Mapping[str, float] | None = None) -> None:
        """The stage has come to `step`; `terms` are parts of the loss that have names.

        An infinite loss is one that is not known.
        """
        known = None if math.isinf(loss) else loss
        if self.on_progress is not None:
            self.on_progress(
                Status(
                    stage=self._stage,
                    share=step / self._steps,
                    step=step,
                    time=self._time,
                    loss=known,
                    terms=dict(terms or {}),
                    estimate=self._estimate,
                    accuracy=self.accuracy,
                    seconds=monotonic() - self._began,
                )
            )
        if self._bar is not None:
            place = f"{step:,}/{self._steps:,}" if self._time is None else f"t = {self._time:.3g}"
            self._bar.update(self._task, completed=step, place=place, news=self._news(known, terms or {}))

    def _news(self, loss: float | None, terms: Mapping[str, float]) -> str:
        """The loss or the estimated error, as far as they are known."""
        if loss is not None:
            parts = ", ".join(f"{name} {value:.1e}" for name, value in terms.items())
            return f"loss {loss:.2e}" + (f" ({parts})" if parts else "")
        if self._estimate is None:
            return "no estimate yet"
        asked = "" if self.accuracy is None else f", asked {self.accuracy:.0e}"
        return f"error about {self._estimate:.0e}{asked}"

    def interrupt(self) -> None:
        """Say that Ctrl-C was heard."""
        self.say("Stopping with the best so far. Ctrl-C again ends at once.")

    def say(self, text: str) -> None:
        """A sentence between two stages."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)

    def waiting(self, what: str) -> None:
        """Everything waits for `what`."""
        self.say(f"Waiting for {what} …")

    def losses(self, first: int, names: Sequence[str], values: np.ndarray) -> None:
        """Each run's loss and terms, (steps, runs, 1 + terms), from step `first` of the training on.

        Nothing is made of them here; who wants to follow every run does.
        """


def _interactive() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules
