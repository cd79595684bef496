"""Families: one solve for whole ranges of parameters."""

from .engine import Evolved, evolve_family, span
from .exact import Exact
from .function import FamilyFunction, Member, Network, exact_of
from .interpolation import Interpolation, Piece
from .nodes import Grid

__all__ = [
    "Evolved",
    "Exact",
    "FamilyFunction",
    "Grid",
    "Interpolation",
    "Member",
    "Network",
    "Piece",
    "evolve_family",
    "exact_of",
    "span",
]
