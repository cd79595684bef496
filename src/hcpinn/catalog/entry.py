"""What the catalogue knows of a problem."""

from __future__ import annotations

from dataclasses import dataclass

from ..descent import Method
from ..problem import Problem


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A problem of the study with the study's own settings and figures for it."""

    problem: Problem
    paper: Method
    """The study's best settings for it."""
    title: str
    stiffness: str
    """Why it is hard."""
    equation: str

    @property
    def name(self) -> str:
        """The name it goes by on the command line."""
        return self.problem.name
