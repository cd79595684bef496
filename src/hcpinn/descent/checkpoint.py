"""Checkpoints: the whole state of a training, from which it resumes with the same bits.

The last two are kept. One that proves damaged is renamed, never deleted, and the one before takes its place.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import os
import shutil
import threading
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import FileError, UnusableFileError
from ..machine.files import read_archive, write_archive
from .growth import Grown
from .lessons import Lesson

_KIND, _VERSION = "checkpoint", 6

_OPTIONAL = ("points", "scores", "kept")
"""Arrays of a position that may be missing."""


@dataclass
class Position:
    """How far a training has come."""

    lesson: Lesson
    stage: int = 0
    """Which of the method's stages it is in."""
    step: int = 0
    """Steps done in this stage."""
    seconds: float = 0.0
    """Time spent so far, over all sittings."""
    losses: list[np.ndarray] = field(default_factory=list)
    """Loss and terms at every step so far, one block after the other, each (steps, runs, 1 + terms)."""
    stages: list[tuple[str, int]] = field(default_factory=list)
    """Label and steps of each stage that is done, lesson after lesson."""
    finished: list[np.ndarray] = field(default_factory=list)
    """The parameters of each run's network in each finished time window, as vectors."""
    points: np.ndarray | None = None
    """Points that were chosen by looking at the residual, (runs, points, axes)."""
    scores: np.ndarray | None = None
    """The lowest estimated error of each run in this time window."""
    kept: np.ndarray | None = None
    """The parameters that have these errors."""
    before: float | None = None
    """The largest estimated error after the lesson before this one, of runs that are still going."""
    grown_from: float | None = None
    """What it was when neurons were last added."""
    grown: dict[int, Grown] = field(default_factory=dict)
    """What growth has made of runs, by their numbers."""


