"""What F, the sources and the data do of their own accord in time and in space.

The parts of F that depend on coordinates alone are picked out of its program and followed along each axis
with interval bounds, and so are initial and boundary data: jumps, kinks, pulses of any width, and how fast
they change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import ProblemError
from ..machine.precision import double
from ..problem import Problem
from .mesh import CROWD, Feature, Mesh
from .parts import Equation, Part, data_parts

_TIMES = 512
"""Features in time that one function may have, each of which is a break."""

_WHOLE = 8.0
"""Swings that the whole area under a function counts for: a pulse may be low beside others, and matter."""

_BOTH = 1e-9
"""Relative distance within which two features are one."""


@dataclass(frozen=True)
class Line:
    """What happens along one axis."""

    low: float
    high: float
    features: tuple[Feature, ...]
    """Jumps, kinks and pulses that stay where they are, in order."""
    curves: tuple[tuple[np.ndarray, np.ndarray], ...]
    """For each part of F and each datum its cuts, and the sum of its changes up to there over its range; and
    the same for the area under it."""
    moving: float
    """The shortest length of features that move along the axis in the course of another; infinite without."""

    @property
    def breaks(self) -> list[float]:
        """Where an integrator has to stop and a panel to end: jumps, and begin, middle and end of pulses."""
        places = {p for f in self.features for p in (f.begin, f.middle, f.end)}
        least = 1e-13 * max(abs(self.low), abs(self.high), self.high - self.low)
        found = [self.low]
        for place in sorted(places):
            if place - found[-1] > least and self.high - place > least:
                found.append(place)
        return found[1:]

    @property
    def tapered(self) -> list[float]:
        """The breaks, and more of them at growing distances from pulses, whose feet may be long."""
        places = set(self.breaks)
        for feature in self.features:
            reach = feature.end - feature.begin
            while 0 < reach < (self.high - self.low) / 16:
                places |= {feature.begin - reach, feature.end + reach}
                reach *= 4
        return sorted(p for p in places if self.low < p < self.high)

    @property
    def jumps(self) -> list[float]:
        """Places of jumps and kinks."""
        return [f.begin for f in self.features if f.length == 0]

    @property
    def shortest(self) -> float:
        """The shortest length of a pulse; infinite without."""
        return min((f.length for f in self.features if f.length > 0), default=np.inf)

    def quadrature(self) -> tuple[np.ndarray, np.ndarray]:
        """Places between the breaks, some of them in every pulse, and the length that each stands for."""
        edges = np.array([self.low, *self.tapered, self.high])
        each = max(3, math.ceil(33 / (len(edges) - 1)))
        shares = (np.arange(each) + 0.5) / each
        places = edges[:-1, None] + np.diff(edges)[:, None] * shares
        return places.ravel(), np.repeat(np.diff(edges) / each, each)

    def swings(self, begin: Any, end: Any) -> Any:
        """How often something goes through its whole range between two places: the most of all."""
        found: Any = np.zeros(np.broadcast_shapes(np.shape(begin), np.shape(end)))
        for edges, total in self.curves:
            found = np.maximum(found, np.interp(end, edges, total) - np.interp(begin, edges, total))
        return found

    def reach(self, begin: float, swings: float) -> float:
        """How far from a place on nothing goes through more than so many times its range."""
        end = self.high
        for edges, total in self.curves:
            limit = float(np.interp(begin, edges, total)) + swings
            if limit < total[-1]:
                end = min(end, float(np.interp(limit, total, edges)))
        return end - begin


@dataclass(frozen=True)
class Scan:
    """What happens along each axis, time first."""

    lines: tuple[Line, ...]
    jumps_in_state: bool
    """Whether F jumps as a function of the solution, as `np.where(u > 0, 1, −1)` does."""

    @property
    def time(self) -> Line:
        return self.lines[0]

    @property
    def space(self) -> tuple[Line, ...]:
        return self.lines[1:]


_KNOWN: WeakKeyDictionary[Problem, Scan] = WeakKeyDictionary()


def scan(problem: Problem) -> Scan:
    """Follow F, the initial and the boundary data along every axis."""
    if problem not in _KNOWN:
        with double():
            _KNOWN[problem] = _scan(problem)
    return _KNOWN[problem]


def _scan(problem: Problem) -> Scan:
    equation = Equation(problem)
    parts: list[Part] = [equation, *data_parts(problem)]
    ends = [(problem.start, problem.horizon), *problem.domain.bounds]
    if equation.differentiates_jump(ends):
        raise ProblemError(
            f"The right-hand side of {problem.name} differentiates a quantity that jumps in space, such as "
            "(np.where(x < 0.5, 1, 0.1) * u.x).x. The derivative of a jump is a point source, which values "
            "at points cannot hold. Smooth the jump over a short length, as in "
            "0.55 - 0.45 * np.tanh((x - 0.5) / 0.01)."
        )
    lines = []
    for axis, (low, high) in enumerate(ends):
        meshes = [part.along(axis, ends) for part in parts]
        known = problem.breaks.get(problem.axes[axis], ())
        lines.append(_line(low, high, [m for m in meshes if m is not None], known, CROWD if axis else _TIMES))
    return Scan(tuple(lines), equation.jumps_in_state(ends))


def _line(low: float, high: float, meshes: list[tuple[Mesh, int]], known: Iterable[float], most: int) -> Line:
    fixed = [Feature(float(p), float(p), 0.0) for p in known if low < p < high]
    curves, moving = [], np.inf
    for mesh, columns in meshes:
        found = mesh.features(most)
        for first in range(0, len(found), columns):
            whole, *probes = found[first : first + columns]
            fixed += whole
            for number, own in enumerate(probes):
                others = [f for n, p in enumerate(probes) if n != number for f in p] + whole
                for feature in own:
                    if any(_near(feature, o, high - low) for o in others):
                        fixed.append(feature)
                    else:
                        moving = min(moving, feature.length)
        totals = [np.cumsum(rows, axis=1) for rows in (mesh.changes, _WHOLE * mesh.areas)]
        varying = totals[0][:, -1] > 0
        curves += [(mesh.edges, np.insert(row, 0, 0.0)) for total in totals for row in total[varying]]
    return Line(low, high, tuple(_united(fixed, high - low)), tuple(curves), moving)


def _near(one: Feature, other: Feature, span: float) -> bool:
    return one.begin <= other.end + _BOTH * span and other.begin <= one.end + _BOTH * span


def _united(features: list[Feature], span: float) -> list[Feature]:
    """Pulses that overlap as one; jumps each once."""
    found: list[Feature] = []
    for feature in sorted(features, key=lambda f: (f.length > 0, f.begin)):
        last = found[-1] if found else None
        if last and (last.length > 0) == (feature.length > 0) and feature.begin <= last.end + 1e-14 * span:
            found[-1] = Feature(last.begin, max(last.end, feature.end), min(last.length, feature.length))
        else:
            found.append(feature)
    return sorted(found, key=lambda f: f.begin)
