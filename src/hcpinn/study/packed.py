"""The packed part of a store: a few files in place of one per run.

    runs.jsonl            a record per line, by problem, parameters, method and seed
    NAME.zip              what the folder NAME had, such as solutions, one member per run

Equal content makes equal files. Each is replaced as a whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from ..errors import UnusableFileError
from ..machine.files import LARGEST_TEXT, add_member, check_members, parse_json, reading, writing, written
from .record import Record

_RUNS = "runs.jsonl"

RecordLine = tuple[Record, bytes]
"""A record with the line it stands in."""


class Packed:
    """What is packed in the folder of a store, which may be nothing."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._seen: tuple[int, ...] | None = None
        self._lines: dict[str, RecordLine] = {}

    def lines(self) -> Mapping[str, RecordLine]:
        """The records with their lines, by key."""
        path = self._folder / _RUNS
        seen = written(path)
        if not seen:
            return {}
        if seen != self._seen:  # another process may have packed the store since
            with reading(path, inside=self._folder) as stream:
                self._lines = _parsed(stream, path)
            self._seen = seen
        return self._lines

    @contextlib.contextmanager
    def members(self, name: str) -> Iterator[dict[str, zipfile.Path]]:
        """What the archive of a name holds, by key, as long as it is open."""
        path = self._folder / f"{name}.zip"
        if not os.path.lexists(path):
            yield {}
            return
        with reading(path, inside=self._folder) as stream:
            try:
                archive = zipfile.ZipFile(stream)
                check_members(archive, stream)
            except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
                raise UnusableFileError(f"{path} is damaged: it is not an archive ({error}).") from error
            root = zipfile.Path(archive)
            yield {key.removesuffix(".npz"): root / key for key in archive.namelist()}

    def write_lines(self, lines: Mapping[str, RecordLine]) -> None:
        """Replace all records."""
        with writing(self._folder / _RUNS) as stream:
            for _, line in sorted(lines.values(), key=lambda item: item[0].place):
                stream.write(line + b"\n")

    def write_members(self, name: str, contents: Mapping[str, Callable[[], bytes]]) -> None:
        """Replace the archive of a name by one with these contents, by key; without any there is none."""
        path = self._folder / f"{name}.zip"
        if not contents:
            path.unlink(missing_ok=True)
            return
        with writing(path) as stream, zipfile.ZipFile(stream, "w") as archive:
            for key in sorted(contents):
                add_member(archive, f"{key}.npz", contents[key]())


def line_of(data: Any) -> bytes:
    """The line for a record, which is given as plain data."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False).encode()


def _parsed(stream: IO[bytes], path: Path) -> dict[str, RecordLine]:
    found: dict[str, RecordLine] = {}
    number = 0
    while text := stream.readline(LARGEST_TEXT + 2):
        number += 1
        source, line = f"Line {number} of {path}", text.rstrip(b"\r\n")
        record = Record.from_plain(parse_json(line, source), source=source)
        if record.key in found:
            raise UnusableFileError(f"{source} has the run {record.key} a second time. Remove one of them.")
        found[record.key] = record, line
    return found
