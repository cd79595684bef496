"""The map from z to all measured values, with its slopes: every experiment on a basis of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import NoSolutionError, ProblemError
from ..evolution import Evolution
from ..evolution.limits import Limits
from ..evolution.outcome import Halted
from ..evolution.sensitivity import Flow, Frame, Opened, Places, make_frame
from ..outcome import Stop
from ..problem import Problem
from .layout import Layout
from .measurements import Measurements
from .observation import Observation

_FEATURES = {1: 480, 2: 80, 3: 24}
"""The most features per axis, by dimension, while a search is coarse: it may pass where nothing is smooth."""

_CURVED = 600
"""The same on a curved domain, where features are of all coordinates at once."""

_TOLERANCE = 0.03
"""Of the accuracy of a basis: the error of a time step."""


@dataclass
class _Experiment:
    problem: Problem
    opened: Opened
    observation: Observation
    frame: Frame | None = None
    places: Places | None = None


@dataclass(frozen=True)
class Group:
    """Values that share one noise."""

    experiment: str
    name: str
    rows: np.ndarray
    noise: np.ndarray | None
    """The standard deviation of each where it is known."""


class Model:
    """What all measurements would be at z."""

    def __init__(
        self, problem: Problem, data: Sequence[Measurements], layout: Layout, limits: Limits, seed: int
    ):
        self.layout, self.limits, self.seed = layout, limits, seed
        self.experiments = [_experiment(problem, own, layout) for own in data]
        self.accuracy = np.inf
        self.values = np.concatenate([e.observation.values for e in self.experiments])
        self.groups: list[Group] = []
        first = 0
        for own, experiment in zip(data, self.experiments, strict=True):
            seen = experiment.observation
            for number, name in enumerate(own.values):
                rows = first + np.flatnonzero(seen.label == number)
                noise = seen.noise[rows - first]
                self.groups.append(Group(own.name, name, rows, noise if np.isfinite(noise).all() else None))
            first += len(seen.values)

    def adapt(self, z: np.ndarray, accuracy: float) -> None:
        """Choose bases anew, for solutions of this relative accuracy near z."""
        for number, experiment in enumerate(self.experiments):
            self.limits.check()
            closed = self.layout.closed(experiment.problem, z)
            same = next((e for e in self.experiments[:number] if e.problem is experiment.problem), None)
            if same is not None:
                frame = same.frame
            else:
                frame, evolved = make_frame(
                    experiment.opened,
                    closed,
                    z,
                    accuracy=accuracy,
                    seed=self.seed,
                    limits=self.limits,
                    method=Evolution(features=_most(closed) if accuracy > 1e-3 else None),
                )
                if frame is None:
                    if evolved.stop in (Stop.TIME, Stop.INTERRUPTED):
                        raise Halted(evolved.stop, np.nan)
                    raise NoSolutionError(
                        f"{closed.name} has no solution at {described(self.layout, z)}: {evolved.stop.value}"
                    )
            assert frame is not None
            experiment.frame = frame
            seen = experiment.observation
            experiment.places = frame.places(seen.data.points, seen.indices)
        self.accuracy = accuracy

    def predict(self, z: np.ndarray) -> np.ndarray | None:
        """All measured values at z; None where there is no solution."""
        found = self._evaluated(z, slopes=False)
        return None if found is None else found[0]

    def linearised(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """All measured values at z and their slopes, values × entries of z; None where there is none."""
        return self._evaluated(z, slopes=True)

    def _evaluated(self, z: np.ndarray, *, slopes: bool) -> tuple[np.ndarray, np.ndarray] | None:
        predicted, jacobians = [], []
        flows: dict[int, Flow] = {}
        for experiment in self.experiments:
            self.limits.check()
            frame, places, seen = experiment.frame, experiment.places, experiment.observation
            assert frame is not None
            assert places is not None
            if id(frame) not in flows:
                try:
                    flows[id(frame)] = frame.solve(
                        z, tolerance=_TOLERANCE * self.accuracy, slopes=slopes, limits=self.limits
                    )
                except Halted as halted:
                    if halted.stop in (Stop.TIME, Stop.INTERRUPTED):
                        raise
                    return None
            flow = flows[id(frame)]
            fields = flow.at(places)
            predicted.append(seen.predict(z, fields))
            if slopes:
                jacobians.append(seen.slopes(z, fields, flow.slopes(places)))
        values = np.concatenate(predicted)
        jacobian = np.concatenate(jacobians) if slopes else np.zeros((0, self.layout.size))
        if not (np.isfinite(values).all() and np.isfinite(jacobian).all()):
            return None
        return values, jacobian


def _most(problem: Problem) -> int:
    """The most features of a coarse search."""
    return _FEATURES[len(problem.space)] if problem.domain.product else _CURVED


def _experiment(problem: Problem, data: Measurements, layout: Layout) -> _Experiment:
    for name in data.settings:
        if name in layout.unknowns or name in layout.curves:
            raise ProblemError(f"The {data.name} set '{name}', which is an unknown.")
    own = problem.with_parameters(**data.settings) if data.settings else problem
    nominal = layout.closed(own, layout.start)
    opened = Opened(nominal, layout.values, layout.start)
    return _Experiment(own, opened, Observation(nominal, layout.values, data))


def described(layout: Layout, z: np.ndarray) -> str:
    """The unknowns' values at z, in words."""
    found = layout.values(z)
    numbers = [f"{name} = {float(found[name]):.4g}" for name in layout.names]
    for name, curve in layout.curves.items():
        values = np.asarray(found[name](curve.grid()))
        numbers.append(f"{name} from {values.min():.3g} to {values.max():.3g}")
    return ", ".join(numbers)
