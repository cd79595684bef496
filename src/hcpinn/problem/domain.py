"""Where a problem lives: boxes in space, of which an interval is the one-dimensional kind."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import ProblemError

AXES = ("x", "y", "z")
"""Names of the space axes, in order."""


@dataclass(frozen=True, init=False)
class Box:
    """A box of one to three dimensions: `Box((a, b), (c, d))` is a ≤ x ≤ b, c ≤ y ≤ d."""

    bounds: tuple[tuple[float, float], ...]

    def __init__(self, *bounds: tuple[float, float]):
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
    def axes(self) -> tuple[str, ...]:
        """Names of the space axes."""
        return AXES[: len(self.bounds)]

    @property
    def lower(self) -> tuple[float, ...]:
        """Lower end of each axis."""
        return tuple(low for low, _ in self.bounds)

    @property
    def upper(self) -> tuple[float, ...]:
        """Upper end of each axis."""
        return tuple(high for _, high in self.bounds)

    @property
    def lengths(self) -> tuple[float, ...]:
        """Length of each axis."""
        return tuple(high - low for low, high in self.bounds)


def Interval(lower: float, upper: float) -> Box:
    """The interval lower ≤ x ≤ upper, a box of one dimension."""
    return Box((lower, upper))
