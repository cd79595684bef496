"""What one pass of an evolution does on a region: a fresh basis, its equation, and how two passes differ."""

from __future__ import annotations

import math
from functools import cached_property
from typing import cast

import numpy as np

from ...problem import Index, Problem, Shape
from ..dense import tolerable_growth
from ..estimate import Solved, propagated
from ..lift import Carrier
from ..limits import Limits
from ..pointwise import Pointwise
from .basis import conditions_of, gated_parts, make_basis, moved
from .function import RegionFunction, assemble
from .layer import sample
from .system import RegionSystem

Pairs = tuple[np.ndarray, np.ndarray]
"""Points between which a solution changes fast, two arrays of rows."""

_ROOM = 2.6
"""Points per feature."""

_CANDIDATES, _LOOKED = 6000, 33
"""Pairs among which fronts are looked for, and times at which."""

_STEEP = 1.0
"""Changes of a solution over the distance of features above which it has fronts: bells resolve all others."""

_COMPARED = 33

_TABLES = 9
"""Matrices of points × features that a basis holds at once while it is made."""


class RegionSpace:
    """Passes over a curved domain, for the engine."""

    first, most = 300, 3100
    """Features in the first pass, and the most, where memory has room for them."""
    helpful = 0.75
    """The factor by which more features lower the estimate, if they help; all axes share them."""

    def __init__(
        self,
        problem: Problem,
        carrier: Carrier,
        pointwise: Pointwise,
        limits: Limits,
        seed: int = 0,
        accuracy: float = 1e-6,
    ):
        self.problem, self.carrier, self.pointwise = problem, carrier, pointwise
        self.limits, self.seed, self.accuracy = limits, seed, accuracy
        self.pairs: Pairs | None = None
        """Where the previous pass found fronts."""
        self.indices: list[Index] = sorted({i[1:] for i in carrier.indices})

    def projection(self, count: int, number: int) -> RegionSystem:
        """The projected equation on a fresh sample; without steep features if these make it unstable."""
        system = self._on(count, self.pairs, number)
        if self.pairs is not None and system.growth() > self._tolerable:
            self.limits.check()
            system = self._on(count, None, number)
        return system

    def takes(self, count: int, last: Solved) -> float:
        """The approximate bytes of a pass with so many features."""
        kinds = {id(b): len(b.layer.mix) for b in last.projection.bases}
        grown = count / max(kinds.values())
        tables = _TABLES * len(kinds) * _ROOM * count**2
        return 8.0 * (tables + (3 + last.track.stages) * (grown * last.projection.unknowns) ** 2)

    @cached_property
    def _tolerable(self) -> float:
        return tolerable_growth(self._on(self.first, None, 0).growth(), self.problem.duration)

    def _on(self, count: int, pairs: Pairs | None, number: int) -> RegionSystem:
        problem, domain = self.problem, cast(Shape, self.problem.domain)
        points, weights = domain.quadrature(round(_ROOM * count * (1.0 if number % 2 else 1.1)))
        kinds = {}
        bases = []
        for field in problem.component_fields:
            conditions = conditions_of(problem, field)
            if conditions not in kinds:
                rng = np.random.default_rng([self.seed, number])
                layer = sample(domain, gated_parts(conditions), count, pairs, rng, self.accuracy)
                kinds[conditions] = make_basis(problem, conditions, layer, points, weights, self.indices)
                self.limits.check()
            bases.append(kinds[conditions])
        return RegionSystem(problem, self.pointwise, self.carrier, bases)

    def adapt(self, solved: Solved) -> None:
        """Pairs of points by how much the solution changes between them, if it has fronts."""
        system, domain = solved.projection, self.problem.domain
        rng = np.random.default_rng(0)
        a = domain.inside(rng.random((_CANDIDATES, domain.dimension)))
        reach = max(domain.lengths) * np.exp(rng.uniform(math.log(0.02), math.log(0.5), (_CANDIDATES, 1)))
        way = rng.standard_normal(a.shape)
        b = a + reach * way / np.linalg.norm(way, axis=1, keepdims=True)
        good = domain.contains(b)
        a, b = a[good], b[good]
        times = np.linspace(self.problem.start, self.problem.horizon, _LOOKED)
        function = assemble(system, solved.track)
        zero = (0,) * (1 + domain.dimension)
        change = np.abs(function.on_points(times, a, zero) - function.on_points(times, b, zero))
        sizes = np.maximum(change.max(axis=(1, 2)), self.accuracy * system.scale)
        rate = (change / sizes[:, None, None]).max(axis=(0, 1)) / np.linalg.norm(b - a, axis=1)
        apart = (domain.volume / len(system.bases[0].layer.mix)) ** (1 / domain.dimension)
        steepest = np.quantile(rate, 0.99) * apart
        chosen = rng.choice(len(a), 4 * self.most, p=rate / rate.sum())
        self.pairs = (a[chosen], b[chosen]) if steepest > _STEEP else None

    def difference(self, old: Solved, new: Solved) -> float:
        """‖u_new − u_old‖ / ‖u_new‖ over space and time, the worst component."""
        times = np.linspace(self.problem.start, self.problem.horizon, _COMPARED)
        system = new.projection
        zero = (0,) * (1 + self.problem.domain.dimension)
        before, now = (
            assemble(s.projection, s.track).on_points(times, system.space, zero) for s in (old, new)
        )
        gaps, sizes = (np.sqrt(np.sum(system.weights * v**2, axis=(1, 2))) for v in (now - before, now))
        return float(np.max(gaps / np.maximum(sizes, max(1e-3 * float(sizes.max()), 1e-300))))

    def unseen(self, solved: Solved) -> float:
        """The residual at other points, carried on by the equation: see `estimate.unseen`."""
        coarse = solved.projection
        domain = cast(Shape, self.problem.domain)
        points, weights = domain.quadrature(round(1.7 * len(coarse.space)))
        kinds = {id(b): b for b in coarse.bases}
        fresh = {key: moved(basis, points, weights) for key, basis in kinds.items()}
        fine = RegionSystem(self.problem, self.pointwise, self.carrier, [fresh[id(b)] for b in coarse.bases])
        return propagated(solved, fine, (0.03, 0.5, 1.0))

    def function(self, solved: Solved) -> RegionFunction:
        """The solution as a function."""
        return assemble(solved.projection, solved.track)
