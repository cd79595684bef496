"""A solution: a function of t and x that knows how it came about and how good it is."""

from .family import Check as Check, Family as Family
from .grown import Grown as Grown
from .solution import Solution as Solution, grid_axes as grid_axes
from .storage import load as load, save_solution as save_solution
from .values import on_grid as on_grid
from .verdict import Verdict as Verdict
