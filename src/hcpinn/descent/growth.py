"""What training asks of whoever adds neurons to a trained network, which another engine does."""

from __future__ import annotations

import abc
from dataclasses import dataclass

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


class Grower(abc.ABC):
    """Adds neurons to the networks of runs."""

    @abc.abstractmethod
    def grow(self, run: int, function: Piecewise, seconds: float | None) -> Grown | None:
        """What a run's network becomes; None where neurons cannot be added, or do not help.

        Args:
            run: its number.
            function: what it has learned.
            seconds: how long this may take.

        Raises:
            KeyboardInterrupt: it was interrupted.
        """

    @abc.abstractmethod
    def revive(self, run: int, grown: Grown) -> Function:
        """The function of a run that has grown."""
