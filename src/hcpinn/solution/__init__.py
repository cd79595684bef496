"""A solution: a function of t and x that knows how it came about and how good it is."""

from .family import Check, Family
from .solution import Solution, grid_axes
from .storage import load, save_solution
from .values import on_grid
from .verdict import Verdict

__all__ = ["Check", "Family", "Solution", "Verdict", "grid_axes", "load", "on_grid", "save_solution"]
