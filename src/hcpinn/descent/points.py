"""The residual points of lessons: by seed and lesson alone, or more of them where the residual is large."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from ..objective import sampling
from ..problem import Problem
from .lessons import Lesson
from .method import Method
from .runs import Run


class Points:
    """Where runs that train together look at the residual."""

    def __init__(self, runs: Sequence[Run], method: Method):
        self.runs, self.method = runs, method

    @property
    def by_residual(self) -> bool:
        """Whether points are chosen by looking at the residual."""
        return self.method.resampling is not None and self.method.resampling.by == "residual"

    def drawn(self, lesson: Lesson, part: int) -> list[np.ndarray]:
        """Points that seed and lesson alone decide, for each run.

        Args:
            lesson: in whose part of time they lie.
            part: how often points have been replaced within the stage.
        """
        fresh = part if self.method.resampling else 0
        number = (lesson.window, lesson.number, fresh)
        purpose = "interior" if number == (0, 0, 0) else f"interior {number}"
        return [self._within(run, lesson, self.method.points, purpose) for run in self.runs]

    def chosen(
        self, lesson: Lesson, part: int, squares: Callable[[int, np.ndarray], np.ndarray]
    ) -> Float[np.ndarray, "runs points axes"]:
        """Points drawn by the size of the residual.

        Args:
            lesson: in whose part of time they lie.
            part: how often points have been replaced within the stage.
            squares: `squares(run, points)` gives |residual|².
        """
        assert self.method.resampling is not None
        many = self.method.resampling.candidates * self.method.points
        purpose = f"by residual {(lesson.window, lesson.number, part)}"
        found = []
        for number, run in enumerate(self.runs):
            candidates = self._within(run, lesson, many, f"candidates {purpose}")
            sizes = squares(number, candidates)
            found.append(
                sampling.by_residual(candidates, sizes, self.method.points, seed=run.seed, purpose=purpose)
            )
        return np.stack(found)

    def interior(
        self, problem: Problem, seed: int, count: int, purpose: str, until: float = 1.0
    ) -> Float[np.ndarray, "points axes"]:
        """`count` points of a problem by the method's sampler, up to a share of its duration."""
        sampler = self.method.sampler
        return sampling.interior(problem, count, seed=seed, sampler=sampler, purpose=purpose, until=until)

    def _within(self, run: Run, lesson: Lesson, count: int, purpose: str) -> np.ndarray:
        """Points in the part of time that a lesson covers."""
        windows = self.method.windows
        points = self.interior(run.problem, run.seed, count, purpose, until=lesson.share / windows)
        points[:, 0] += lesson.window * (run.problem.duration / windows)
        return points
