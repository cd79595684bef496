"""Trusted classical solutions from the same declaration, each with an estimate of its error."""

from .result import Reference as Reference
from .solve import planned as planned, solve_reference as solve_reference
