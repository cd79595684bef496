"""What other packages add to hcpinn: methods and studies by name, the pages of studies, and a theory.

An installed package declares its extension in its `pyproject.toml`,

    [project.entry-points."hcpinn.extensions"]
    mine = "my_package:EXTENSION"

and each folder of `hcpinn.papers` holds an `EXTENSION` of its own.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from ..descent import Method
from ..problem import Problem

if TYPE_CHECKING:
    from ..study import Results, Study, StudyPage

GROUP = "hcpinn.extensions"
"""The entry points by which an extension is found."""

_BUILT_IN = "hcpinn.papers"


@dataclass(frozen=True, kw_only=True)
class Switches:
    """Methods named by the switches that are on, joined by `+` in any order."""

    about: str
    """What these methods are, as a heading."""
    parts: Mapping[str, str]
    """Each switch, and what it turns on."""
    make: Callable[[str, Problem], Method]
    """The method of a name, with its settings for a problem."""

    def fits(self, name: str) -> bool:
        """Whether a name is made of these switches."""
        return set(name.split("+")) <= set(self.parts)


@dataclass(frozen=True, kw_only=True)
class Extension:
    """What a package adds to hcpinn. The first line of each docstring is what lists show."""

    methods: Mapping[str, Callable[[Problem], Method]] = field(default_factory=dict)
    """Functions that give a method its settings for a problem."""
    switches: tuple[Switches, ...] = ()
    studies: Callable[[], Mapping[str, Callable[[], Study]]] = dict
    """A function that returns the studies by name; each is declared when it is first asked for."""
    pages: Mapping[str, Callable[[Results], StudyPage]] = field(default_factory=dict)
    """What a page shows in place of the usual parts, for studies whose `page` has this name."""
    theory: Callable[[], Any] | None = None
    """A function that returns what `hcpinn theory` calls: a module with `analysed`, `in_short`, `write_table`
    and `short_table`."""


@cache
def extensions() -> tuple[Extension, ...]:
    """Every extension there is: those of hcpinn, then those of installed packages by name."""
    folder = importlib.import_module(_BUILT_IN)
    own = sorted(module.name for module in pkgutil.iter_modules(folder.__path__))
    found = [importlib.import_module(f"{_BUILT_IN}.{name}").EXTENSION for name in own]
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return (*found, *(point.load() for point in points))
