"""Declaring what to solve."""

from .conditions import (
    Boundary,
    Condition,
    Derivative,
    Dirichlet,
    Linear,
    Neumann,
    Periodic,
    Prescribed,
    Robin,
)
from .declaration import HORIZON, Problem
from .domain import Box, Domain, Interval, Shape
from .expression import MAX_ORDER, Expression, Index, apply
from .parameters import Between, Open, ranges_of, refuse_open
from .pieces import Piece
from .samples import Samples
from .shapes import Annulus, Ball, Cylinder, Disk, Ellipse, Implicit, Polygon, Region, Solid
from .sides import Ends, Side
from .text import parse_problem, read_problem
from .unknown import Unknown

__all__ = [
    "HORIZON",
    "MAX_ORDER",
    "Annulus",
    "Ball",
    "Between",
    "Boundary",
    "Box",
    "Condition",
    "Cylinder",
    "Derivative",
    "Dirichlet",
    "Disk",
    "Domain",
    "Ellipse",
    "Ends",
    "Expression",
    "Implicit",
    "Index",
    "Interval",
    "Linear",
    "Neumann",
    "Open",
    "Periodic",
    "Piece",
    "Polygon",
    "Prescribed",
    "Problem",
    "Region",
    "Robin",
    "Samples",
    "Shape",
    "Side",
    "Solid",
    "Unknown",
    "apply",
    "parse_problem",
    "ranges_of",
    "read_problem",
    "refuse_open",
]
