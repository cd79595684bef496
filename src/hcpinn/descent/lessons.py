"""Lessons: over how much of the problem the network trains next, and the rules that put them in order.

A rule changes one thing from lesson to lesson. The schedule asks its rules in turn, the first one most
often; where one has nothing left it starts again, and the next rule moves on by one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ..errors import MethodError, unknown_name

_KINDS = ("fresh", "residual")


@dataclass(frozen=True)
class Lesson:
    """All stages of a method, in turn, over a share of a time window."""

    window: int = 0
    factor: float = 1.0
    """Of the curriculum's parameter."""
    share: float = 1.0
    """Of the window's duration, from its start."""
    repeat: int = 0
    """How many lessons have gone over the whole of this window before."""
    number: int = 0
    """Counts the lessons of a window; each has its own points."""
    growing: bool = False
    """Whether, instead of training, neurons are added whose output weights evolve."""

    @property
    def whole(self) -> bool:
        """Whether it covers its window, with the problem's own parameters."""
        return self.share == self.factor == 1.0


@dataclass(frozen=True)
class Report:
    """What is known when a lesson ends."""

    lesson: Lesson
    good: bool = False
    """Whether the error of each run is estimated to be small enough so far."""
    stalled: bool = False
    """Whether the estimated error is too large and fell too little for more of the same."""


class Rule(Protocol):
    """Decides about one thing that lessons differ in."""

    def first(self, lesson: Lesson) -> Lesson:
        """The lesson with this thing as it is in the beginning."""
        ...

    def next(self, report: Report) -> Lesson | None:
        """The lesson after the one reported, or None where this rule has nothing left to change."""
        ...


@dataclass(frozen=True)
class Growth:
    """Neurons that are added where training stalls above the accuracy, with output weights that evolve.

    The trained network stays as it is, and an evolution carries what it lacks. If both together are not
    accurate enough, training goes on without the addition, which is made anew when it stalls again.
    """

    features: int | None = None
    """How many neurons are added, per axis; by default as many as the accuracy takes."""

    def __post_init__(self) -> None:
        if self.features is not None and not (isinstance(self.features, int) and self.features >= 8):
            raise MethodError(
                f"Growth: features must be a whole number of at least 8, but is {self.features!r}."
            )

    def first(self, lesson: Lesson) -> Lesson:
        return replace(lesson, growing=False)

    def next(self, report: Report) -> Lesson | None:
        if report.good or report.lesson.growing or not report.stalled:
            return None
        return replace(report.lesson, growing=True)


@dataclass(frozen=True)
class Repetition:
    """The whole window again, on other points, until the error is small enough; `most` times in all."""

    most: int

    def first(self, lesson: Lesson) -> Lesson:
        return replace(lesson, repeat=0)

    def next(self, report: Report) -> Lesson | None:
        lesson = report.lesson
        if report.good or not lesson.whole or lesson.repeat + 1 >= self.most:
            return None
        return replace(lesson, repeat=lesson.repeat + 1)


@dataclass(frozen=True)
class Horizons:
    """Growing shares of the window, on one network."""

    shares: tuple[float, ...]

    def first(self, lesson: Lesson) -> Lesson:
        return replace(lesson, share=self.shares[0])

    def next(self, report: Report) -> Lesson | None:
        longer = [share for share in self.shares if share > report.lesson.share]
        return replace(report.lesson, share=longer[0]) if longer else None


@dataclass(frozen=True)
class Curriculum:
    """A parameter of the problem that goes from easy to its own value, on one network.

    All stages run for each of the `factors` of the parameter in turn; the last is 1.
    """

    parameter: str
    """The name of a parameter of the problem."""
    factors: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0)
    """What it is multiplied by, in turn; the last is 1."""

    def __post_init__(self) -> None:
        good = isinstance(self.factors, tuple) and all(
            isinstance(f, int | float) and math.isfinite(f) for f in self.factors
        )
        if not good or not self.factors or self.factors[-1] != 1.0:
            raise MethodError(
                f"A curriculum takes a tuple of factors that ends in 1.0, as in (0.5, 1.0), not "
                f"{self.factors!r}."
            )
        if len(set(self.factors)) < len(self.factors):
            raise MethodError(f"The factors of a curriculum must differ, but are {self.factors!r}.")

    def first(self, lesson: Lesson) -> Lesson:
        return replace(lesson, factor=self.factors[0])

    def next(self, report: Report) -> Lesson | None:
        place = self.factors.index(report.lesson.factor) + 1
        return replace(report.lesson, factor=self.factors[place]) if place < len(self.factors) else None


@dataclass(frozen=True)
class Windows:
    """Time windows, each with its own network."""

    count: int

    def first(self, lesson: Lesson) -> Lesson:
        return replace(lesson, window=0)

    def next(self, report: Report) -> Lesson | None:
        window = report.lesson.window + 1
        return replace(report.lesson, window=window) if window < self.count else None


@dataclass(frozen=True)
class Schedule:
    """The rules of a method, the one that moves on most often first."""

    rules: Sequence[Rule]

    @property
    def first(self) -> Lesson:
        """The lesson that training begins with."""
        return self._restarted(Lesson(), len(self.rules))

    def next(self, report: Report) -> Lesson | None:
        """What to train after the lesson reported; None if nothing."""
        for number, rule in enumerate(self.rules):
            if (found := rule.next(report)) is not None:
                found = self._restarted(found, number)
                same = found.window == report.lesson.window
                return replace(found, number=report.lesson.number + 1 if same else 0)
        return None

    def _restarted(self, lesson: Lesson, count: int) -> Lesson:
        for rule in self.rules[:count]:
            lesson = rule.first(lesson)
        return lesson


@dataclass(frozen=True)
class Resampling:
    """New residual points after every so many steps, and at the start of each lesson."""

    every: int = 1000
    """Steps; 0 for new points only at the start of each lesson."""
    by: str = "fresh"
    """'fresh' for points drawn as the first ones were, 'residual' for more where the residual is large.

    The latter draws `candidates` times as many and keeps each with odds 1 + |r| / mean|r|.
    """
    candidates: int = 3
    """Points drawn for each that is kept, with `by="residual"`."""

    def __post_init__(self) -> None:
        if self.by not in _KINDS:
            raise unknown_name("kind of resampling", self.by, _KINDS)
        if not (isinstance(self.every, int) and self.every >= 0):
            raise MethodError(f"Resampling: every must be a whole number of steps, but is {self.every!r}.")
        if not (isinstance(self.candidates, int) and self.candidates >= 2):
            raise MethodError(f"Resampling: candidates must be at least 2, but is {self.candidates!r}.")
