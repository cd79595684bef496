"""What training asks of whoever adds neurons to a trained network, which another engine does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..outcome import Function
from .segments import Piecewise


@dataclass(frozen=True)
class Grown:
    """A trained network together with neurons that were added to it."""

    arrays: dict[str, np.ndarray]
    """The function taken apart, for checkpoints."""
    error: float
    """The relative L2 error, as estimated by whoever added them."""


class Grower(Protocol):
    """Adds neurons to the networks of runs."""

    def grow(self, run: int, function: Piecewise, seconds: float | None) -> Grown | None:
        """What a run's network becomes; None where neurons cannot be added, or do not help.

        Args:
            run: its number.
            function: what it has learned.
            seconds: how long this may take.

        Raises:
            KeyboardInterrupt: it was interrupted.
        """
        ...

    def revive(self, run: int, grown: Grown) -> Function:
        """The function of a run that has grown."""
        ...
