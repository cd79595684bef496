"""In what order a problem is put before the network: points anew, easier parameters first."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import MethodError, unknown_name

_KINDS = ("fresh", "residual")


@dataclass(frozen=True)
class Resampling:
    """New residual points after every so many steps, and at the start of each new horizon or parameter."""

    every: int = 1000
    """Steps; 0 for new points only at each new horizon or parameter."""
    by: str = "fresh"
    """'fresh' for points drawn as the first ones were, 'residual' for more where the residual is large.

    The latter draws `candidates` times as many and keeps each with odds 1 + |r| / mean|r|.
    """
    candidates: int = 3

    def __post_init__(self) -> None:
        if self.by not in _KINDS:
            raise unknown_name("kind of resampling", self.by, _KINDS)
        if not (isinstance(self.every, int) and self.every >= 0):
            raise MethodError(f"Resampling: every must be a whole number of steps, but is {self.every!r}.")
        if not (isinstance(self.candidates, int) and self.candidates >= 2):
            raise MethodError(f"Resampling: candidates must be at least 2, but is {self.candidates!r}.")


@dataclass(frozen=True)
class Curriculum:
    """A parameter of the problem that goes from easy to its own value, on one network.

    All stages run for each of the `factors` of the parameter in turn; the last is 1.
    """

    parameter: str
    factors: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0)

    def __post_init__(self) -> None:
        good = isinstance(self.factors, tuple) and all(
            isinstance(f, int | float) and math.isfinite(f) for f in self.factors
        )
        if not good or not self.factors or self.factors[-1] != 1.0:
            raise MethodError(
                f"A curriculum takes a tuple of factors that ends in 1.0, as in (0.5, 1.0), not "
                f"{self.factors!r}."
            )
