"""Conditions at a boundary as a user states them: periodicity, values, slopes, and mixtures of derivatives.

Nothing asks for the kind of a condition. Each is a sum Σ factorₖ ∂ᵏu/∂nᵏ = data, n pointing outwards, and
whoever needs to know looks at the factors. A new kind is one more class here.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from ..errors import ProblemError
from .expression import MAX_ORDER, Index

Data = float | Callable[..., Any] | tuple[float | Callable[..., Any], ...]
"""Boundary data: a number, a function of t (and of positions along the face), or one of these per field."""


@dataclass(frozen=True, eq=False)
class Condition:
    """One linear condition on one field at one end of an axis: Σ factorₖ ∂ᵏu/∂nᵏ = data, n outwards."""

    kind: str
    """The name of the class it comes from, for messages."""
    factors: tuple[float, ...]
    """By the order of the derivative; the last is not zero."""
    data: Data
    field: int | None = None
    """The number of the field, where `data` hold one item for each; None where they are for it alone."""
    jump: bool = False
    """Whether the initial data may have another value there."""

    @property
    def order(self) -> int:
        """The highest derivative it uses."""
        return len(self.factors) - 1

    @property
    def signature(self) -> str | list[Any]:
        """Its identity apart from its data."""
        if self.order == 0 and self.factors == (1.0,):
            return "Dirichlet"
        if self.order == 1:
            return "Neumann" if self.factors == (0.0, 1.0) else ["Robin", *self.factors]
        return ["Linear", *self.factors]

    def terms(self, normal: Sequence[Any]) -> list[tuple[Index, Any]]:
        """The left-hand side as Σ factor · ∂u: the derivatives it needs, each with its factor.

        `normal` is the outward normal, as `Domain.normal` gives it.
        """
        power: dict[Index, Any] = {(0,) * (len(normal) + 1): 1.0}
        found: dict[Index, Any] = {}
        for order, factor in enumerate(self.factors):
            if order:
                power = _along(power, normal)
            for index, part in power.items():
                if factor:
                    found[index] = found.get(index, 0.0) + factor * part
        return list(found.items())


def _along(operator: dict[Index, Any], normal: Sequence[Any]) -> dict[Index, Any]:
    """(n · ∇) of an operator Σ factor · ∂."""
    result: dict[Index, Any] = {}
    for index, factor in operator.items():
        for axis, component in enumerate(normal, 1):
            if not (isinstance(component, float) and component == 0):
                higher = tuple(n + (i == axis) for i, n in enumerate(index))
                result[higher] = result.get(higher, 0.0) + factor * component
    return result


def _check_numbers(condition: Any, factors: Sequence[Any]) -> None:
    """Refuse factors that vary, are not known or are not finite."""
    for factor in factors:
        try:
            known = not isinstance(factor, str | bool) and math.isfinite(factor)
        except TypeError:
            known = False
        if not known:
            raise ProblemError(
                f"The factors of a {type(condition).__name__} condition are numbers, but one is "
                f"{factor!r}. Only its data may depend on t and on parameters. The guide on fits says how to "
                "find one."
            )


@dataclass(frozen=True)
class Boundary:
    """A condition along one axis of a box: on one of its ends, on both, or from one end to the other."""

    periodic: ClassVar[bool] = False
    """Whether the solution repeats itself along the axis, which an embedding can hold."""


@dataclass(frozen=True)
class Periodic(Boundary):
    """The solution repeats itself along the axis: u(t, a) = u(t, b), with all derivatives."""

    periodic: ClassVar[bool] = True


@dataclass(frozen=True)
class Prescribed(Boundary):
    """Σ factorₖ ∂ᵏu/∂nᵏ is prescribed, for some numbers and with n pointing outwards."""

    lower: Data
    """A number, a function of t, positions along the face and named parameters, or, for systems, a tuple
    with one of these per field."""
    upper: Data | None = None
    """At the upper end, if the condition is for both; by default the same as at the lower."""

    @property
    @abc.abstractmethod
    def coefficients(self) -> tuple[float, ...]:
        """Factors of the value, of the outward slope, and of higher derivatives."""

    def at(self, end: int) -> Condition:
        """What it asks for at the lower end (0) or the upper (1)."""
        factors = tuple(float(f) for f in self.coefficients)
        while factors and factors[-1] == 0:
            factors = factors[:-1]
        if not factors or not all(math.isfinite(f) for f in factors):
            raise ProblemError(
                f"{type(self).__name__} needs finite factors, not all zero, but has {self.coefficients}."
            )
        data = self.upper if end and self.upper is not None else self.lower
        return Condition(type(self).__name__, factors, data, jump=getattr(self, "jump", False))


@dataclass(frozen=True)
class Dirichlet(Prescribed):
    """The solution is prescribed: u = g.

    `Dirichlet(g)` stands for one end, or for both alike; `Dirichlet(g, h)` for g at the lower end and h at
    the upper. Data are numbers or functions of `t`, of the coordinates along the face, and of named
    parameters; for systems, a tuple with one of these per field.
    """

    _: KW_ONLY
    jump: bool = False
    """Whether the wall is at g from the start, whatever the initial data are there. Needs diffusion."""

    @property
    def coefficients(self) -> tuple[float, ...]:
        return (1.0,)


@dataclass(frozen=True)
class Neumann(Prescribed):
    """The outward slope is prescribed: ∂u/∂n = g, which is −uₓ at a lower end and uₓ at an upper one.

    Data are given as for `Dirichlet`.
    """

    @property
    def coefficients(self) -> tuple[float, ...]:
        return 0.0, 1.0


@dataclass(frozen=True)
class Robin(Prescribed):
    """A mixture is prescribed: value · u + slope · ∂u/∂n = g, with n pointing outwards.

    Data are given as for `Dirichlet`.
    """

    _: KW_ONLY
    value: float = 1.0
    """The factor of u."""
    slope: float = 1.0
    """The factor of ∂u/∂n, not zero."""

    def __post_init__(self) -> None:
        _check_numbers(self, (self.value, self.slope))
        if self.slope == 0:
            raise ProblemError(
                f"A Robin condition needs a slope other than 0, but has value = {self.value!r}, slope = "
                f"{self.slope!r}. Use Dirichlet(…) where the value alone is prescribed."
            )

    @property
    def coefficients(self) -> tuple[float, ...]:
        return float(self.value), float(self.slope)


@dataclass(frozen=True)
class Derivative(Prescribed):
    """A higher outward derivative is prescribed: ∂ᵏu/∂nᵏ = g, as u_xx = 0 where a beam is simply supported.

    Data are given as for `Dirichlet`.
    """

    _: KW_ONLY
    order: int = 2
    """k."""

    def __post_init__(self) -> None:
        if not (isinstance(self.order, int) and 0 <= self.order < MAX_ORDER):
            raise ProblemError(
                f"The order of a prescribed derivative lies between 0 and {MAX_ORDER - 1}, but is "
                f"{self.order!r}."
            )

    @property
    def coefficients(self) -> tuple[float, ...]:
        return (*(0.0,) * self.order, 1.0)


@dataclass(frozen=True)
class Linear(Prescribed):
    """Any sum of outward derivatives is prescribed: Σ factorsₖ ∂ᵏu/∂nᵏ = g, k = 0, 1, ….

    Data are given as for `Dirichlet`.
    """

    _: KW_ONLY
    factors: tuple[float, ...] = (1.0,)
    """Of u, ∂u/∂n, ∂²u/∂n², …"""

    def __post_init__(self) -> None:
        given = self.factors if isinstance(self.factors, Iterable) else (self.factors,)
        object.__setattr__(self, "factors", tuple(given))
        _check_numbers(self, self.factors)
        if len(self.factors) > MAX_ORDER:
            raise ProblemError(
                f"A condition takes at most {MAX_ORDER} factors, but {len(self.factors)} are given."
            )

    @property
    def coefficients(self) -> tuple[float, ...]:
        return self.factors
