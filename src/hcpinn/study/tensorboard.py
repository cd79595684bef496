"""Logs for TensorBoard: the loss of each run and its terms during training, its errors at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..descent.runs import Run
from ..errors import HcpinnError
from .groups import Group
from .record import Record


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
