"""What holds at the boundary: periodicity, or prescribed values, slopes, or mixtures of both."""

from __future__ import annotations

import math
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
    def coefficients(self) -> tuple[float, float]:
        """Factors of the value and of the outward slope."""
        return 1.0, 0.0


@dataclass(frozen=True)
class Neumann:
    """The outward slope is prescribed at both ends: −uₓ(t, a) = lower(t), uₓ(t, b) = upper(t).

    Data are given as for `Dirichlet`. A trial function meets them by a penalty, not exactly.
    """

    lower: Data
    upper: Data | None = None

    @property
    def coefficients(self) -> tuple[float, float]:
        """Factors of the value and of the outward slope."""
        return 0.0, 1.0


@dataclass(frozen=True)
class Robin:
    """A mixture is prescribed at both ends: value · u + slope · ∂u/∂n = data, with n pointing outwards.

    Data are given as for `Dirichlet`. A trial function meets them by a penalty, not exactly.
    """

    lower: Data
    upper: Data | None = None
    value: float = 1.0
    slope: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.value) and math.isfinite(self.slope) and self.slope != 0):
            raise ProblemError(
                f"A Robin condition needs finite factors and a slope other than 0, but has value = "
                f"{self.value!r}, slope = {self.slope!r}. Without a slope it is Dirichlet(…)."
            )

    @property
    def coefficients(self) -> tuple[float, float]:
        """Factors of the value and of the outward slope."""
        return float(self.value), float(self.slope)


Boundary = Periodic | Dirichlet | Neumann | Robin


def per_axis(boundary: Any, axes: tuple[str, ...]) -> tuple[Boundary, ...]:
    """One condition per axis, from one for all or from a mapping by axis name."""
    if isinstance(boundary, Boundary):
        return (boundary,) * len(axes)
    if not isinstance(boundary, Mapping):
        raise ProblemError(
            f"boundary must be Periodic(), Dirichlet(g), Neumann(g) or Robin(g), or one of these per axis as "
            f"in {{'x': Periodic(), 'y': Dirichlet(0.0)}}, but is {boundary!r}. Mind the parentheses."
        )
    if set(boundary) != set(axes):
        raise ProblemError(
            f"boundary names the axes {', '.join(map(str, boundary)) or 'none'}, but the domain has "
            f"{', '.join(axes)}. Give one condition for each."
        )
    for axis, condition in boundary.items():
        if not isinstance(condition, Boundary):
            raise ProblemError(
                f"The boundary along {axis} must be Periodic(), Dirichlet(g), Neumann(g) or Robin(g), but is "
                f"{condition!r}."
            )
    return tuple(boundary[axis] for axis in axes)
