"""What holds at the boundary: periodicity, or prescribed values, slopes, or mixtures of both.

Nothing asks for the kind of a condition. A condition itself says what it fixes at each end, whether it can
hold by construction, and what tells it from others. A new kind is one more class here.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..errors import ProblemError
from .expression import Index

Data = float | Callable[..., Any] | tuple[float | Callable[..., Any], ...]
"""Boundary data: a number, a function of t (and of positions along the face), or one of these per field."""


@dataclass(frozen=True)
class BoundarySide:
    """What one end of an axis must satisfy: value · u + slope · ∂u/∂n = data, with n pointing outwards."""

    kind: str
    """The name of the condition it comes from."""
    end: str
    """'lower' or 'upper'."""
    value: float
    slope: float
    data: Data

    @property
    def prescribes_value(self) -> bool:
        """Whether u itself is prescribed: lift and gate hold it, and u₀ and adjoining faces must agree."""
        return self.slope == 0

    def terms(self, normal: Sequence[Any]) -> list[tuple[Index, Any]]:
        """The left-hand side as Σ factor · ∂u: the derivatives it needs, each with its factor.

        `normal` is the outward normal, as `Domain.normal` gives it.
        """
        zero = (0,) * (len(normal) + 1)
        found: list[tuple[Index, Any]] = [(zero, self.value)] if self.value else []
        for axis, component in enumerate(normal, 1):
            if self.slope and not (isinstance(component, float) and component == 0):
                first = tuple(int(i == axis) for i in range(len(zero)))
                found.append((first, self.slope * component))
        return found


@dataclass(frozen=True)
class Boundary(abc.ABC):
    """A condition along one axis of a box: on both of its ends, or from one end to the other."""

    periodic: ClassVar[bool] = False
    """Whether the solution repeats itself along the axis, which an embedding can hold."""

    @property
    @abc.abstractmethod
    def sides(self) -> tuple[BoundarySide, ...]:
        """What holds at the lower end and what at the upper; nothing if it is periodic."""

    @property
    def prescribes_values(self) -> bool:
        """Whether values are prescribed at both ends, so that lift and gate hold the condition."""
        return bool(self.sides) and all(side.prescribes_value for side in self.sides)

    @property
    def signature(self) -> str | list[Any]:
        """What tells it from other conditions, but for its data: its kind, and the settings it has."""
        settings = [f.name for f in dataclasses.fields(self) if f.name not in ("lower", "upper")]
        kind = type(self).__name__
        return [kind, *(float(getattr(self, name)) for name in settings)] if settings else kind


@dataclass(frozen=True)
class Periodic(Boundary):
    """The solution repeats itself along the axis: u(t, a) = u(t, b), with all derivatives."""

    periodic: ClassVar[bool] = True

    @property
    def sides(self) -> tuple[BoundarySide, ...]:
        return ()


@dataclass(frozen=True)
class Prescribed(Boundary):
    """value · u + slope · ∂u/∂n is prescribed at both ends of an axis, for some numbers value and slope."""

    lower: Data
    """At the lower end: a number, a function of t, positions along the face and named parameters, or, for
    systems, a tuple with one of these per field."""
    upper: Data | None = None
    """At the upper end; unless given, the same as at the lower."""

    @property
    @abc.abstractmethod
    def coefficients(self) -> tuple[float, float]:
        """Factors of the value and of the outward slope."""

    @property
    def sides(self) -> tuple[BoundarySide, ...]:
        value, slope = self.coefficients
        upper = self.lower if self.upper is None else self.upper
        ends = (("lower", self.lower), ("upper", upper))
        return tuple(BoundarySide(type(self).__name__, end, value, slope, data) for end, data in ends)


@dataclass(frozen=True)
class Dirichlet(Prescribed):
    """The solution is prescribed at both ends of an axis: u(t, a) = lower(t), u(t, b) = upper(t).

    Each end takes a number or a function of `t`, of the coordinates along the face, and of named
    parameters; for systems, a tuple with one of these per field. Without `upper`, both ends
    share `lower`. Lift and gate hold it exactly.
    """

    @property
    def coefficients(self) -> tuple[float, float]:
        return 1.0, 0.0


@dataclass(frozen=True)
class Neumann(Prescribed):
    """The outward slope is prescribed at both ends: −uₓ(t, a) = lower(t), uₓ(t, b) = upper(t).

    Data are given as for `Dirichlet`. A trial function meets them by a penalty, not exactly.
    """

    @property
    def coefficients(self) -> tuple[float, float]:
        return 0.0, 1.0


@dataclass(frozen=True)
class Robin(Prescribed):
    """A mixture is prescribed at both ends: value · u + slope · ∂u/∂n = data, with n pointing outwards.

    Data are given as for `Dirichlet`. A trial function meets them by a penalty, not exactly.
    """

    value: float = 1.0
    """The factor of u."""
    slope: float = 1.0
    """The factor of ∂u/∂n, not zero."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.value) and math.isfinite(self.slope) and self.slope != 0):
            raise ProblemError(
                f"A Robin condition needs finite factors and a slope other than 0, but has value = "
                f"{self.value}, slope = {self.slope}. Use Dirichlet(…) where the value alone is prescribed."
            )

    @property
    def coefficients(self) -> tuple[float, float]:
        return float(self.value), float(self.slope)


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
