"""The projected equation on a region: c′ = Qᵀ W [F(ψ + Q c) − ψₜ], one dense basis for each component.

ψ is the lift and, where conditions on slopes have data, the functions R h(t) that carry what the lift leaves
of them. For uₜₜ = F the state is (c, c′).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...problem import Index, Problem
from ..dense import Solvers, growth_rate, shifted_solvers
from ..lift import Carrier
from ..motion import calming, tempo
from ..pointwise import Pointwise
from .basis import RegionBasis, wanted

_TICK = 1e-4
"""The share of the duration over which data on slopes are differentiated."""


class RegionSystem:
    """The evolution of c; its unknowns are ordered by component."""

    iterations = 12
    dense = True
    """Whether solvers of the linearised equation are exact, and take several right-hand sides at once."""

    def __init__(
        self, problem: Problem, pointwise: Pointwise, carrier: Carrier, bases: Sequence[RegionBasis]
    ):
        """`bases` has one for each component."""
        self.problem, self.pointwise, self.carrier, self.bases = problem, pointwise, carrier, tuple(bases)
        self.count, self.order = len(problem.components), problem.order
        self.space, self.weights = bases[0].points, bases[0].weights
        self.edges = np.concatenate([[0], np.cumsum([b.rank for b in bases])])
        self._psi = carrier.on(self.space)
        self._lifts: dict[int, list[Callable[[np.ndarray], np.ndarray]]] = {}
        self._known: dict[bytes, np.ndarray] = {}
        self._scale = np.zeros(self.count)
        self.tempo = tempo(problem) if self.order == 2 else 0.0

    def _lifted(self, indices: Sequence[Index], points: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """ψ at places as a function of times."""
        return self.carrier.of(indices).on(points)

    @property
    def unknowns(self) -> int:
        return self.order * int(self.edges[-1])

    @property
    def scale(self) -> np.ndarray:
        """The L² size of each component so far, at least a thousandth of the largest."""
        floor = 1e-3 * self._scale.max() if self._scale.any() else 1.0
        return np.maximum(self._scale, floor)

    def start(self) -> np.ndarray:
        """The state at t₀: ψ starts at the initial data, and the basis takes back what carries data there."""
        place = [jnp.asarray(c) for c in self.space.T]
        exact = np.asarray(self.problem.to_components(self.problem.initial_values(place))).T
        sizes = np.sqrt((exact**2) @ self.weights)
        if self.order == 2:
            moving = np.asarray(self.problem.to_components(self.problem.initial_velocities(place))).T
            sizes = np.maximum(sizes, np.sqrt((moving**2) @ self.weights) / self.tempo)
        at = 0
        for is_complex in self.problem.complex_fields:
            width = 2 if is_complex else 1
            sizes[at : at + width] = np.linalg.norm(sizes[at : at + width])
            at += width
        self._scale = sizes
        at = np.array([self.problem.start])
        return self.taken_back(lambda component, order: self.missing(component, at, order))[:, 0]

    def taken_back(self, data: Callable[[int, int], np.ndarray], columns: int = 1) -> np.ndarray:
        """The state that makes R h as small as the basis allows at t₀: unknowns × columns.

        Where the initial data miss a condition on a slope, a thin layer is left; else h is zero there.
        """
        state = np.zeros((self.unknowns, columns))
        for level, (k, basis) in itertools.product(range(self.order), enumerate(self.bases)):
            if basis.held:
                first = level * self.edges[-1] + self.edges[k]
                carried = basis.reach @ data(k, level).reshape(-1, columns)
                state[first : first + basis.rank] = -basis.null.T @ carried
        return state

    def size(self, change: np.ndarray) -> float:
        """The L² size of a change relative to each component's; the worst counts."""
        worst = 0.0
        for level, part in enumerate(np.split(change, self.order)):
            if level:
                part = self._calming @ part
            for k, scale in enumerate(self.scale):
                own = np.linalg.norm(part[self.edges[k] : self.edges[k + 1]])
                worst = max(worst, float(own) / (scale * (self.tempo if level else 1.0)))
        return worst

    @cached_property
    def _calming(self) -> np.ndarray:
        return calming(-self.jacobian(self.problem.start, np.zeros(self.unknowns)), self.tempo)

    def rates(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """The state's rate of change at several times: unknowns × times."""
        rate = self._force(times, states)
        return np.concatenate([*np.split(states, self.order)[1:], self._tested(rate)])

    def _force(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """F − ∂ₜⁿψ at the points: components × points × times."""
        psi = self.psi(times)
        values = self._arguments(states, psi)
        flat = values.reshape(*values.shape[:2], -1)
        rate = self.pointwise(flat, self._coordinates(times))
        return rate.reshape(self.count, len(self.space), len(times)) - psi[-1]

    def residual(self, time: float, state: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Qᵀ W [F − uₜ] where the state's rate is given."""
        force = self._force(np.array([time]), state[:, None])
        last = np.split(rate[:, None], self.order)[-1]
        left = self._tested(force - self._spread(last, (0,) * self.space.shape[1]))[:, 0]
        return np.concatenate([np.zeros(len(left) * (self.order - 1)), left])

    def _arguments(self, states: np.ndarray, psi: np.ndarray) -> np.ndarray:
        levels = np.split(states, self.order)
        each = [
            psi[number] + self._spread(levels[index[0]], index[1:])
            for number, index in enumerate(self.pointwise.orders)
        ]
        return np.stack(each)

    def _spread(self, level: np.ndarray, index: tuple[int, ...]) -> np.ndarray:
        parts = [level[a:b] for a, b in zip(self.edges, self.edges[1:], strict=False)]
        return np.stack([b.values[index] @ part for b, part in zip(self.bases, parts, strict=True)])

    def _tested(self, rate: np.ndarray) -> np.ndarray:
        zero = (0,) * self.space.shape[1]
        weighted = self.weights[:, None] * rate.reshape(self.count, len(self.space), -1)
        return np.concatenate([b.values[zero].T @ r for b, r in zip(self.bases, weighted, strict=True)])

    def _coordinates(self, times: np.ndarray) -> np.ndarray:
        t = np.broadcast_to(times, (len(self.space), len(times))).ravel()
        return np.stack([t, *np.repeat(self.space, len(times), axis=0).T])

    def values(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """u at the points: components × points × times."""
        level = np.split(states, self.order)[0]
        return self.psi(times)[0] + self._spread(level, (0,) * self.space.shape[1])

    def psi(self, times: np.ndarray) -> np.ndarray:
        """ψ and its derivatives at the points: those that F uses, then those in time."""
        key = times.tobytes()
        if key not in self._known:
            found = np.array(np.broadcast_to(self._psi(times), self._shape(times)))
            for component, basis in enumerate(self.bases):
                if basis.held:
                    found[:, component] += self._carried(component, basis, times)
            self._known = {key: found}
        return self._known[key]

    def _shape(self, times: np.ndarray) -> tuple[int, ...]:
        return len(self.carrier.indices), self.count, len(self.space), len(times)

    def _carried(self, component: int, basis: RegionBasis, times: np.ndarray) -> np.ndarray:
        """R h and its derivatives at the points."""
        data = [self.missing(component, times, order) for order in range(self.order + 1)]
        return np.stack([basis.carried[i[1:]] @ data[i[0]] for i in self.carrier.indices])

    def missing(self, component: int, times: np.ndarray, order: int = 0) -> np.ndarray:
        """h, or a derivative of it in time: what the lift leaves of the data at the points of conditions."""
        tick = _TICK * self.problem.duration
        if not self._moves:
            still = self._missing(component, times[:1])
            return np.repeat(0 * still if order else still, len(times), axis=1)
        if order == 0:
            return self._missing(component, times)
        far = [self._missing(component, times + k * tick) for k in (-2, -1, 0, 1, 2)]
        if order == 1:
            return (far[0] - 8 * far[1] + 8 * far[3] - far[4]) / (12 * tick)
        return (-far[0] + 16 * far[1] - 30 * far[2] + 16 * far[3] - far[4]) / (12 * tick**2)

    @cached_property
    def _moves(self) -> bool:
        """Whether what the lift leaves of data on slopes depends on time."""
        times = np.linspace(self.problem.start, self.problem.horizon, 9)
        each = [self._missing(k, times) for k, b in enumerate(self.bases) if b.held]
        return any(np.ptp(h, axis=1).max() > 1e-13 * max(np.abs(h).max(), 1e-300) for h in each)

    def _missing(self, component: int, times: np.ndarray) -> np.ndarray:
        basis = self.bases[component]
        if component not in self._lifts:
            self._lifts[component] = [
                self._lifted([(0, *index) for index, _ in own.terms], own.points) for own in basis.held
            ]
        found = []
        for own, lift in zip(basis.held, self._lifts[component], strict=True):
            total = wanted(self.problem, own, component, times)
            psi = lift(times)
            for (_, factor), value in zip(own.terms, psi, strict=True):
                total = total - factor[:, None] * value[component]
            found.append(own.root[:, None] * total)
        return np.concatenate(found)

    def jacobian(self, time: float, state: np.ndarray, level: int = 0) -> np.ndarray:
        """The derivative of c′ by c, or of d′ by c (`level` 0) or d (1)."""
        times = np.array([time])
        values = self._arguments(state[:, None], self.psi(times))[..., 0]
        slopes = self.pointwise.slopes(values, self._coordinates(times))
        zero, e = (0,) * self.space.shape[1], self.edges
        result = np.zeros((e[-1], e[-1]))
        for source, basis in enumerate(self.bases):
            for target, other in enumerate(self.bases):
                total: Any = None
                for number, index in enumerate(self.pointwise.orders):
                    slope = slopes[number, source, target]
                    if index[0] == level and slope.any():
                        term = slope[:, None] * basis.values[index[1:]]
                        total = term if total is None else total + term
                if total is not None:
                    block = (other.values[zero] * self.weights[:, None]).T @ total
                    result[e[target] : e[target + 1], e[source] : e[source + 1]] = block
        return result

    def growth(self) -> float:
        """The largest real part of the eigenvalues of J at the start: at what rate rounding grows."""
        state = np.zeros(self.unknowns)
        return growth_rate(*(self.jacobian(self.problem.start, state, k) for k in range(self.order)))

    def linearised(self, time: float, state: np.ndarray) -> Solvers:
        """Solvers of (μ − J) x = b."""
        damped = any(index[0] for index in self.pointwise.orders)
        damping = self.jacobian(time, state, 1) if damped else None
        return shifted_solvers(self.jacobian(time, state), damping, self.order)

    def response(self, time: float, state: np.ndarray, force: np.ndarray) -> np.ndarray:
        """x with x/T − J x = force: what a force makes of the state by the horizon, roughly."""
        return np.real(self.linearised(time, state)(1 / self.problem.duration)(force))
