"""How good a solution is: compared with an independent one, looked at between its points, judged."""

from .accuracy import grid_error
from .comparison import relative_errors
from .floor import kink_floor
from .resolution import early_error, early_points, wiggles
from .verdict import judge

__all__ = [
    "early_error",
    "early_points",
    "grid_error",
    "judge",
    "kink_floor",
    "relative_errors",
    "wiggles",
]
