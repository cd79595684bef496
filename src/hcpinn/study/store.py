"""A store: a folder that keeps every finished run under the address of its content.

    store.json            what this folder is, and the version of its layout
    runs/KEY.json         a record: method, seed, summary, thinned history, versions, commit
    solutions/KEY.npz     the solution, lean; a store without this folder is a compact one
    work/ID/              a group of runs in training: who they are, and their checkpoint
    claims/KEY.lock       held by the process that trains the run

Files are written whole or not at all, solutions before records: a record that is there counts.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from ..descent import Method
from ..errors import FileError
from ..machine.files import write_bytes
from ..problem import Problem
from ..solution.solution import Solution
from ..solution.storage import load
from .record import VERSION, Record, check_version

_KIND, _MARKER = "study store", "store.json"
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
        check_version(_read(self._marker), _KIND, self.folder)

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
        found = [self._record(path) for path in self._runs.glob("*.json")]
        return sorted(found, key=lambda r: (r.problem, tuple(r.parameters.items()), r.method, r.seed, r.key))

    def keys(self) -> set[str]:
        """The keys of all records."""
        return {path.stem for path in self._runs.glob("*.json")}

    def get(self, key: str) -> Record | None:
        """The record of a run, or None if it has not come to an end."""
        path = self._runs / f"{key}.json"
        return self._record(path) if path.exists() else None

    def solution(
        self, key: str, *, problem: Problem | None = None, method: Method | None = None
    ) -> Solution | None:
        """The solution of a run, or None where only records are kept; see `hcpinn.load`."""
        path = self._solutions / f"{key}.npz"
        return load(path, problem=problem, method=method) if path.exists() else None

    def keep(self, record: Record, solution: Solution | bytes | None = None) -> None:
        """Put a finished run into the store, with its solution (or its file's content) if that is kept."""
        path = self._solutions / f"{record.key}.npz"
        if isinstance(solution, bytes):
            write_bytes(path, solution)
        elif solution is not None:
            solution.save(path)
        write_bytes(self._runs / f"{record.key}.json", _laid_out(record).encode())

    def forget(self, key: str) -> None:
        """Drop a run, so that it is trained again."""
        (self._runs / f"{key}.json").unlink(missing_ok=True)
        (self._solutions / f"{key}.npz").unlink(missing_ok=True)

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

    @property
    def _solutions(self) -> Path:
        return self.folder / "solutions"

    def _record(self, path: Path) -> Record:
        record = Record.from_plain(_read(path), source=path)
        if record.key != path.stem:
            raise FileError(f"{path} holds the record of another run, {record.key}. Remove one of them.")
        return record

    def _tidy(self) -> None:
        for path in (*self._runs.glob(".*.part"), *self._solutions.glob(".*.part")):
            try:
                if time.time() - path.stat().st_mtime > _ABANDONED:
                    path.unlink()
            except FileNotFoundError:  # its process was alive after all
                continue


def _laid_out(record: Record) -> str:
    """JSON with one curve of the history per line, and the group on one, for people and version control."""
    plain = record.to_plain()
    group = json.dumps(plain.pop("group"))
    curves = [f"  {json.dumps(name)}: {json.dumps(values)}" for name, values in plain.pop("history").items()]
    history = "{\n" + ",\n".join(curves) + "\n }" if curves else "{}"
    text = json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False)
    return text.removesuffix("\n}") + f',\n "group": {group},\n "history": {history}\n}}\n'


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror or error}.") from error
    except ValueError as error:
        raise FileError(f"{path} is damaged: it is not JSON ({error}).") from error
