"""What the catalogue knows of a problem."""

from __future__ import annotations

from dataclasses import dataclass

from ..problem import Problem


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A problem of the catalogue and what there is to say of it."""

    problem: Problem
    title: str
    stiffness: str
    """Why it is hard."""
    equation: str

    @property
    def name(self) -> str:
        """The name it goes by on the command line."""
        return self.problem.name
