"""Run a study: train what its store does not have yet, group by group."""

from __future__ import annotations

import contextlib
import json
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path

from ..descent import Stop
from ..descent.runs import Run
from ..errors import FileError, MethodError, UnusableFileError
from ..machine.commit import source_commit
from ..machine.files import answering, read_json, remove_folder, write_bytes
from ..machine.locks import Lock
from .cost import LARGEST, largest_group, this_machine
from .declaration import Study
from .fields import keep_fields
from .groups import Group, group_of, grouped
from .record import VERSION, Record, check_version, failure
from .results import state
from .store import Store
from .watch import Watch
from .workers import GroupOutcome, Here, Task, Workers, now

_GROUP = "group.json"
"""The file in the folder of a group that lists its runs."""

_POLL = 1.0
"""Seconds between checks for runs that other processes have finished."""


@dataclass(frozen=True)
class Tally:
    """How far a study has come."""

    done: int
    failed: int
    left: int
    """Runs without a record, because time was up or the study was interrupted."""
    stop: Stop | None = None
    """Stop.TIME or Stop.INTERRUPTED, if one of them ended it."""

    @property
    def complete(self) -> bool:
        """Whether every run finished."""
        return self.failed == self.left == 0


def run_study(
    study: Study,
    out: str | Path,
    *,
    solutions: bool = True,
    retry_failed: bool = False,
    together: int | None = None,
    max_seconds: float | None = None,
    checkpoint_every: float = 30.0,
    processes: int = 1,
    cluster: str | None = None,
    watch: Watch | None = None,
    groups: Sequence[tuple[str, ...]] = (),
) -> Tally:
    """Train the runs of a study that its store does not have yet.

    Args:
        study: what to train.
        out: the folder of the store; created if missing.
        solutions: whether to keep solutions with the records.
        retry_failed: whether to try failed runs again.
        together: the largest number of runs to train together; by default what fits into memory, up to 16.
        max_seconds: stop after this time, with checkpoints from which the next call resumes.
        checkpoint_every: seconds between checkpoints.
        processes: how many processes train side by side on this machine's device, each a group of its own;
            with 1, this process trains. Several help on a GPU; on a CPU they share its cores.
        cluster: 'ray' for a local Ray cluster, 'ray:ADDRESS' for another; by default this machine trains.
        watch: shows the progress.
        groups: keys of runs to train together, in this order; all others are grouped by their shape.
    """
    workers = _workers(processes, cluster)
    with answering(out):
        store = Store.make(out)
        state(store, study)
        with workers as own:
            runner = _Runner(study, store, own, watch or Watch())
            runner.solutions, runner.checkpoint_every = solutions, checkpoint_every
            runner.together, runner.groups = together or LARGEST, tuple(groups)
            if max_seconds is not None:
                runner.deadline = time.monotonic() + max_seconds
            return runner.run(retry_failed)


def _workers(processes: int, cluster: str | None) -> contextlib.AbstractContextManager[Workers]:
    """The workers that train."""
    if not (isinstance(processes, Integral) and processes >= 1):
        raise MethodError(f"processes must be a whole number of at least 1, but is {processes!r}.")
    if cluster is not None:
        if processes > 1:
            raise MethodError(
                f"{processes} processes are for the device of this machine, and a cluster has workers of its "
                "own: give processes or a cluster, not both."
            )
        from .cluster import ray_workers

        return ray_workers(cluster)
    if processes > 1:
        from .local_workers import local_processes

        return local_processes(processes)
    return contextlib.nullcontext(Here())


