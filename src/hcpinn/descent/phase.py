"""What the driver is told to do: phases of training, and where their data come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from ..objective import Batches, Data, Objective, WeightRule
from .optimisers.stage import Stage


@dataclass(frozen=True)
class Phase:
    """One stage on one set of points, or on points that are replaced now and then."""

    stage: Stage
    label: str
    """What a user reads beside the progress bar."""
    every: int = 0
    """Steps after which the points are replaced; 0 for never."""
    new_points: bool = False
    """Whether its points differ from those of the phase before."""
    continues: bool = False
    """Whether its optimiser goes on, on new points, from where that of the phase before stands."""
    closes: bool = False
    """Whether it ends a time window, whose parameters are then final."""


@dataclass(frozen=True)
class Prepared:
    """What a phase, or a part of it between two replacements of points, trains on."""

    objective: Objective
    data: Data
    axes: Any
    """Which arrays of `data` have an axis of runs, from `objective.stack`."""
    points: Float[np.ndarray, "runs points axes"] | None = None
    """Points that were chosen by looking at the residual; None where seed and phase alone decide."""


@runtime_checkable
class Plan(Protocol):
    """A whole training of several runs of one shape."""

    theta: Float[np.ndarray, "runs parameters"]
    """The initial parameters."""
    phases: Sequence[Phase]
    weights: WeightRule | None
    batches: Batches | None

    def satisfied(self, phase: int, theta: np.ndarray) -> np.ndarray:
        """Which runs, at the end of a phase, are as good as was asked for and need no further one."""
        ...

    def pending(self, phase: int) -> str:
        """What `satisfied` has to wait for at the end of a phase, in words; empty if nothing."""
        ...

    def stepped(self) -> None:
        """A block of steps is done: time to look after what goes on beside the training."""
        ...

    def score(self, phase: int, theta: np.ndarray, finished: Sequence[np.ndarray]) -> np.ndarray | None:
        """The loss of each run on points that no phase trains on; None where one phase decides alone."""
        ...

    def prepare(
        self,
        phase: int,
        part: int,
        theta: np.ndarray,
        finished: Sequence[np.ndarray],
        points: np.ndarray | None,
    ) -> Prepared:
        """The data of the given part of a phase.

        `theta` are the parameters now, `finished` those of the time windows that are done, and
        `points` the points if they were chosen already, as they are on resuming.
        """
        ...
