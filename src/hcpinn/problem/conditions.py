"""What holds at the boundary: periodicity, or prescribed values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ProblemError

Data = float | Callable[..., Any] | tuple[float | Callable[..., Any], ...]
"""Boundary data: a number, a function of t (and of positions along the face), or one of these per field."""


@dataclass(frozen=True)
class Periodic:
    """The solution repeats itself along the axis: u(t, a) = u(t, b), with all derivatives."""


@dataclass(frozen=True)
class Dirichlet:
    """The solution is prescribed at both ends of an axis: u(t, a) = lower(t), u(t, b) = upper(t).

    Each end takes a number or a function of `t`, of the coordinates along the face, and of named
    parameters; for systems, a tuple with one of these per field. Without `upper`, both ends
    share `lower`.
    """

    lower: Data
    upper: Data | None = None

    @property
    def ends(self) -> tuple[Data, Data]:
        """The data at the lower and at the upper end."""
        return self.lower, (self.lower if self.upper is None else self.upper)


Boundary = Periodic | Dirichlet


def per_axis(boundary: Any, axes: tuple[str, ...]) -> tuple[Boundary, ...]:
    """One condition per axis, from one for all or from a mapping by axis name."""
    if isinstance(boundary, Periodic | Dirichlet):
        return (boundary,) * len(axes)
    if not isinstance(boundary, Mapping):
        raise ProblemError(
            f"boundary must be Periodic() or Dirichlet(g), or one of these per axis as in "
            f"{{'x': Periodic(), 'y': Dirichlet(0.0)}}, but is {boundary!r}. Mind the parentheses."
        )
    if set(boundary) != set(axes):
        raise ProblemError(
            f"boundary names the axes {', '.join(map(str, boundary)) or 'none'}, but the domain has "
            f"{', '.join(axes)}. Give one condition for each."
        )
    for axis, condition in boundary.items():
        if not isinstance(condition, Periodic | Dirichlet):
            raise ProblemError(
                f"The boundary along {axis} must be Periodic() or Dirichlet(g), but is {condition!r}."
            )
    return tuple(boundary[axis] for axis in axes)
