"""Problems as text: read, written, and typeset."""

from .formula import Formula as Formula
from .read import parse_problem as parse_problem, read_problem as read_problem
from .write import write_problem as write_problem
