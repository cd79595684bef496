"""Where a problem lives: boxes in space, of which an interval is the one-dimensional kind."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import ProblemError

AXES = ("x", "y", "z")
"""Names of the space axes, in order."""


@dataclass(frozen=True)
class Interval:
    """The interval a ≤ x ≤ b."""

    lower_end: float
    upper_end: float

    def __post_init__(self) -> None:
        a, b = self.lower_end, self.upper_end
        if not (math.isfinite(a) and math.isfinite(b)):
            raise ProblemError(f"Interval({a:g}, {b:g}) is not finite. Give two finite ends.")
        if not a < b:
            raise ProblemError(
                f"Interval({a:g}, {b:g}) has no length. Give the lower end first, below the upper."
            )

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the space axes."""
        return AXES[:1]

    @property
    def lower(self) -> tuple[float, ...]:
        """Lower end of each axis."""
        return (float(self.lower_end),)

    @property
    def upper(self) -> tuple[float, ...]:
        """Upper end of each axis."""
        return (float(self.upper_end),)

    @property
    def lengths(self) -> tuple[float, ...]:
        """Length of each axis."""
        return tuple(b - a for a, b in zip(self.lower, self.upper, strict=True))
