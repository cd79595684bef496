"""How good a solution is: compared with an independent one, looked at between its points, judged."""

from .comparison import relative_errors
from .families import judge_family
from .floor import kink_floor
from .judgement import solution_of
from .resolution import start_error, wiggles
from .verdict import judge

__all__ = ["judge", "judge_family", "kink_floor", "relative_errors", "solution_of", "start_error", "wiggles"]
