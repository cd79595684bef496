"""Problems by name: every module of this folder that declares an `ENTRY`."""

from __future__ import annotations

import importlib
import pkgutil

from ..errors import unknown_name
from ..problem import Problem
from .entry import Entry


def _collect() -> dict[str, Entry]:
    package = __name__.rpartition(".")[0]
    folder = importlib.import_module(package).__path__
    found = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(folder)):
        if module not in ("entry", "expert", "methods", "parts", "problems", "published", "rows"):
            entry: Entry = importlib.import_module(f"{package}.{module}").ENTRY
            found[entry.name] = entry
    return found


ENTRIES: dict[str, Entry] = _collect()
"""Every problem of the catalogue."""


def find_problem(name: str) -> Problem:
    """The catalogue's problem of this name."""
    if name not in ENTRIES:
        raise unknown_name("problem", name, ENTRIES)
    return ENTRIES[name].problem
