"""What an engine hands over: a function, why it stopped, how it came there, and its own error estimate."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from jaxtyping import Array, Float

from .problem import Index
from .trial import Trial

_CURVE = 200
"""About how many steps a thinned history keeps."""


class Stop(enum.Enum):
    """A reason to stop. Its value is the sentence a user reads, its code a number for compiled programs."""

    code: int
    """Never 0, which stands for still running; never reused for another reason."""

    def __new__(cls, code: int, sentence: str) -> Stop:
        """A member written as code and sentence, whose value is the sentence."""
        member = object.__new__(cls)
        member._value_, member.code = sentence, code
        return member

    BUDGET = 1, "The step budget was used up."
    FLAT = 2, "The gradient vanished to within rounding: training can go no further from here."
    PRECISION = (
        3,
        "The line search found no lower point: the loss is as small as this precision and these points "
        "allow.",
    )
    ACCURACY = 4, "Reached the requested accuracy (checked independently)."
    CAUSAL = (
        5,
        "Every causal weight passed its threshold at the last tolerance: the residual is small at all times.",
    )
    NOT_FINITE = (
        6,
        "The loss or its gradient became NaN or infinite; the best parameters so far were kept. "
        "Try a smaller learning rate, or float64.",
    )
    DIVERGED = (
        7,
        "The loss grew to a million times its start; the best parameters so far were kept. "
        "Try a smaller learning rate.",
    )
    TIME = 8, "The time budget was used up; the best found so far was kept."
    INTERRUPTED = 9, "Interrupted; the best found so far was kept."
    DAMPING = (
        10,
        "No damping of the Gauss–Newton step lowered the loss: it is as small as this precision and these "
        "points allow.",
    )
    ESTIMATE = 11, "The estimated error fell below the requested accuracy."
    RANK = (
        12,
        "The largest basis that fits was used; the estimated error is still above the requested accuracy.",
    )
    STALLED = 13, "More features no longer lower the estimated error."
    STUCK = 14, "The time step became too small: the solution may end or blow up there."
    BLOWUP = 15, "The solution grew without bound or became NaN."

    @classmethod
    def from_code(cls, code: int) -> Stop:
        """The reason behind a non-zero code."""
        return next(stop for stop in cls if stop.code == code)

    @property
    def failed(self) -> bool:
        """Whether the engine broke down, rather than came to an end."""
        return self in (Stop.NOT_FINITE, Stop.DIVERGED, Stop.STUCK, Stop.BLOWUP)


@dataclass(frozen=True)
class History:
    """The loss at every step of a run, or at those that were kept."""

    loss: np.ndarray
    """What was minimised: one value per step, over all stages, with all weights in it."""
    stages: tuple[tuple[str, int], ...]
    """Name and number of steps of each stage, in order."""
    terms: Mapping[str, np.ndarray] = field(default_factory=dict)
    """The mean squared mismatch of each term (residual, initial, …), without weights."""
    at: np.ndarray | None = None
    """The numbers of the steps, from 1 on, where not all of them are kept."""

    @property
    def numbers(self) -> np.ndarray:
        """The number of each step that is kept, from 1 on."""
        return np.arange(1, len(self.loss) + 1) if self.at is None else self.at

    def thinned(self) -> History:
        """A few hundred steps of it, dense at the start, then evenly spaced, and the one of lowest loss.

        Values are not smoothed.
        """
        count = len(self.loss)
        if not count or self.at is not None:
            return self
        first, even = np.geomspace(1, count, _CURVE // 4), np.linspace(1, count, _CURVE - _CURVE // 4)
        lowest = 1 + np.argmin(np.where(np.isfinite(self.loss), self.loss, np.inf))
        at = np.unique(np.concatenate([first, even, [lowest]]).round().astype(int))
        terms = {name: np.asarray(values, float)[at - 1] for name, values in self.terms.items()}
        return History(np.asarray(self.loss, float)[at - 1], self.stages, terms, at)


@dataclass(frozen=True)
class PointWeights:
    """Where a weight rule put its weights: at the end of training, for one term of the loss."""

    points: np.ndarray
    """Coordinates (t, x, …), one row per point."""
    weights: np.ndarray


class Function(Protocol):
    """u(t, x), whichever engine found it."""

    engine: ClassVar[str]
    """The name of the engine, by which a file finds the way to read its arrays."""

    @property
    def parameters(self) -> Any:
        """What was found, as a tree of arrays."""
        ...

    def derivative(
        self, points: Float[Array, "points axes"], index: Index
    ) -> Float[Array, "points components"]:
        """A derivative, or the value, at rows (t, x, …); JAX can trace and differentiate it."""
        ...

    def to_arrays(self) -> dict[str, np.ndarray]:
        """What a file needs to make this function again, apart from problem and method."""
        ...


@dataclass(frozen=True)
class Residuals:
    """How well the equation holds, by an engine's own programs."""

    trained: float
    """Root mean square of the residual at the points that the engine made it small at."""
    fresh: float
    """The same at other points."""
    squares: Callable[[np.ndarray], np.ndarray]
    """|residual|² at points (t, x, …) of the problem."""


@dataclass(frozen=True)
class Outcome:
    """What an engine gives for one run."""

    function: Function
    stop: Stop
    history: History
    seconds: float
    residuals: Residuals | None = None
    """None where the engine has no points of its own."""
    estimated_error: float | None = None
    """The relative L2 error as the engine estimates it; None where it cannot."""
    weights: Mapping[str, PointWeights] = field(default_factory=dict)
    trial: Trial | None = None
    """The first trial function, for what its lift alone decides; None where there is none."""
    notes: tuple[str, ...] = ()
    """Remarks on how it came about."""
