"""Problems as text: read, written, and typeset."""

from .read import parse_problem, read_problem
from .write import write_problem

__all__ = ["parse_problem", "read_problem", "write_problem"]
