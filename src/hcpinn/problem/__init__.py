"""Declaring what to solve."""

from .conditions import (
    Boundary as Boundary,
    Condition as Condition,
    Derivative as Derivative,
    Dirichlet as Dirichlet,
    Linear as Linear,
    Neumann as Neumann,
    Periodic as Periodic,
    Prescribed as Prescribed,
    Robin as Robin,
)
from .declaration import HORIZON as HORIZON, Problem as Problem
from .domain import Box as Box, Domain as Domain, Interval as Interval
from .expression import MAX_ORDER as MAX_ORDER, Expression as Expression, Index as Index, apply as apply
from .parameters import Between as Between, Open as Open, refuse_open as refuse_open
from .sides import Ends as Ends, Side as Side
