"""What holds at the boundary: periodicity, or prescribed values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Data = float | Callable[..., Any] | tuple[float | Callable[..., Any], ...]
"""Boundary data: a number, a function g(t), or a tuple of these, one per field."""


@dataclass(frozen=True)
class Periodic:
    """The solution repeats itself along the axis: u(t, a) = u(t, b), with all derivatives."""


@dataclass(frozen=True)
class Dirichlet:
    """The solution is prescribed at both ends: u(t, a) = lower(t), u(t, b) = upper(t).

    Each end takes a number or a function of `t` (and of named parameters); for systems,
    a tuple with one of these per field. Without `upper`, both ends share `lower`.
    """

    lower: Data
    upper: Data | None = None

    @property
    def ends(self) -> tuple[Data, Data]:
        """The data at the lower and at the upper end."""
        return self.lower, (self.lower if self.upper is None else self.upper)


Boundary = Periodic | Dirichlet
