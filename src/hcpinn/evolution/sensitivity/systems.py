"""The projected equation at any θ on one basis, and the linear one of its sensitivities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...problem import Index
from ..projection import Projection
from ..regions import RegionSystem
from .opened import OpenPointwise, with_values

if TYPE_CHECKING:
    from .frame import Frame

_SMALL = 1e-5
"""The step in θ of differences, where data on slopes at a curved boundary depend on it."""

Tangents = Callable[[np.ndarray], np.ndarray]
"""What the sensitivities' rate of change is, as a function of them."""


class OpenProjection(Projection):
    """The projected equation at one θ, and its derivative by c and θ along given directions."""

    pointwise: OpenPointwise

    def __init__(self, frame: Frame, theta: np.ndarray):
        problem = with_values(frame.opened.problem, frame.opened.named(theta))
        super().__init__(problem, frame.opened.pointwise, frame.carrier, frame.bases)
        self.frame, self.theta = frame, np.asarray(theta, float)
        self._psi = frame.psi

    def psi(self, times: np.ndarray) -> np.ndarray:
        """ψ(θ) and its derivatives at the points."""
        shift = self.frame.shift
        if not shift.moves:
            return super().psi(times)
        key = times.tobytes()
        if key not in self._known:
            self._known = {key: self._psi(times) + shift.over(self.theta, self.frame.base, self.space, times)}
        return self._known[key]

    def begin(self) -> np.ndarray:
        """∂c/∂θ at the start: unknowns × parameters."""
        count = len(self.theta)
        if self._exact or not self.frame.shift.moves:
            return np.zeros((self.unknowns, count))
        psi = self.frame.shift.slopes_over(self.theta, self.space, np.array([self.problem.start]))[:, :, :, 0]
        exact = np.asarray(self.frame.opened.gap_slopes(self.theta, self.space))
        levels = [psi[0], psi[-2]][: self.order]  # component × point × parameter
        gaps = [np.moveaxis(e, 1, 0) - p for e, p in zip(exact, levels, strict=True)]
        return np.concatenate([self._tested(gap).reshape(-1, count) for gap in gaps])

    def tangents(self, times: np.ndarray, states: np.ndarray) -> Tangents:
        """D ↦ (∂f/∂c) D + ∂f/∂θ at given times and states; D is unknowns × times × parameters."""
        values, _ = self._arguments(times, states)
        shift = self.frame.shift
        psi = shift.slopes_over(self.theta, self.space, times) if shift.moves else None
        return _tangents_of(self, values, times, psi)


def _tangents_of(
    system: OpenProjection | OpenRegion, values: np.ndarray, times: np.ndarray, psi: np.ndarray | None
) -> Tangents:
    """The linear map of sensitivities where F has the arguments `values` and ψ the slopes `psi` by θ."""
    pointwise, flat, at = system.pointwise, values.reshape(*values.shape[:2], -1), system._coordinates(times)
    shape, parameters = (len(system.space), len(times)), len(system.theta)
    slopes = pointwise.slopes(flat, at)
    slopes = slopes.reshape(*slopes.shape[:3], *shape)
    own = np.moveaxis(pointwise.by_theta(flat, at).reshape(parameters, system.count, *shape), 0, -1)
    if psi is not None:
        for number in range(len(pointwise.orders)):
            own = own + np.einsum("stxk,sxkp->txkp", slopes[number], psi[number])
        own = own - psi[-1]
    used = [(n, s, t) for n, s, t in np.ndindex(slopes.shape[:3]) if slopes[n, s, t].any()]
    spatial = sorted({pointwise.orders[n] for n, _, _ in used})

    def along(directions: np.ndarray) -> np.ndarray:
        levels = np.split(directions.reshape(system.unknowns, -1), system.order)
        fields = {
            index: system._spread(levels[index[0]], index[1:]).reshape(system.count, *shape, parameters)
            for index in spatial
        }
        rate = own.copy()
        for number, source, target in used:
            rate[target] += (
                slopes[number, source, target][..., None] * fields[pointwise.orders[number]][source]
            )
        tested = system._tested(rate.reshape(system.count, len(system.space), -1))
        found = np.concatenate([*levels[1:], tested.reshape(-1, len(times) * parameters)])
        return found.reshape(system.unknowns, len(times), parameters)

    return along


class OpenRegion(RegionSystem):
    """The same on a curved domain, where the basis also carries what slopes at the boundary ask for."""

    pointwise: OpenPointwise

    def __init__(self, frame: Frame, theta: np.ndarray):
        problem = with_values(frame.opened.problem, frame.opened.named(theta))
        super().__init__(problem, frame.opened.pointwise, frame.carrier, frame.bases)
        self.frame, self.theta = frame, np.asarray(theta, float)
        self._psi = self._lifted(frame.carrier.indices, self.space)

    def _lifted(self, indices: Sequence[Index], points: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """ψ(θ) at places as a function of times."""
        shift, still = self.frame.opened.shift(indices), self.frame.lifted(indices, points)
        if not shift.moves:
            return still
        return lambda times: still(times) + shift.over(self.theta, self.frame.base, points, times)

    def begin(self) -> np.ndarray:
        """∂c/∂θ at the start: unknowns × parameters."""
        count, at = len(self.theta), np.array([self.problem.start])
        if not self.reaches:
            return np.zeros((self.unknowns, count))
        return self.taken_back(lambda component, order: self.missing_slopes(component, at, order), count)

    def tangents(self, times: np.ndarray, states: np.ndarray) -> Tangents:
        """D ↦ (∂f/∂c) D + ∂f/∂θ at given times and states; D is unknowns × times × parameters."""
        shift, psi = self.frame.shift, None
        if shift.moves or self.reaches:
            psi = shift.slopes_over(self.theta, self.space, times) if shift.moves else 0.0
            carried = np.zeros((*self._shape(times), len(self.theta)))
            for component, basis in enumerate(self.bases if self.reaches else ()):
                data = [self.missing_slopes(component, times, order) for order in range(self.order + 1)]
                for number, index in enumerate(self.carrier.indices):
                    carried[number, component] = np.tensordot(basis.carried[index[1:]], data[index[0]], 1)
            psi = psi + carried
        return _tangents_of(self, self._arguments(states, self.psi(times)), times, psi)

    def missing_slopes(self, component: int, times: np.ndarray, order: int = 0) -> np.ndarray:
        """∂h/∂θ: points of the conditions × times × parameters."""
        found = [
            (above.missing(component, times, order) - below.missing(component, times, order)) / (2 * _SMALL)
            for below, above in self._beside
        ]
        return np.stack(found, axis=-1)

    @cached_property
    def _beside(self) -> list[tuple[OpenRegion, OpenRegion]]:
        """The systems a little below and above θ, along each parameter."""
        units = _SMALL * np.eye(len(self.theta))
        return [
            (OpenRegion(self.frame, self.theta - u), OpenRegion(self.frame, self.theta + u)) for u in units
        ]

    @cached_property
    def reaches(self) -> bool:
        """Whether data on slopes, or what the lift leaves of them, depend on θ."""
        times = np.linspace(self.problem.start, self.problem.horizon, 5)
        return any(
            bool(np.any(self.missing_slopes(number, times)))
            for number, basis in enumerate(self.bases)
            if basis.held
        )
