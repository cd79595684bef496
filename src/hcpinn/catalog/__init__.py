"""The problems of the study, and methods, by name."""

from .entry import Entry
from .methods import DEFAULT, METHODS, find_method
from .problems import ENTRIES, find_problem
from .published import PublishedRow, published_rows, tables
from .rows import SWITCHES, row

__all__ = [
    "DEFAULT",
    "ENTRIES",
    "METHODS",
    "SWITCHES",
    "Entry",
    "PublishedRow",
    "find_method",
    "find_problem",
    "published_rows",
    "row",
    "tables",
]
