"""Problems and methods by name."""

from .entry import Entry
from .extension import Extension, Switches, extensions
from .methods import DEFAULT, METHODS, find_method
from .problems import ENTRIES, find_problem

__all__ = [
    "DEFAULT",
    "ENTRIES",
    "METHODS",
    "Entry",
    "Extension",
    "Switches",
    "extensions",
    "find_method",
    "find_problem",
]
