"""Problems and methods by name."""

from .entry import Entry
from .extension import Extension, Switches, extensions
from .methods import DEFAULT, METHODS, TAKES_OVER, find_method
from .problems import ENTRIES, find_problem

__all__ = [
    "DEFAULT",
    "ENTRIES",
    "METHODS",
    "TAKES_OVER",
    "Entry",
    "Extension",
    "Switches",
    "extensions",
    "find_method",
    "find_problem",
]
