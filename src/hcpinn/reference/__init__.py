"""Trusted classical solutions from the same declaration, each with an estimate of its error."""

from .cache import cache_folder
from .fingerprint import fingerprint
from .result import Reference
from .solve import solve_reference

__all__ = ["Reference", "cache_folder", "fingerprint", "solve_reference"]
