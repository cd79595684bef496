"""Problems and methods by name."""

from .extension import Extension as Extension, Switches as Switches, extensions as extensions
from .methods import (
    DEFAULT as DEFAULT,
    METHODS as METHODS,
    TAKES_OVER as TAKES_OVER,
    find_method as find_method,
)
from .problems import ENTRIES as ENTRIES, Entry as Entry, find_problem as find_problem
