"""The phases of a method, one after the other: time windows, lessons within them, stages within these."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from .method import Method
from .phase import Phase


@dataclass(frozen=True)
class Place:
    """Where in the method a phase stands."""

    window: int = 0
    factor: float = 1.0
    """Of the curriculum's parameter."""
    share: float = 1.0
    """Of the window's duration."""
    lesson: int = 0
    """Counts horizons and factors within a window; each has points of its own."""
    ends: bool = False
    """Whether it is the last stage of its lesson."""

    @property
    def whole(self) -> bool:
        """Whether it trains the window as a whole, at the problem's own parameters."""
        return self.share == self.factor == 1.0


def timetable(method: Method) -> tuple[list[Place], list[Phase]]:
    """All phases, and where each stands."""
    factors = method.curriculum.factors if method.curriculum else (1.0,)
    lessons = list(itertools.product(factors, method.horizons))
    places, phases = [], []
    for window in range(method.windows):
        for lesson, (factor, share) in enumerate(lessons):
            for number, stage in enumerate(method.stages):
                place = Place(window, factor, share, lesson, ends=number == len(method.stages) - 1)
                places.append(place)
                phases.append(
                    Phase(
                        stage,
                        _label(method, place, stage.label),
                        every=method.resampling.every if method.resampling else 0,
                        new_points=number == 0 and (window, lesson) != (0, 0),
                        # A first-order stage starts anew, with its schedule and its weights.
                        continues=len(method.stages) == 1 and lesson > 0 and not stage.tolerant,
                        closes=place.ends and lesson == len(lessons) - 1,
                    )
                )
    return places, phases


def _label(method: Method, place: Place, label: str) -> str:
    parts = []
    if method.windows > 1:
        parts.append(f"window {place.window + 1}/{method.windows}")
    if method.curriculum:
        parts.append(f"{method.curriculum.parameter} × {place.factor:g}")
    if len(method.horizons) > 1:
        parts.append(f"to {place.share:.0%} of T")
    return ", ".join([label, *parts])
