"""A store: a folder that keeps every finished run under the address of its content.

    store.json            what this folder is, and the version of its layout
    study.json            the studies it is for: titles, sections, and which runs make a row
    runs/KEY.json         a record: method, seed, summary, thinned history, versions, commit
    solutions/KEY.npz     the solution, lean; a store without solutions is a compact one
    fields/KEY.npz        what figures show of a run whose solution cannot be opened without its declaration
    runs.jsonl            the records of a packed store, a line each
    solutions.zip         the solutions of a packed store; fields.zip the fields
    work/ID/              a group of runs in training: who they are, and their checkpoint
    claims/KEY.lock       held by the process that trains the run

Files are written whole or not at all, solutions before records: a record that is there counts. What a run
has in a file of its own counts before what is packed. No link inside the folder is followed.
"""

from __future__ import annotations

import contextlib
import json
import time
import zipfile
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path

from ..descent import Method
from ..errors import FileError
from ..machine.files import read_json, reading, refuse_links, write_bytes, written
from ..machine.locks import Lock
from ..problem import Problem
from ..solution.solution import Solution
from ..solution.storage import load
from .packed import Packed, line_of
from .record import VERSION, Record, check_version

_KIND, _MARKER = "study store", "store.json"
_FOLDERS = ("solutions", "fields")
"""Folders with a file KEY.npz for a run, which are packed."""

_ABANDONED = 3600.0
"""Seconds after which an unfinished file counts as left behind by a process that was killed."""


