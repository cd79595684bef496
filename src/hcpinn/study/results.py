"""What a store holds, read once: its records, and the studies that they were run for.

A study describes itself in the file `study.json` of its store: its title, its sections, and which runs make a
row. So a store can be read without the declaration.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import FileError
from ..machine.files import read_json, write_bytes
from ..machine.plain import has_shape
from .declaration import Section, Study
from .record import DIGITS, VERSION, Record, check_version, digest
from .store import Store

FILE = "study.json"
_KIND = "study"

_LINE = {**dict.fromkeys(("label", "problem", "method", "settings"), str), "parameters": {str: int | float}}
_SECTION = {"name": str, "title": str, "lines": [{**_LINE, "keys": [str]}]}
_SHAPE = {"studies": [{"name": str, "title": str, "page": str, "sections": [_SECTION]}]}
"""What the file holds."""


@dataclass(frozen=True)
class Line:
    """The runs of a section that differ in their seeds alone."""

    label: str
    problem: str
    parameters: dict[str, float]
    method: str
    settings: str
    """Digits that identify the settings of the method, regardless of its name."""
    keys: tuple[str, ...]
    """The first digits of their keys."""


@dataclass(frozen=True)
class StatedSection:
    """A section as a store knows it."""

    name: str
    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class StatedStudy:
    """A study as a store knows it."""

    name: str
    title: str
    page: str
    sections: tuple[StatedSection, ...]


@dataclass(frozen=True)
class Results:
    """The studies of a store and all its records."""

    store: Store
    studies: tuple[StatedStudy, ...]
    records: list[Record]

    @property
    def title(self) -> str:
        """The titles of the studies; without any, the name of the folder."""
        return ", ".join(study.title for study in self.studies) or self.store.folder.resolve().name

    @property
    def page(self) -> str:
        """The name of the page that all studies agree on; empty for the usual one."""
        pages = {study.page for study in self.studies}
        return pages.pop() if len(pages) == 1 else ""

    @cached_property
    def sections(self) -> tuple[StatedSection, ...]:
        """The sections of all studies; those of one name count as one."""
        return _merged(section for study in self.studies for section in study.sections)


def read_results(folder: str | Path | Store) -> Results:
    """Everything that the store in a folder holds; refused if no run has ended yet."""
    store = folder if isinstance(folder, Store) else Store(folder)
    records = store.records()
    if not records:
        raise FileError(
            f"{store.folder} holds no finished run yet, so there is nothing to report. `hcpinn study NAME "
            f"--out {store.folder}` runs one."
        )
    return Results(store, tuple(_read(store.folder / FILE)), records)


def state(store: Store, study: Study) -> None:
    """Record in a store which study it is for, in addition to those recorded before."""
    while (lock := store.lock(_KIND)) is None:
        time.sleep(0.05)
    try:
        studies = {known.name: known for known in _read(store.folder / FILE)}
        before = studies[study.name].sections if study.name in studies else ()
        sections = _merged((*before, *map(_stated, study.sections)))
        studies[study.name] = StatedStudy(study.name, study.title, study.page, sections)
        write_bytes(store.folder / FILE, _laid_out(studies.values()).encode())
    finally:
        lock.release()


def _laid_out(studies: Iterable[StatedStudy]) -> str:
    """JSON with a line for each row of a table, for people and version control."""

    def listed(items: Iterable[str]) -> str:
        return "[\n" + ",\n".join(items) + "\n]"

    def plain(part: Any, inner: str, items: str) -> str:
        head = {name: value for name, value in vars(part).items() if name != inner}
        return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "{inner}": {items}}}'

    def section(part: StatedSection) -> str:
        return plain(part, "lines", listed(json.dumps(vars(line), ensure_ascii=False) for line in part.lines))

    told = listed(plain(study, "sections", listed(map(section, study.sections))) for study in studies)
    return f'{{"kind": "{_KIND}", "version": {VERSION}, "studies": {told}}}\n'


def _read(path: Path) -> list[StatedStudy]:
    """The studies that a store's file states; none if it has no such file."""
    if not path.exists():
        return []
    try:
        data = read_json(path, inside=path.parent)
        check_version(data, _KIND, path)
        if not has_shape(data, _SHAPE):
            raise TypeError("a part of it is of another kind")
        if not all(section["lines"] for study in data["studies"] for section in study["sections"]):
            raise ValueError("a section has no runs")
        return [_study(**study) for study in data["studies"]]
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path} is damaged: it does not state a study ({error}).") from error


def _study(name: str, title: str, page: str, sections: list[dict[str, Any]]) -> StatedStudy:
    return StatedStudy(name, title, page, tuple(_section(**section) for section in sections))


def _section(name: str, title: str, lines: list[dict[str, Any]]) -> StatedSection:
    own = (Line(**{**line, "keys": tuple(line["keys"])}) for line in lines)
    return StatedSection(name, title, tuple(own))


def _stated(section: Section) -> StatedSection:
    lines = (
        Line(
            label,
            run.problem.name,
            dict(run.problem.parameters),
            run.method.name,
            digest(run.method),
            (key[:DIGITS],),
        )
        for label, run, key in zip(section.labels, section.runs, section.keys, strict=True)
    )
    return StatedSection(section.name, section.title, tuple(lines))


def _merged(sections: Iterable[StatedSection]) -> tuple[StatedSection, ...]:
    """Sections by name, with the lines of all that have it; lines that differ in their keys alone, as one."""
    titles: dict[str, str] = {}
    found: dict[str, dict[str, Line]] = {}
    for section in sections:
        titles[section.name] = section.title
        lines = found.setdefault(section.name, {})
        for line in section.lines:
            what = json.dumps({**vars(line), "keys": ()})
            keys = (*(lines[what].keys if what in lines else ()), *line.keys)
            lines[what] = replace(line, keys=tuple(dict.fromkeys(keys)))
    return tuple(StatedSection(name, titles[name], tuple(found[name].values())) for name in titles)