class _Runner:
    def __init__(self, study: Study, store: Store, workers: Workers, watch: Watch):
        self.study, self.store, self.workers, self.watch = study, store, workers, watch
        self.solutions, self.checkpoint_every, self.together = True, 30.0, LARGEST
        self.deadline: float | None = None
        self.machine = this_machine()
        self.retrying: set[str] = set()
        self.locks: dict[str, Lock] = {}
        self.running: dict[str, Group] = {}
        self.shares: dict[str, float] = {}
        """Device seconds of each running group; groups that run side by side share them."""
        self.counted = time.monotonic()
        self.queue: deque[Group] = deque()
        self.groups: tuple[tuple[str, ...], ...] = ()
        self.started = False
        self.stop: Stop | None = None

    def run(self, retry_failed: bool) -> Tally:
        records = {key: record for key in self.study.wanted if (record := self.store.get(key)) is not None}
        failed = {key for key, record in records.items() if not record.done}
        self.retrying = failed if retry_failed else set()
        with self.watch:
            self._plan()
            kept = len(records) - len(failed)
            known = (len(self.study.wanted), kept, len(failed - self.retrying))
            self.watch.begin(*known, self.queue, self.machine)
            try:
                while self._fill():
                    self._settle(*self.workers.wait())
            finally:
                for lock in self.locks.values():
                    lock.release()
        return self._tally()

    def _tally(self) -> Tally:
        found = [self.store.get(key) for key in self.study.wanted]
        done = sum(record is not None and record.done for record in found)
        left = sum(record is None for record in found)
        return Tally(done, len(found) - done - left, left, self.stop)

    def _missing(self) -> list[str]:
        kept = self.store.keys() - self.retrying
        return [key for key in self.study.wanted if key not in kept]

    def _plan(self) -> None:
        """Queue missing groups: those begun earlier, then those given, then new ones."""
        missing = {key for key in self._missing() if key not in self.locks}
        self.queue.clear()
        for keys in (*self._begun(), *self.groups):
            if set(keys) <= set(self.study.wanted) and missing & set(keys):
                self.queue.append(group_of(keys, self.study.wanted))
                missing -= set(keys)
        self.queue += grouped(self.study.wanted, missing, size=self._size)

    def _size(self, runs: Sequence[Run]) -> int:
        """How many runs to train together: as many as fit, but some for every device."""
        fitting = largest_group(runs, self.machine, most=self.together, abreast=self.workers.abreast)
        return min(fitting, -(-len(runs) // self.workers.devices))

    def _begun(self) -> list[tuple[str, ...]]:
        """The groups that were begun and not finished; folders of finished ones are removed."""
        found, kept = [], self.store.keys()
        for path in sorted(self.store.work.glob(f"*/{_GROUP}")):
            try:
                data = read_json(path, inside=self.store.folder)
                check_version(data, "group", path)
                keys = tuple(data["keys"])
            except (UnusableFileError, KeyError, TypeError):  # never whole
                continue
            except FileError:
                if path.exists():
                    raise
                continue
            if set(keys) <= kept - self.retrying:
                remove_folder(path.parent)
            elif path.parent.name not in self.running:
                found.append(keys)
        return found

    def _fill(self) -> bool:
        """Start groups while workers are free; returns whether any group is running."""
        told = False
        while self.stop is None and self.workers.free > 0:
            if self.workers.interrupted:
                self.stop = Stop.INTERRUPTED
                break
            # However little time there is, something is done in it.
            if self.started and self._late:
                self.stop = Stop.TIME
                break
            if (group := self._next()) is not None:
                self._start(group)
                continue
            if self.running:
                break
            self._plan()
            if not self.queue:
                break
            # What is left is in the hands of other processes: wait until they have it, or are gone.
            if not told:
                self.watch.note("Waiting for runs that another process is training.")
                told = True
            if self._late:
                self.stop = Stop.TIME
                break
            time.sleep(_POLL)
        return bool(self.running)

    @property
    def _late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _next(self) -> Group | None:
        """The next group that this process can lock."""
        while self.queue:
            group = self._locked(self.queue.popleft())
            if group is not None:
                return group
        return None

    def _locked(self, group: Group) -> Group | None:
        """The group with all of its remaining runs locked, or none.

        What trains together is part of what a run's bits depend on, so no process takes a part of a group.
        """
        missing = set(self._missing()) & set(group.keys)
        taken: dict[str, Lock] = {}
        with contextlib.ExitStack() as undone:
            for key in sorted(missing):  # in one order, so that of two processes one gets them all
                lock = self.store.lock(key)
                if lock is None:
                    return None
                taken[key] = lock
                undone.callback(lock.release)
            # Some may have been finished by others just before they were locked.
            if not taken or missing != taken.keys() & set(self._missing()):
                return None
            begun = (self.store.work / group.name / _GROUP).exists()
            undone.pop_all()
        self.locks.update(taken)
        return group if begun else group.only(taken)

    def _start(self, group: Group) -> None:
        folder = (self.store.work / group.name).absolute()
        self._count()
        self.running[group.name], self.shares[group.name] = group, _spent(folder)
        self._state(group)
        self.started = True
        task = Task(group, folder, self.deadline, self.checkpoint_every, self.solutions)
        self.workers.start(task, self.watch.began(group))

    def _state(self, group: Group) -> None:
        """Record which runs a group in training has, and what it has cost so far."""
        statement = {"kind": "group", "version": VERSION, "keys": list(group.keys)}
        statement["device_s"] = round(self.shares[group.name], 3)
        write_bytes(self.store.work / group.name / _GROUP, (json.dumps(statement) + "\n").encode())

    def _count(self) -> None:
        """Divide the time since the last call among the running groups."""
        moment = time.monotonic()
        each = (moment - self.counted) / max(len(self.running) / self.workers.devices, 1.0)
        self.counted = moment
        for name in self.running:
            self.shares[name] += each

    def _settle(self, group: Group, outcome: GroupOutcome) -> None:
        self._count()
        del self.running[group.name]
        settled: list[Record] = []
        if outcome.note:
            self.watch.note(outcome.note)
        if outcome.stop is not None:
            self.stop = self.stop or outcome.stop
            self._state(group)
        elif outcome.trouble and len(group) > 1:
            # Smaller groups where memory is short; else each run alone, so that the guilty one fails alone.
            size = -(-len(group) // 2) if outcome.too_large else 1
            self.watch.note(f"{len(group)} runs together: {outcome.trouble} Trying {size} at a time.")
            self.queue.extendleft(reversed(group.parts(size)))
        elif outcome.trouble:
            facts = {"key": group.keys[0], "commit": source_commit(), "finished": now()}
            settled.append(failure(group.runs[0], outcome.trouble, **facts))
            self.store.keep(settled[0])
        else:
            missing, share = self._missing(), round(self.shares[group.name] / len(group), 3)
            for found, solution in outcome.results:
                if found.key in missing:
                    record = replace(found, device_s=share)
                    self.store.keep(record, solution)
                    if self.solutions:
                        keep_fields(self.store, record, group.runs[group.keys.index(record.key)])
                    settled.append(record)
        del self.shares[group.name]
        self.watch.ended(group, settled)
        for key in group.keys:
            if key in self.locks:
                self.locks.pop(key).release()
        self.retrying -= {record.key for record in settled}
        if outcome.stop is None:
            remove_folder(self.store.work / group.name)


def _spent(folder: Path) -> float:
    """What an unfinished group has cost; 0 for a new one."""
    try:
        return float(read_json(folder / _GROUP)["device_s"])
    except (FileError, ValueError, KeyError, TypeError):
        return 0.0
