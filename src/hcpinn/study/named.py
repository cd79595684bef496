"""Studies by name, which extensions register."""

from __future__ import annotations

from collections.abc import Callable

from ..catalog import extensions
from ..errors import unknown_name
from .declaration import Study


def named_studies() -> dict[str, Callable[[], Study]]:
    """Every study that has a name; the docstring of each says what it is."""
    return {name: make for added in extensions() for name, make in added.studies().items()}


def find_study(name: str) -> Study:
    """The study of this name."""
    known = named_studies()
    if name not in known:
        raise unknown_name("study", name, known)
    return known[name]()
