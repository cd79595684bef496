"""Growth of trained networks by evolution: what training asks for, and evolution can do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import descent
from ..descent import Piecewise, Run
from ..evolution import Evolution, Pass, applies, evolve
from ..outcome import Stop
from ..problem import Problem
from ..solution import Grown

FINEST = 1e-12
"""The highest accuracy that an evolution is asked for."""


class Grower(descent.Grower):
    """Adds neurons to trained networks, whose output weights evolve."""

    def __init__(
        self,
        runs: Sequence[Run],
        accuracy: float,
        progress: Callable[[Problem], Callable[[Pass], None]] | None = None,
    ):
        """`progress` makes a function that is told of the passes over a problem."""
        self.runs, self.accuracy, self.progress = runs, within_reach(accuracy), progress

    def grow(self, run: int, function: Piecewise, seconds: float | None) -> descent.Grown | None:
        own = self.runs[run]
        if applies(own.problem) is not None:
            return None
        evolved = evolve(
            own.problem,
            accuracy=self.accuracy,
            seed=own.seed,
            max_seconds=seconds,
            progress=None if self.progress is None else self.progress(own.problem),
            method=Evolution(features=own.method.growth.features),
            added=function.beyond_lift,
        )
        if evolved.stop is Stop.INTERRUPTED:
            raise KeyboardInterrupt
        if evolved.function is None:
            return None
        return descent.Grown(Grown(function, evolved.function).to_arrays(), evolved.estimated_error)

    def revive(self, run: int, grown: descent.Grown) -> Grown:
        own = self.runs[run]
        return Grown.from_arrays(own.problem, own.method, grown.arrays)


def within_reach(accuracy: float) -> float:
    """The accuracy that an evolution is asked for."""
    return min(max(accuracy, FINEST), 0.5)
