"""Families: one solve for whole ranges of parameters."""

from .engine import Evolved as Evolved, evolve_family as evolve_family, span as span
from .exact import Exact as Exact, Remains as Remains
from .function import (
    FamilyFunction as FamilyFunction,
    Member as Member,
    Network as Network,
    exact_of as exact_of,
)
from .inputs import parameters_as_inputs as parameters_as_inputs
from .interpolation import Interpolation as Interpolation, Piece as Piece
from .nodes import Grid as Grid
