"""Declaring what to solve."""

from .conditions import Boundary, BoundarySide, Dirichlet, Neumann, Periodic, Prescribed, Robin
from .declaration import HORIZON, Problem
from .domain import Box, Domain, Interval
from .expression import MAX_ORDER, Expression, Index, apply

__all__ = [
    "HORIZON",
    "MAX_ORDER",
    "Boundary",
    "BoundarySide",
    "Box",
    "Dirichlet",
    "Domain",
    "Expression",
    "Index",
    "Interval",
    "Neumann",
    "Periodic",
    "Prescribed",
    "Problem",
    "Robin",
    "apply",
]
