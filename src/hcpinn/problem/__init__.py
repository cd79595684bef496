"""Declaring what to solve."""

from .conditions import Boundary, Dirichlet, Neumann, Periodic, Robin
from .declaration import HORIZON, Problem
from .domain import Box, Interval
from .expression import MAX_ORDER, Expression, Index, apply

__all__ = [
    "HORIZON",
    "MAX_ORDER",
    "Boundary",
    "Box",
    "Dirichlet",
    "Expression",
    "Index",
    "Interval",
    "Neumann",
    "Periodic",
    "Problem",
    "Robin",
    "apply",
]