@dataclass
class Checkpoint:
    """A file that a training is saved to now and then."""

    path: Path
    identity: str
    """What is being trained; only a checkpoint with the same identity is resumed."""
    every: float = 30.0
    """Seconds between two saves."""
    _last: float = field(default_factory=time.monotonic)
    _saving: threading.Lock = field(default_factory=threading.Lock)

    @property
    def due(self) -> bool:
        """Whether it is time to save again."""
        return time.monotonic() - self._last >= self.every

    def save(self, position: Position, carry: Any, *, over: bool = False) -> None:
        """Write position and state; the previous checkpoint stays until this one is whole.

        Args:
            position: how far training has come.
            carry: its state.
            over: whether it has ended.
        """
        leaves = jax.tree.leaves(carry)
        arrays = {f"state.{i}": np.asarray(leaf) for i, leaf in enumerate(leaves)}
        arrays["losses"] = np.concatenate(position.losses) if position.losses else np.zeros((0, 0, 0))
        arrays.update({f"finished.{number}": theta for number, theta in enumerate(position.finished)})
        for run, own in position.grown.items():
            arrays.update({f"grown.{run}.{name}": array for name, array in own.arrays.items()})
        for name in _OPTIONAL:
            if (value := getattr(position, name)) is not None:
                arrays[name] = value
        header = {
            "identity": self.identity,
            "lesson": dataclasses.asdict(position.lesson),
            "stage": position.stage,
            "step": position.step,
            "seconds": position.seconds,
            "stages": [list(stage) for stage in position.stages],
            "before": position.before,
            "grown_from": position.grown_from,
            "grown": [[run, own.error] for run, own in position.grown.items()],
            "over": over,
        }
        with self._saving:  # a training that is left behind saves it too
            _keep_previous(self.path)
            write_archive(self.path, kind=_KIND, version=_VERSION, header=header, arrays=arrays)
        self._last = time.monotonic()

    def load(self) -> tuple[Position, list[np.ndarray]]:
        """The saved position and the leaves of the saved state."""
        if not self.path.exists():
            raise FileError(
                f"There is nothing to resume in {self.path.parent}: the training has finished, or was "
                "never saved. Leave out resume to start again."
            )
        header, arrays = self._read()
        if header.get("identity") != self.identity:
            raise UnusableFileError(
                f"{self.path} belongs to another training: problem, parameters, method or seed differ. "
                "Resume with the same settings, or choose another folder."
            )
        try:
            losses = arrays.pop("losses")
            position = Position(
                Lesson(**header["lesson"]),
                int(header["stage"]),
                int(header["step"]),
                float(header["seconds"]),
                [losses] if losses.size else [],
                [(str(label), int(count)) for label, count in header["stages"]],
                [arrays.pop(f"finished.{i}") for i in range(_count(arrays, "finished."))],
                *(arrays.pop(name, None) for name in _OPTIONAL),
                before=header.get("before"),
                grown_from=header.get("grown_from"),
                grown={
                    int(run): Grown(_taken(arrays, f"grown.{run}."), float(error))
                    for run, error in header["grown"]
                },
            )
            return position, [arrays[f"state.{i}"] for i in range(len(arrays))]
        except (KeyError, TypeError, ValueError) as error:
            raise UnusableFileError(
                f"{self.path} is incomplete: it has no valid {error}. Start anew."
            ) from error

    def spare(self) -> None:
        """Rename a checkpoint that is of another training or unfinished, so that it is not overwritten."""
        with contextlib.suppress(UnusableFileError):
            if self.path.exists():
                header, _ = read_archive(self.path, kind=_KIND, version=_VERSION)
                if header.get("over") is True and header.get("identity") == self.identity:
                    return
        kept = []
        while self.path.exists():
            kept.append(set_aside(self.path, word="earlier"))
        if kept:
            warnings.warn(
                f"{self.path} is of another training, or of this one broken off. It is kept as "
                f"{kept[0].name}, and training begins anew.",
                stacklevel=2,
            )

    def _read(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The last checkpoint or, if that is damaged, the one before it."""
        try:
            return read_archive(self.path, kind=_KIND, version=_VERSION)
        except UnusableFileError as error:
            if not _previous(self.path).exists():
                raise
            aside = set_aside(self.path)
            warnings.warn(
                f"{error} It is kept as {aside.name}. Training resumes from the checkpoint before it.",
                stacklevel=2,
            )
            return self._read()


def set_aside(path: Path, name: Path | None = None, *, word: str = "unusable") -> Path:
    """Rename an unusable checkpoint, and put the one before it in its place, if there is one.

    Args:
        path: the checkpoint.
        name: its new path, to which a word and a number are added; by default it stays where it is.
        word: that word.

    Returns:
        Where it is now.
    """
    stem = path.with_suffix("") if name is None else name
    names = (Path(f"{stem}.{word}-{number}{path.suffix}") for number in itertools.count(1))
    aside = next(name for name in names if not os.path.lexists(name))
    try:
        os.replace(path, aside)
        if _previous(path).exists():
            os.replace(_previous(path), path)
    except OSError as error:
        raise FileError(f"Cannot rename {path}: {error.strerror or error}.") from error
    return aside


def remove_checkpoints(path: Path) -> None:
    """Remove the checkpoints of a finished training."""
    for own in (path, _previous(path)):
        own.unlink(missing_ok=True)


def _previous(path: Path) -> Path:
    """The place of the checkpoint before the last."""
    return path.with_name(f"{path.stem}.previous{path.suffix}")


def _keep_previous(path: Path) -> None:
    """Give the last checkpoint a second name, so that there is one at any time."""
    second = path.with_name(f".{path.name}.second")
    try:
        second.unlink(missing_ok=True)
        try:
            os.link(path, second)
        except FileNotFoundError:
            return
        except OSError:  # a file system without hard links
            shutil.copyfile(path, second)
        os.replace(second, _previous(path))
    except OSError as error:
        with contextlib.suppress(OSError):
            second.unlink(missing_ok=True)
        raise FileError(
            f"Cannot keep {path} beside a new checkpoint: {error.strerror or error}. It is untouched. "
            "Free some space or choose another folder."
        ) from error


def seconds_spent(path: Path) -> float:
    """The time that went into the training of a checkpoint, over all sittings; 0 where there is none."""
    if not path.exists():
        return 0.0
    header, _ = read_archive(path, kind=_KIND, version=_VERSION)
    spent = header.get("seconds")
    if not (isinstance(spent, int | float) and 0 <= spent < math.inf):
        raise UnusableFileError(f"{path} is incomplete: it does not say how long training took. Start anew.")
    return float(spent)


def _count(arrays: dict[str, np.ndarray], prefix: str) -> int:
    return sum(name.startswith(prefix) for name in arrays)


def _taken(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """The arrays whose names begin with a prefix, without it, taken out."""
    names = [name for name in arrays if name.startswith(prefix)]
    return {name.removeprefix(prefix): arrays.pop(name) for name in names}


def restore(template: Any, leaves: list[np.ndarray], path: Path) -> Any:
    """The state of a training, its shape taken from `template` and its values from `leaves`."""
    wanted, structure = jax.tree.flatten(template)
    shapes = [(np.shape(a), np.dtype(a.dtype)) for a in wanted]
    if shapes != [(a.shape, a.dtype) for a in leaves]:
        raise UnusableFileError(f"{path} does not fit this training: the shapes of its state differ.")
    return jax.tree.unflatten(structure, [jnp.asarray(a) for a in leaves])
