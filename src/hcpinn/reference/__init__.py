"""Trusted classical solutions from the same declaration, each with an estimate of its error."""

from .result import Reference
from .solve import solve_reference

__all__ = ["Reference", "solve_reference"]
