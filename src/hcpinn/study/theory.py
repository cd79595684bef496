"""The theory's part of a study's page: whatever numbers and figures `hcpinn theory` left in the store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from ..errors import FileError
from .columns import number
from .elements import facts, image, pictures
from .picture import small_png

_MANY = 24
"""Facts up to which they are shown at once; more are folded."""


def theory_parts(folder: Path) -> str:
    """HTML for every JSON and PNG file below a folder, by sub-folder; empty if there are none."""
    found = sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".png"))
    parts = []
    for place in dict.fromkeys(path.parent for path in found):
        here = [path for path in found if path.parent == place]
        title = "" if place == folder else place.relative_to(folder).as_posix()
        numbers = "".join(_numbers(path, title) for path in here if path.suffix == ".json")
        images = [
            image(small_png(_read(path)), f"{title}: {_words(path.stem)}".removeprefix(": "))
            for path in here
            if path.suffix == ".png"
        ]
        heading = f"<h3>{escape(title)}</h3>" if title else ""
        parts.append(f"{heading}{numbers}{pictures(images)}")
    return "".join(parts)


def _numbers(path: Path, title: str) -> str:
    try:
        data = json.loads(_read(path))
    except ValueError as error:
        raise FileError(f"{path} is damaged: it is not JSON ({error}).") from error
    rows = list(_flat(data, ""))
    label = _words(path.stem) if not title else f"{title}: {_words(path.stem)}"
    card = facts(label, rows)
    if len(rows) <= _MANY:
        return card
    return f"<details><summary>{escape(label)}: {len(rows)} figures</summary>{card}</details>"


def _flat(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Every figure below a value, under its path; long lists by their length and ends."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{name} › {_words(str(key))}" if name else _words(str(key)))
    elif isinstance(value, list) and len(value) <= 4 and all(isinstance(v, int | float | str) for v in value):
        yield name, ", ".join(_said(v) for v in value)
    elif isinstance(value, list) and value and all(isinstance(v, int | float) for v in value):
        yield name, f"{len(value)} values from {_said(min(value))} to {_said(max(value))}"
    elif isinstance(value, list):
        for index, inner in enumerate(value, start=1):
            yield from _flat(inner, f"{name} {index}")
    else:
        yield name, _said(value)


def _said(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)


def _words(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror or error}.") from error
