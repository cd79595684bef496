"""What one pass of an evolution does on a box: a basis along each axis, and features where fronts are."""

from __future__ import annotations

import zlib
from functools import cached_property

import numpy as np

from ..problem import Problem
from .adapt import densities
from .basis import Bases, orthonormal, quadrature
from .breaks import find_places
from .estimate import Solved, difference, unseen
from .evolved import Function, assemble
from .features import sample
from .lift import Carrier
from .limits import Limits
from .pointwise import Pointwise
from .projection import Projection
from .walls import walls_along

Density = tuple[np.ndarray, np.ndarray]

_FIRST = {1: 160, 2: 28, 3: 12}
"""Features per axis in the first pass, by number of space dimensions."""

_MOST = {1: 1600, 2: 240, 3: 72}

_STEEP = 40.0
"""Changes of a solution along an axis above which it has fronts."""

_FINER = (1, 2, 4)
"""How many times as many points are tried where a basis with fronts makes the equation unstable."""

_RISE = 10.0
"""e to this power is what rounding may grow to over the horizon by a basis alone."""


class Axes:
    """Passes over a box: features per axis, whose products are the basis."""

    def __init__(self, problem: Problem, carrier: Carrier, pointwise: Pointwise, limits: Limits, seed: int):
        self.problem, self.carrier, self.pointwise = problem, carrier, pointwise
        self.limits, self.seed = limits, seed
        self.dimensions = len(problem.space)
        self.first, self.most = _FIRST[self.dimensions], _MOST[self.dimensions]

    def places(self) -> list[Density | None]:
        """Where features are needed that F and the data ask for of themselves, by axis."""
        return [find_places(self.problem, axis) for axis in range(self.dimensions)]

    def adapted(self, solved: Solved, given: list[Density | None], accuracy: float) -> list[Density | None]:
        """Where the next pass needs features, by axis."""
        found = densities(solved.projection, solved.track, accuracy)
        return [_larger(self._uneven(d), g) for d, g in zip(found, given, strict=True)]

    def difference(self, old: Solved, new: Solved) -> float:
        """By how much two passes differ."""
        return difference(self.problem, old, new)

    def unseen(self, solved: Solved) -> float:
        """What a pass's own points do not see."""
        return unseen(self.problem, self.pointwise, self.carrier, solved)

    def function(self, solved: Solved, spare: float) -> Function:
        """The solution as a function, without what contributes no more than `spare`."""
        layers = [own.layers for own in solved.projection.bases]
        return assemble(self.carrier, layers, solved.track, len(self.problem.components), spare)

    def _uneven(self, density: Density) -> Density | None:
        """The density where it asks for fronts; none where even features serve as well."""
        x, values = density
        length = x[-1] - x[0]
        return density if values.max() * length > _STEEP else None

    def projection(self, count: int, density: list[Density | None], number: int) -> Projection:
        """The projected equation on a fresh sample; with more points, or no fronts, where it is unstable.

        Panels that leave out too much of the products of steep functions make an equation unstable that
        conserves: the eigenvalues of its linear part tell before a step is taken.
        """
        for finer in _FINER if any(d is not None for d in density) else ():
            projection = self._on(count, density, number, finer)
            if projection.growth() <= self._tolerable:
                return projection
        return self._on(count, [None] * self.dimensions, number, 1)

    def _on(self, count: int, density: list[Density | None], number: int, finer: int) -> Projection:
        bases = []
        for axis, own in enumerate(density):
            bases.append(self._along(axis, count, own, number, finer))
            self.limits.check()
        return Projection(self.problem, self.pointwise, self.carrier, bases)

    @cached_property
    def _tolerable(self) -> float:
        """The rate of growth that a basis may have: twice that with even features, and a little."""
        even = self._on(_FIRST[self.dimensions], [None] * self.dimensions, 0, 1)
        return 2 * max(even.growth(), 0.0) + _RISE / self.problem.duration

    def _along(self, axis: int, count: int, density: Density | None, number: int, finer: int) -> Bases:
        problem = self.problem
        periodic = problem.boundaries[axis].periodic
        low, high = problem.domain.bounds[axis]
        key = [zlib.crc32(problem.space[axis].encode()), self.seed, number]
        walls, of = walls_along(problem, axis)
        layers = [
            sample(
                count,
                low,
                high,
                periodic=periodic,
                wall=wall,
                density=density,
                steepest=2.0,
                rng=np.random.default_rng(key),
            )
            for wall in walls
        ]
        if density is not None and periodic:  # periodic fronts come in pairs, half a period apart
            x, values = density
            density = x, np.maximum(values, np.interp(x + (high - low) / 2, x, values, period=high - low))
        room = (2.0 if density is None else 2.5 * finer) if self.dimensions == 1 else 1.5 * finer
        points, weights = quadrature(int(room * count), low, high, periodic=periodic, density=density)
        order = max(index[axis + 1] for index in problem.derivatives)
        cut = 1e-13 if self.dimensions == 1 else 1e-10
        kinds = [orthonormal(each, points, weights, order=max(order, 2), cut=cut) for each in layers]
        return Bases.join(kinds, of)


def _larger(one: Density | None, other: Density | None) -> Density | None:
    """The larger of two densities at every place."""
    if one is None or other is None:
        return other if one is None else one
    x = np.union1d(one[0], other[0])
    return x, np.maximum(np.interp(x, *one), np.interp(x, *other))
