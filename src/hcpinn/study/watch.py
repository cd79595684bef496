"""Show the progress of a study: a bar in a terminal, lines elsewhere, and logs for TensorBoard."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..descent import Progress
from ..descent.runs import Run
from ..errors import HcpinnError
from .cost import Machine, cost
from .groups import Group
from .numbers import counted, duration
from .record import Record

LINE_EVERY = 300.0
"""Seconds between lines on the progress of a group, where there is no bar."""


class Watch:
    """Shows the progress of a study; silent by default."""

    def __init__(self, *, bar: bool = False, lines: bool = False, tensorboard: str | Path | None = None):
        """`bar` is for terminals, `lines` for files; `tensorboard` is a folder for its logs."""
        self.lines = lines and not bar
        self.total = self.done = self.failed = 0
        self._running: dict[str, tuple[Group, float]] = {}
        self.logs: Logs | None = None
        if tensorboard is not None:
            self.logs = Logs(Path(tensorboard))
        self.bar: Any = _bar() if bar else None
        self._all: Any = None
        self._ahead = self._passed = self._took = 0.0
        self._machine: Machine | None = None

    @classmethod
    def for_a_user(cls, progress: bool | None, tensorboard: str | Path | None = None) -> Watch:
        """A bar in a terminal and lines elsewhere; `progress` asks for a bar, or for nothing."""
        terminal = sys.stderr.isatty()
        bar = terminal if progress is None else progress
        return cls(bar=bar, lines=progress is None and not terminal, tensorboard=tensorboard)

    def __enter__(self) -> Watch:
        if self.bar is not None:
            self.bar.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self.bar is not None:
            self.bar.stop()
        if self.logs is not None:
            self.logs.close()

    def begin(self, total: int, done: int, failed: int, groups: Iterable[Group], machine: Machine) -> None:
        """A study starts or resumes with these groups to train."""
        self.total, self.done, self.failed, self._machine = total, done, failed, machine
        self._ahead = sum(cost(group.runs, machine).seconds for group in groups)
        if self.bar is not None:
            self._all = self.bar.add_task("all runs", total=total, completed=done + failed, facts="")
        if self.lines:
            failures = f", {failed} failed before" if failed else ""
            ahead = f"{total - done - failed} to do"
            ahead += f", about {duration(self._ahead)}" if self._ahead else ""
            self.say(f"{counted(total, 'run')}: {done} in the store{failures}, {ahead}")
        self._show()

    def began(self, group: Group) -> Progress:
        """A group starts; returns what shows its progress."""
        self._running[group.name] = (group, time.monotonic())
        self._show()
        return _GroupProgress(self, group)

    def ended(self, group: Group, records: Sequence[Record]) -> None:
        """A group has ended with these records; with none if it was stopped."""
        _, began = self._running.pop(group.name)
        seconds = time.monotonic() - began
        if records and self._machine is not None:
            expected = cost(group.runs, self._machine).seconds
            self._passed, self._took = self._passed + expected, self._took + seconds
            self._ahead = max(0.0, self._ahead - expected)
        for record in records:
            self.done += record.done
            self.failed += not record.done
            self.say(f"{self.done + self.failed}/{self.total}  {_told(record)}")
            if self.logs is not None:
                self.logs.ended(record)
        self._show()

    def note(self, text: str) -> None:
        """Show a remark."""
        self.say(text)

    def say(self, text: str) -> None:
        """Print a line, above the bar if there is one."""
        if self.bar is not None:
            self.bar.console.print(text, markup=False, highlight=False)
        elif self.lines:
            print(text, flush=True)

    def _show(self) -> None:
        if self.bar is None or self._all is None:
            return
        running = sum(len(group) for group, _ in self._running.values())
        facts = [f"{self.done} done", f"{running} running", f"{self.failed} failed"]
        # The model of cost, corrected by how it fared so far, for as many groups at once as there are now.
        left = self._ahead * (self._took / self._passed if self._passed else 1.0)
        left /= max(1, len(self._running))
        facts.append(f"about {duration(left)} left" if left else "")
        self.bar.update(self._all, completed=self.done + self.failed, facts=", ".join(filter(None, facts)))


class _GroupProgress(Progress):
    """The progress of one group: a line below the bar, or an occasional line of text."""

    def __init__(self, watch: Watch, group: Group):
        super().__init__(visible=False)
        self._watch, self._group, self._line = watch, group, None
        self._label, self._steps, self._told = "", 0, time.monotonic()

    def __enter__(self) -> _GroupProgress:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._line is not None:
            self._watch.bar.remove_task(self._line)
            self._line = None

    def stage(self, label: str, steps: int, done: int) -> None:
        first, more = self._group.runs[0], len(self._group) - 1
        name = f"{first.problem.name} {first.method.name}" + (f" and {more} more" if more else "")
        self._label, self._steps = f"{name}: {label}", steps
        if self._watch.bar is not None:
            self.__exit__()
            self._line = self._watch.bar.add_task(self._label, total=steps, completed=done, facts="compiling")

    def update(self, step: int, loss: float, terms: Any = None) -> None:
        if self._line is not None:
            self._watch.bar.update(self._line, completed=step, facts=f"step {step:,}, loss {loss:.2e}")
        elif self._watch.lines and time.monotonic() - self._told >= LINE_EVERY:
            self._told = time.monotonic()
            self._watch.say(f"{self._label}, step {step:,} of {self._steps:,}, loss {loss:.2e}")

    def waiting(self, what: str) -> None:
        if self._line is not None:
            self._watch.bar.update(self._line, facts=f"waiting for {what}")

    def losses(self, first: int, names: Sequence[str], values: np.ndarray) -> None:
        if self._watch.logs is not None:
            self._watch.logs.block(self._group, first, names, values)


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress as Bar, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(16), TextColumn("{task.fields[facts]}"))
    return Bar(*columns, console=Console(stderr=True))


def _told(record: Record) -> str:
    values = "".join(f", {name} = {value:g}" for name, value in record.parameters.items())
    what = f"{record.problem}{values}, {record.method}, seed {record.seed}"
    if not record.done:
        return f"{what}: failed. {record.reason}"
    errors = [f"{name} {v:.2e}" for name, v in (record.summary["rel_l2"] or {}).items() if v is not None]
    return f"{what}: {record.summary['verdict']}, relative L2 error {'  '.join(errors) or 'unknown'}"


class Logs:
    """A folder with one log per run."""

    def __init__(self, folder: Path):
        try:
            from tensorboardX import SummaryWriter
        except ImportError as error:
            raise HcpinnError("Logs for TensorBoard need tensorboardX: pip install tensorboardX.") from error
        self._make = SummaryWriter
        self.folder = folder
        self._writers: dict[str, Any] = {}

    def block(self, group: Group, first: int, names: Sequence[str], values: np.ndarray) -> None:
        """Log the last step of a block that begins at step `first`."""
        step, last = first + len(values), values[-1]
        for key, run, numbers in zip(group.keys, group.runs, last, strict=True):
            if np.isfinite(numbers[0]):
                writer = self._writer(key, _label(run))
                for name, value in zip(("loss", *names), numbers, strict=True):
                    writer.add_scalar(name if name == "loss" else f"terms/{name}", float(value), step)

    def ended(self, record: Record) -> None:
        """Log the errors of a finished run, and its curves if they were not logged during training."""
        if not record.done:
            return
        logged = record.key in self._writers
        writer = self._writer(record.key, f"{record.problem}-{record.method}-{record.seed}")
        steps = int(record.summary["steps"])
        if not logged:
            for name, curve in record.history.items():
                if name != "step":
                    tag = name if name == "loss" else f"terms/{name}"
                    for step, value in zip(record.history["step"], curve, strict=True):
                        if np.isfinite(value):
                            writer.add_scalar(tag, float(value), int(step))
        for measure in ("rel_l2", "rel_l1"):
            for name, value in (record.summary[measure] or {}).items():
                if value is not None:
                    writer.add_scalar(f"{measure}/{name}", value, steps)
        writer.close()
        del self._writers[record.key]

    def close(self) -> None:
        """Close all logs."""
        for writer in self._writers.values():
            writer.close()

    def _writer(self, key: str, label: str) -> Any:
        if key not in self._writers:
            name = re.sub(r"[^\w.+=-]", "-", label)
            self._writers[key] = self._make(str(self.folder / f"{name}-{key[:8]}"))
        return self._writers[key]


def _label(run: Run) -> str:
    return f"{run.problem.name}-{run.method.name}-{run.seed}"
