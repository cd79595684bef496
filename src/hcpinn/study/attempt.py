"""Train one group of runs until it ends or time is up, and report what went wrong."""

from __future__ import annotations

import dataclasses
import datetime
import os
from dataclasses import dataclass
from pathlib import Path

from ..descent import Progress, Stop, seconds_spent, set_aside
from ..errors import FileError, HcpinnError, UnusableFileError
from ..machine.commit import source_commit
from ..solution.solution import Solution
from ..solving import CHECKPOINT, solve_batch
from .groups import Group
from .record import Record, record_of


@dataclass(frozen=True)
class GroupOutcome:
    """What became of a group: its results, why it stopped early, or what broke it."""

    results: tuple[tuple[Record, Solution | bytes | None], ...] = ()
    """Records with their solutions, as objects or as the content of a file."""
    stop: Stop | None = None
    """Stop.TIME or Stop.INTERRUPTED; the folder then has a checkpoint."""
    trouble: str = ""
    too_large: bool = False
    """Whether it ran out of memory."""
    note: str = ""
    """A remark to show, such as on a checkpoint that was set aside."""

    def packed(self, folder: Path, *, solutions: bool) -> GroupOutcome:
        """The same, ready to send to another process: solutions as the content of files, or left out."""
        results = []
        for record, solution in self.results:
            content = None
            if solutions and not isinstance(solution, bytes | None):
                path = solution.save(folder / f"{record.key}-{os.getpid()}.npz")
                content = path.read_bytes()
                path.unlink()
            results.append((record, content))
        return dataclasses.replace(self, results=tuple(results))


def attempt(
    group: Group,
    folder: Path,
    *,
    seconds: float | None,
    checkpoint_every: float,
    progress: Progress,
) -> GroupOutcome:
    """Train a group for at most `seconds`, resuming from a checkpoint in the folder if there is one.

    A file that cannot be read or written is no fault of the group's and may be better later, so it raises and
    nothing is lost. An unusable checkpoint is set aside, beside the folder, which is removed later.
    """
    checkpoint = folder / CHECKPOINT
    resume = checkpoint.exists()
    try:
        spent = seconds_spent(checkpoint)
        limit = None if seconds is None else spent + max(seconds, 0.0)
        solutions = solve_batch(
            group.runs,
            accuracy=group.accuracy,
            out=folder,
            resume=resume,
            checkpoint_every=checkpoint_every,
            max_seconds=limit,
            progress=progress,
        )
    except UnusableFileError as error:
        if not resume:
            return GroupOutcome(trouble=str(error))
        kept = set_aside(checkpoint, folder.with_name(f"{folder.name}.checkpoint"))
        rest = attempt(group, folder, seconds=seconds, checkpoint_every=checkpoint_every, progress=progress)
        return dataclasses.replace(rest, note=f"{error} It is kept as {kept}. {rest.note}".rstrip())
    except FileError:
        raise
    except HcpinnError as error:
        return GroupOutcome(trouble=str(error))
    except Exception as error:
        told = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
        return GroupOutcome(trouble=told, too_large=_out_of_memory(error))
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
    return GroupOutcome(
        tuple(
            (record_of(s, key=key, **facts), s.lean()) for key, s in zip(group.keys, solutions, strict=True)
        )
    )


def now() -> str:
    """The time, in ISO form."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _out_of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error)
