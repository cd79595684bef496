"""Where a problem lives: what every domain answers to, and the box, in one dimension an interval."""

from __future__ import annotations

import abc
import itertools
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float

from ..errors import ProblemError

AXES = ("x", "y", "z")
"""Names of the space axes, in order."""


class Domain(abc.ABC):
    """A region of one to three dimensions, whose boundary consists of named parts.

    `a | b`, `a & b` and `a - b` are the union, the intersection and the difference of two of them.

    Points are rows of coordinates, in NumPy or JAX arrays unless a type says otherwise. `bounds`, `lower`,
    `upper` and `lengths` describe the bounding box: they scale coordinates and lay out grids.
    """

    bounds: tuple[tuple[float, float], ...]
    """The lower and upper end of each axis."""
    product: ClassVar[bool] = True
    """Whether it is the product of the ranges of its axes, so that conditions belong to ends of axes."""
    cut: Any = None
    """The boundary as a path of matplotlib, by which pictures over the bounding box are cut out."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What makes solutions on it hard, in sentences."""
        return ()

    @property
    @abc.abstractmethod
    def parts(self) -> tuple[str, ...]:
        """Names of the parts of the boundary."""

    @property
    @abc.abstractmethod
    def volume(self) -> float:
        """Length, area or volume."""

    @property
    @abc.abstractmethod
    def signature(self) -> dict[str, Any]:
        """Its identity as plain data."""

    @abc.abstractmethod
    def inside(self, unit: Float[np.ndarray, "points axes"]) -> Float[np.ndarray, "points axes"]:
        """Maps points of the unit cube to points of the domain; evenly spread ones stay evenly spread."""

    @abc.abstractmethod
    def on(self, part: str, unit: Float[np.ndarray, "points along"]) -> Float[np.ndarray, "points axes"]:
        """Maps points of the unit cube of one dimension less to points of a part of the boundary."""

    @abc.abstractmethod
    def normal(self, part: str, points: Any) -> tuple[Any, ...]:
        """The outward normal at points of a part: one number per axis, or an array where it varies."""

    @abc.abstractmethod
    def distance(self, part: str, points: Any) -> Any:
        """How far points of the domain are from a part."""

    @abc.abstractmethod
    def edge_factor(self, parts: Collection[str], points: Any) -> Any:
        """A smooth function, zero on some parts, positive elsewhere, and at most one."""

    @abc.abstractmethod
    def contains(self, points: Float[np.ndarray, "points axes"]) -> Bool[np.ndarray, " points"]:
        """Which points lie inside; those on the boundary may count either way."""

    def mask(self, points: Float[np.ndarray, "points axes"]) -> Bool[np.ndarray, " points"]:
        """Which points of a grid have values: those inside, and those on the boundary but for rounding."""
        return self.contains(points)

    @abc.abstractmethod
    def ends(self, axis: int) -> tuple[str, ...]:
        """The names of the faces at the lower and at the upper end of an axis, if it has such faces."""

    def __or__(self, other: Any) -> Any:
        return self._combined("|", other)

    def __and__(self, other: Any) -> Any:
        return self._combined("&", other)

    def __sub__(self, other: Any) -> Any:
        return self._combined("-", other)

    def _combined(self, operation: str, other: Any) -> Any:
        from .shapes import combined

        return combined(operation, self, other)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the space axes."""
        return AXES[: len(self.bounds)]

    @property
    def dimension(self) -> int:
        """The number of space axes."""
        return len(self.bounds)

    @property
    def lower(self) -> tuple[float, ...]:
        """The lower end of each axis."""
        return tuple(low for low, _ in self.bounds)

    @property
    def upper(self) -> tuple[float, ...]:
        """The upper end of each axis."""
        return tuple(high for _, high in self.bounds)

    @property
    def lengths(self) -> tuple[float, ...]:
        """The length of each axis."""
        return tuple(high - low for low, high in self.bounds)

    def scaled(self, axis: int, x: Any) -> Any:
        """Coordinates along an axis, scaled so that they go from −1 to 1."""
        low, high = self.bounds[axis]
        return (2 * x - (low + high)) / (high - low)


class Shape(Domain):
    """A domain that is no product of its axes, with what joint features and finite elements ask of it."""

    product: ClassVar[bool] = False

    @abc.abstractmethod
    def extent(self, part: str) -> float:
        """The length or area of a part of the boundary."""

    @abc.abstractmethod
    def quadrature(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """About `count` points inside, and their weights."""

    @abc.abstractmethod
    def boundary_quadrature(self, part: str, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """About `count` points on a part, their weights, and the outward normals there."""

    def mask(self, points: Float[np.ndarray, "points axes"]) -> Bool[np.ndarray, " points"]:
        found = self.contains(points)
        if not found.all():
            left = points[~found]
            near = (
                1e-9
                * max(self.lengths)
                * np.array(list(itertools.product((-1, 0, 1), repeat=self.dimension)))
            )
            found[~found] = np.any([self.contains(left + way) for way in near], axis=0)
        return found

    @abc.abstractmethod
    def embedded(self, points: Any) -> Any:
        """What features see of points: coordinates of size one, and what is smooth to them at corners."""


@dataclass(frozen=True, init=False)
class Box(Domain):
    """A box of one to three dimensions: `Box((a, b), (c, d))` is a ≤ x ≤ b, c ≤ y ≤ d.

    Its parts are its faces: `x.lower`, `x.upper`, `y.lower`, …
    """

    bounds: tuple[tuple[float, float], ...]

    def __init__(self, *bounds: tuple[float, float]):
        """`bounds` are the two ends of each axis, the lower first."""
        if not 1 <= len(bounds) <= len(AXES):
            raise ProblemError(
                f"A box has 1 to {len(AXES)} dimensions, but {len(bounds)} pairs of ends were given."
            )
        for axis, pair in zip(AXES, bounds, strict=False):
            try:
                low, high = (float(end) for end in pair)
            except (TypeError, ValueError) as error:
                raise ProblemError(
                    f"A box takes a pair of ends for each axis, as in (0, 1); not {pair!r}."
                ) from error
            if not (math.isfinite(low) and math.isfinite(high)):
                raise ProblemError(f"The ends along {axis}, {low:g} and {high:g}, are not both finite.")
            if not low < high:
                raise ProblemError(
                    f"The domain has no length along {axis}: from {low:g} to {high:g}. "
                    "Give the lower end first."
                )
        object.__setattr__(self, "bounds", tuple((float(a), float(b)) for a, b in bounds))

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(face for axis in range(self.dimension) for face in self.ends(axis))

    @property
    def volume(self) -> float:
        return math.prod(self.lengths)

    @property
    def signature(self) -> dict[str, Any]:
        return {"lower": [end.hex() for end in self.lower], "upper": [end.hex() for end in self.upper]}

    def contains(self, points: Float[np.ndarray, "points axes"]) -> Bool[np.ndarray, " points"]:
        return np.all((points >= np.asarray(self.lower)) & (points <= np.asarray(self.upper)), axis=1)

    def ends(self, axis: int) -> tuple[str, ...]:
        return f"{AXES[axis]}.lower", f"{AXES[axis]}.upper"

    def inside(self, unit: Float[np.ndarray, "points axes"]) -> Float[np.ndarray, "points axes"]:
        low, high = np.asarray(self.lower), np.asarray(self.upper)
        return np.minimum(low + unit * (high - low), high)

    def on(self, part: str, unit: Float[np.ndarray, "points along"]) -> Float[np.ndarray, "points axes"]:
        axis, end = self._face(part)
        points = self.inside(np.insert(unit, axis, 0.0, axis=1))
        points[:, axis] = self.bounds[axis][end]
        return points

    def normal(self, part: str, points: Any) -> tuple[float, ...]:
        axis, end = self._face(part)
        return tuple((-1.0, 1.0)[end] if i == axis else 0.0 for i in range(self.dimension))

    def distance(self, part: str, points: Any) -> Any:
        axis, end = self._face(part)
        x, (low, high) = points[:, axis], self.bounds[axis]
        return high - x if end else x - low

    def edge_factor(self, parts: Collection[str], points: Any) -> Any:
        """Π 4 (x − a)(b − x)/(b − a)² over axes with both faces among the parts, (x − a)/(b − a) for one."""
        factor: Any = 1.0
        for axis, (low, high) in enumerate(self.bounds):
            x, faces = points[:, axis], [face for face in self.ends(axis) if face in parts]
            if len(faces) == 2:
                factor = factor * 4.0 * (x - low) * (high - x) / (high - low) ** 2
            elif faces:
                factor = factor * self.distance(faces[0], points) / (high - low)
        return factor

    def _face(self, part: str) -> tuple[int, int]:
        """The axis that a face ends, and at which end."""
        if part not in self.parts:
            raise ProblemError(f"A box in {len(self.axes)}D has no face '{part}': {', '.join(self.parts)}.")
        return divmod(self.parts.index(part), 2)


def Interval(lower: float, upper: float) -> Box:
    """The interval lower ≤ x ≤ upper, a one-dimensional `Box`."""
    return Box((lower, upper))
