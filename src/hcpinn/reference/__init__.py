"""Trusted classical solutions from the same declaration, each with an estimate of its error."""

from .result import Reference
from .solve import planned, solve_reference

__all__ = ["Reference", "planned", "solve_reference"]
