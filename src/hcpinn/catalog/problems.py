"""Problems by name: every module of this folder that declares an `ENTRY`, under the name of the module."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..errors import unknown_name
from ..problem import Problem, read_problem


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A problem of the catalogue and what there is to say of it."""

    problem: Problem
    title: str
    stiffness: str
    """Why it is hard."""
    equation: str

    @property
    def name(self) -> str:
        """The name it goes by on the command line."""
        return self.problem.name


_OTHERS = {"expert", "extension", "methods", "parts", "problems"}
"""Modules of this folder that declare no problem."""


class _Entries(Mapping[str, Entry]):
    """Entries by name, each declared when it is first asked for: a check of its data takes time."""

    def __init__(self) -> None:
        self._package = __name__.rpartition(".")[0]
        folder = importlib.import_module(self._package).__path__
        modules = sorted(m.name for m in pkgutil.iter_modules(folder) if m.name not in _OTHERS)
        self._modules = {module.replace("_", "-"): module for module in modules}

    def __getitem__(self, name: str) -> Entry:
        return importlib.import_module(f"{self._package}.{self._modules[name]}").ENTRY

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


ENTRIES: Mapping[str, Entry] = _Entries()
"""Every problem of the catalogue."""


def find_problem(name: str) -> Problem:
    """The catalogue's problem of this name, or the one that a `.toml` file of this name states."""
    if isinstance(name, str) and name.endswith(".toml"):
        return read_problem(name)
    if name not in ENTRIES:
        raise unknown_name("problem", name, ENTRIES)
    return ENTRIES[name].problem
