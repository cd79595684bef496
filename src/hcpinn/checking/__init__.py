"""How good a solution is: compared with an independent one, looked at between its points, judged."""

from .comparison import relative_errors as relative_errors
from .families import judge_family as judge_family
from .floor import kink_floor as kink_floor
from .judgement import solution_of as solution_of
from .resolution import start_error as start_error, wiggles as wiggles
from .verdict import judge as judge
