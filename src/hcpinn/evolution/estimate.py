"""How large the error is: the difference of two independent passes, and what fresh points find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import Problem
from .basis import refined
from .lift import Carrier
from .pointwise import Pointwise
from .projection import Projection
from .radau import Track

_COMPARED = 65
"""Times at which two passes are compared."""

_LOOKED = {1: (0.03, 0.25, 0.5, 0.75, 1.0), 2: (0.03, 0.5, 1.0), 3: (0.03, 1.0)}
"""Shares of the horizon at which the residual is taken at fresh points, by number of space dimensions."""


@dataclass(frozen=True)
class Solved:
    """One solution of a projected equation."""

    projection: Any
    """What was integrated: a `Projection` on a box, a `RegionSystem` on a curved domain."""
    track: Track


def difference(problem: Problem, old: Solved, new: Solved) -> float:
    """‖u_new − u_old‖ / ‖u_new‖ over space and time, the worst component."""
    times = np.linspace(problem.start, problem.horizon, _COMPARED)
    bases = new.projection.bases
    states = new.track.at(times).T
    change = new.projection._spread(states, (0,) * len(bases))
    values = change + new.projection.psi(times)[0]
    tables = [b.layers.derivatives(n.points, 0)[0] for b, n in zip(old.projection.bases, bases, strict=True)]
    before = old.track.at(times).T.reshape(old.projection.count, *old.projection.ranks, -1)
    change = change - old.projection._along(before, tables).reshape(change.shape)
    weights = new.projection.weights[None, :, None]
    sizes = np.sqrt(np.sum(weights * values**2, axis=(1, 2)))
    gaps = np.sqrt(np.sum(weights * change**2, axis=(1, 2)))
    floor = 1e-3 * sizes.max()
    return float(np.max(gaps / np.maximum(sizes, max(floor, 1e-300))))


def unseen(problem: Problem, pointwise: Pointwise, carrier: Carrier, solved: Solved) -> float:
    """The error that the projection's points miss: its residual at others, propagated by the equation.

    The residual r that a basis leaves is orthogonal to it in the sum over its own points. Over more points it
    is not: e′ = J e + Qᵀ W r makes an error of about (1/T − J)⁻¹ Qᵀ W r.
    """
    bases = [refined(own) for own in solved.projection.bases]
    return propagated(solved, Projection(problem, pointwise, carrier, bases), _LOOKED[len(bases)])


def propagated(solved: Solved, fine: Any, shares: Sequence[float]) -> float:
    """The relative size of (1/T − J)⁻¹ Qᵀ W r, with r at the points of `fine`, at shares of the horizon."""
    coarse, worst = solved.projection, 0.0
    problem = coarse.problem
    for share in shares:
        time = problem.start + share * problem.duration
        at = np.array([time])
        state = np.concatenate([solved.track.at(at, slope=bool(k))[0] for k in range(coarse.order)])
        rate = coarse.rates(at, state[:, None])[:, 0]
        left = fine.residual(time, state, rate)
        worst = max(worst, coarse.size(coarse.response(time, state, left)))
    return worst