class Store:
    """The finished runs in a folder. `Store.make` makes the folder; `Store` opens one that is there."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise FileError(f"There is no folder {self.folder}.")
        if not self.at(self.folder):
            raise FileError(
                f"{self.folder} is not a study's folder: it has no {self._marker.name}. `hcpinn study NAME "
                "--out DIR` makes one."
            )
        check_version(read_json(self._marker, inside=self.folder), _KIND, self.folder)
        for path in (self._runs, self.work, self.claims, *(self.folder / name for name in _FOLDERS)):
            refuse_links(path, inside=self.folder)
        self._packed = Packed(self.folder)

    @staticmethod
    def at(folder: str | Path) -> bool:
        """Whether there is a store in a folder."""
        return (Path(folder) / _MARKER).exists()

    @classmethod
    def make(cls, folder: str | Path) -> Store:
        """The store in a folder, made if it is not there yet."""
        if not cls.at(folder):
            marker = Path(folder) / _MARKER
            write_bytes(marker, (json.dumps({"kind": _KIND, "version": VERSION}) + "\n").encode())
        store = cls(folder)
        store._tidy()
        return store

    def records(self) -> list[Record]:
        """Every record, by problem, parameters, method and seed."""
        # Single files first: those that are packed meanwhile are then found among the packed ones.
        single = {record.key: record for path in self._singles() if (record := self._record(path))}
        packed = {key: record for key, (record, _) in self._packed.lines().items()}
        return sorted({**packed, **single}.values(), key=lambda record: record.place)

    def keys(self) -> set[str]:
        """The keys of all records."""
        single = {path.stem for path in self._singles()}
        return single | self._packed.lines().keys()

    def get(self, key: str) -> Record | None:
        """The record of a run, or None if it has not finished."""
        single = self._record(self._runs / f"{key}.json")
        if single is None and key in (packed := self._packed.lines()):
            return packed[key][0]
        return single

    def solution(
        self, key: str, *, problem: Problem | None = None, method: Method | None = None
    ) -> Solution | None:
        """The solution of a run, or None where only records are kept.

        Args:
            key: of the run.
            problem: its problem, needed if that is not in the catalogue.
            method: its method, needed if that has custom parts.
        """
        with self.file("solutions", key) as path:
            return None if path is None else load(path, problem=problem, method=method)

    @contextlib.contextmanager
    def file(self, folder: str, key: str) -> Iterator[Path | zipfile.Path | None]:
        """What a run has in a folder of the store, in a file of its own or packed; None if nothing."""
        path = self.folder / folder / f"{key}.npz"
        refuse_links(path, inside=self.folder)
        if path.exists():
            yield path
        else:
            with self._packed.members(folder) as members:
                yield members.get(key)

    def keep(self, record: Record, solution: Solution | bytes | None = None) -> None:
        """Put a finished run into the store.

        Args:
            record: its facts.
            solution: its solution, or the content of that one's file, if it is kept.
        """
        path = self.folder / "solutions" / f"{record.key}.npz"
        if isinstance(solution, bytes):
            write_bytes(path, solution)
        elif solution is not None:
            solution.save(path)
        write_bytes(self._runs / f"{record.key}.json", _laid_out(record).encode())

    def pack(self, solutions: Collection[str] | None = None) -> None:
        """Put all records into one file, and all solutions into another.

        Runs may be trained for the store meanwhile: what they add stays in files of its own.

        Args:
            solutions: keys of the runs whose solutions are kept; by default all are.
        """
        lock = self.lock("pack")
        if lock is None:
            raise FileError(f"Another process is packing {self.folder}. Wait until it is done.")
        try:
            for name in _FOLDERS:
                self._pack_files(name, solutions if name == "solutions" else None)
            self._pack_records()
        finally:
            lock.release()

    def _pack_files(self, name: str, wanted: Collection[str] | None) -> None:
        single = {path: written(path) for path in (self.folder / name).glob("*.npz")}
        with self._packed.members(name) as members:
            contents: dict[str, Callable[[], bytes]] = {key: m.read_bytes for key, m in members.items()}
            contents |= {path.stem: partial(self._content, path) for path in single}
            kept = {key: read for key, read in contents.items() if wanted is None or key in wanted}
            if single or kept != contents:
                self._packed.write_members(name, kept)
        _remove(single)

    def _pack_records(self) -> None:
        single = {path: written(path) for path in self._singles()}
        lines = dict(self._packed.lines())
        for path in single:
            record = self._record(path)
            if record is not None:
                lines[record.key] = record, line_of(read_json(path, inside=self.folder))
        if single:
            self._packed.write_lines(lines)
        _remove(single)

    def lock(self, key: str) -> Lock | None:
        """A lock on training a run, or on any other named job; None if another process holds it."""
        return Lock.take(self.claims / f"{key}.lock")

    @property
    def work(self) -> Path:
        """The folder of groups in training."""
        return self.folder / "work"

    @property
    def claims(self) -> Path:
        """The folder of claims."""
        return self.folder / "claims"

    @property
    def _marker(self) -> Path:
        return self.folder / _MARKER

    @property
    def _runs(self) -> Path:
        return self.folder / "runs"

    def _singles(self) -> list[Path]:
        """The files of runs that have one of their own."""
        return list(self._runs.glob("*.json"))

    def _content(self, path: Path) -> bytes:
        with reading(path, inside=self.folder) as stream:
            return stream.read()

    def _record(self, path: Path) -> Record | None:
        """The record in a file; None if there is no such file."""
        try:
            record = Record.from_plain(read_json(path, inside=self.folder), source=path)
        except FileError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return None
            raise
        if record.key != path.stem:
            raise FileError(f"{path} holds the record of another run, {record.key}. Remove one of them.")
        return record

    def _tidy(self) -> None:
        """Remove files that killed processes left half-written."""
        for folder in (".", "runs", *_FOLDERS):
            for path in (self.folder / folder).glob(".*.part"):
                with contextlib.suppress(FileNotFoundError):  # its process is alive after all
                    if time.time() - path.lstat().st_mtime > _ABANDONED:
                        path.unlink()


def _remove(packed: dict[Path, tuple[int, ...]]) -> None:
    """Remove files that are packed, unless newer ones took their places, and their folder if it is empty."""
    for path, when in packed.items():
        with contextlib.suppress(FileNotFoundError):
            if written(path) == when:
                path.unlink()
    for folder in {path.parent for path in packed}:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _laid_out(record: Record) -> str:
    """JSON with one curve of the history per line, and the group on one, for people and version control."""
    plain = record.to_plain()
    group = json.dumps(plain.pop("group"))
    curves = [f"  {json.dumps(name)}: {json.dumps(values)}" for name, values in plain.pop("history").items()]
    history = "{\n" + ",\n".join(curves) + "\n }" if curves else "{}"
    text = json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False)
    return text.removesuffix("\n}") + f',\n "group": {group},\n "history": {history}\n}}\n'
