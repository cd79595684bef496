"""The projected equation c′ = Qᵀ W [F(ψ + Q c) − ψₜ] and its Jacobian, at the points of a basis per axis.

For uₜₜ = F the state is the pair (c, d) with c′ = d and d′ = Qᵀ W [F(ψ + Q c, ψₜ + Q d) − ψₜₜ]. With
J₀ = ∂d′/∂c and J₁ = ∂d′/∂d, the solution of (μ − J)(x, y) = (a, b) takes one matrix of half the size:
(μ² − μ J₁ − J₀) x = b + (μ − J₁) a and y = μ x − a.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, gmres

from ..problem import Problem
from .basis import Bases
from .dense import Solvers, growth_rate, shifted_solvers
from .lift import Carrier
from .motion import calming, tempo
from .pointwise import Pointwise

_ROUGHLY, _KRYLOV = 0.1, 80
"""The relative residual to which the response to a force is found on a box, and most iterations for that."""


class Projection:
    """The evolution of c for bases along each axis; c is ordered component, then function along x, y, z.

    The state is c, followed by d = c′ where the equation is of second order in time.
    """

    def __init__(self, problem: Problem, pointwise: Pointwise, carrier: Carrier, bases: Sequence[Bases]):
        self.problem, self.pointwise, self.bases = problem, pointwise, tuple(bases)
        self.count, self.order = len(problem.components), problem.order
        self.ranks = tuple(b.rank for b in bases)
        self.shape = tuple(len(b.points) for b in bases)
        mesh = np.meshgrid(*(b.points for b in bases), indexing="ij")
        self.space = np.stack([m.ravel() for m in mesh], axis=1)
        self.weights = np.prod(np.meshgrid(*(b.weights for b in bases), indexing="ij"), axis=0).ravel()
        self._psi, self._exact = carrier.on(self.space), carrier.waves is not None
        self._known: dict[bytes, np.ndarray] = {}
        self._scale = np.zeros(self.count)
        self.tempo = tempo(problem) if self.order == 2 else 0.0
        """How fast the solution swings: the size of uₜ over that of u."""

    @property
    def scale(self) -> np.ndarray:
        """The L² size of each component so far, at least a thousandth of the largest."""
        floor = 1e-3 * self._scale.max() if self._scale.any() else 1.0
        return np.maximum(self._scale, floor)

    @property
    def _sizes(self) -> np.ndarray:
        """The sizes by which changes of the whole state are judged."""
        return np.concatenate([self.scale, self.tempo * self.scale]) if self.order == 2 else self.scale

    @property
    def iterations(self) -> int:
        """Newton iterations worth trying: more where J is only approximate."""
        return 12 if len(self.bases) == 1 else 30

    @property
    def dense(self) -> bool:
        """Whether solvers of the linearised equation are exact, and take several right-hand sides at once."""
        return len(self.bases) == 1

    @property
    def unknowns(self) -> int:
        return self.order * self.count * int(np.prod(self.ranks))

    def rates(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """The state's rate of change at several times: unknowns × times."""
        values, psi = self._arguments(times, states)
        flat = values.reshape(*values.shape[:2], -1)
        rate = self.pointwise(flat, self._coordinates(times))
        rate = rate.reshape(self.count, len(self.space), len(times)) - psi[-1]
        return np.concatenate([*self._levels(states)[1:], self._tested(rate).reshape(-1, len(times))])

    def _levels(self, states: np.ndarray) -> list[np.ndarray]:
        """c, or c and d, of states whose first axis are the unknowns."""
        return np.split(states, self.order)

    def residual(self, time: float, state: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Qᵀ W [F(u) − uₜ] where the state's rate is given: zero if that was found at these points."""
        times = np.array([time])
        values, psi = self._arguments(times, state[:, None])
        found = self.pointwise(values[..., 0], self._coordinates(times))[..., None] - psi[-1]
        *others, last = self._levels(rate[:, None])
        left = self._tested(found - self._spread(last, (0,) * len(self.bases))).reshape(-1)
        return np.concatenate([*(0 * other[:, 0] for other in others), left])

    def growth(self) -> float:
        """The largest real part of the eigenvalues of J at the start: at what rate rounding grows."""
        state = np.zeros(self.unknowns)
        of = self.jacobian if len(self.bases) == 1 else self._axial
        levels = [of(self.problem.start, state, level) for level in range(self.order)]
        each = zip(*(found if isinstance(found, list) else [found] for found in levels), strict=True)
        return max(growth_rate(*matrices) for matrices in each)

    def psi(self, times: np.ndarray) -> np.ndarray:
        """ψ and its derivatives at the points; Newton's method asks for the same times again and again."""
        key = times.tobytes()
        if key not in self._known:
            self._known = {key: self._psi(times)}
        return self._known[key]

    def start(self) -> np.ndarray:
        """The state at t₀: zero unless the initial data disagree with the Neumann or Robin data."""
        import jax.numpy as jnp

        psi = self.psi(np.array([self.problem.start]))
        place = [jnp.asarray(c) for c in self.space.T]
        data = [(self.problem.initial_values(place), psi[0])]
        if self.order == 2:
            data.append((self.problem.initial_velocities(place), psi[-2]))
        parts = []
        for number, (values, begin) in enumerate(data):
            exact = np.asarray(self.problem.to_components(values)).T
            self.note(exact / self.tempo if number else exact)
            gap = exact - begin[..., 0]
            nothing = self._exact or np.abs(gap).max() <= 1e-9 * np.abs(exact).max()
            parts.append(self._tested((0.0 if nothing else 1.0) * gap[..., None]).reshape(-1))
        return np.concatenate(parts)

    def note(self, values: np.ndarray) -> None:
        """Take account of the size of u, components × points, in the norm that steps are judged by."""
        found = np.sqrt((values**2) @ self.weights)
        if any(self.problem.complex_fields):
            parts, at = [], 0
            for is_complex in self.problem.complex_fields:
                width = 2 if is_complex else 1
                parts += [np.linalg.norm(found[at : at + width])] * width
                at += width
            found = np.asarray(parts)
        self._scale = np.maximum(self._scale, found)

    def size(self, change: np.ndarray) -> float:
        """The L² size of a change of u relative to each component's largest so far; the worst counts."""
        parts = self._levels(change)
        if self.order == 2:
            parts = [parts[0], self._calmed(parts[1])]
        each = np.linalg.norm(np.concatenate(parts).reshape(self.order * self.count, -1), axis=1)
        return float(np.max(each / self._sizes))

    def _calmed(self, speeds: np.ndarray) -> np.ndarray:
        """Speeds by what they move."""
        if len(self.bases) == 1:
            return self._calming @ speeds
        modes = self._along(
            speeds.reshape(self.count, *self.ranks, 1), [np.swapaxes(v, -2, -1) for v, _ in self._symbols]
        )
        return (self._calming * modes[..., 0]).reshape(-1)

    @cached_property
    def _calming(self) -> np.ndarray:
        """See `calming`: along one axis a matrix, on a box a factor for each mode, by component."""
        state = np.zeros(self.unknowns)
        if len(self.bases) == 1:
            return calming(-self.jacobian(self.problem.start, state), self.tempo)
        stiffness = -self._modal(self.problem.start, state)[0]
        own = np.moveaxis(np.diagonal(stiffness, axis1=-2, axis2=-1), -1, 0)
        return 1 / np.sqrt(1 + np.maximum(own, 0.0) / self.tempo**2)

    def values(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """u at the points: components × points × times."""
        zero = (0,) * len(self.bases)
        return self._spread(self._levels(states)[0], zero) + self.psi(times)[0]

    def _arguments(self, times: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        psi = self.psi(times)
        values = np.empty((len(self.pointwise.orders), self.count, len(self.space), len(times)))
        levels = self._levels(states)
        for number, index in enumerate(self.pointwise.orders):
            np.add(self._spread(levels[index[0]], index[1:]), psi[number], out=values[number])
        return values, psi

    def _coordinates(self, times: np.ndarray) -> np.ndarray:
        t = np.broadcast_to(times, (len(self.space), len(times))).ravel()
        return np.stack([t, *np.repeat(self.space, len(times), axis=0).T])

    def _spread(self, states: np.ndarray, orders: Sequence[int]) -> np.ndarray:
        """A derivative of Q c at the points: components × points × times."""
        matrices = [own.values[k] for own, k in zip(self.bases, orders, strict=True)]
        return self._along(states.reshape(self.count, *self.ranks, -1), matrices).reshape(
            self.count, len(self.space), -1
        )

    def _tested(self, rate: np.ndarray) -> np.ndarray:
        return self._along(rate.reshape(self.count, *self.shape, -1), [b.test for b in self.bases])

    def _along(self, array: np.ndarray, matrices: Sequence[np.ndarray]) -> np.ndarray:
        """One matrix after the other along the axes of components × x × y × …; by component, if they are."""
        for axis, matrix in enumerate(matrices):
            ahead, behind = array.shape[: axis + 1], array.shape[axis + 2 :]
            flat = array.reshape(*ahead, array.shape[axis + 1], int(np.prod(behind)))
            each = matrix.reshape(*matrix.shape[:-2], *(1,) * (axis * (matrix.ndim - 2)), *matrix.shape[-2:])
            array = np.matmul(each, flat).reshape(*ahead, matrix.shape[-2], *behind)
        return array

    def jacobian(self, time: float, state: np.ndarray, level: int = 0) -> np.ndarray:
        """The derivative of c′ by c, or of d′ by c (`level` 0) or d (1): exact, for one axis."""
        times = np.array([time])
        values, _ = self._arguments(times, state[:, None])
        slopes = self.pointwise.slopes(values[..., 0], self._coordinates(times))
        (bases,) = self.bases
        rank = bases.rank
        result = np.zeros((self.count * rank, self.count * rank))
        for source in range(self.count):
            for target in range(self.count):
                total: Any = 0
                for number, index in enumerate(self.pointwise.orders):
                    if index[0] != level:
                        continue
                    slope = slopes[number, source, target]
                    if slope.any():
                        total = total + slope[:, None] * bases[source].values[index[1]]
                if not isinstance(total, int):
                    block = bases[target].test @ total
                    result[target * rank : (target + 1) * rank, source * rank : (source + 1) * rank] = block
        return result

    def linearised(self, time: float, state: np.ndarray) -> Solvers:
        """Solvers of (μ − J) x = b: exact along one axis, by the middle of each slope's range on a box."""
        if len(self.bases) > 1:
            return self._diagonal(time, state)
        damped = any(index[0] for index in self.pointwise.orders)
        damping = self.jacobian(time, state, 1) if damped else None
        return shifted_solvers(self.jacobian(time, state), damping, self.order)

    def response(self, time: float, state: np.ndarray, force: np.ndarray) -> np.ndarray:
        """x with x/T − J x = force: what a force makes of the state by the horizon, roughly."""
        shift = 1 / self.problem.duration
        solve = self.linearised(time, state)(shift)
        rough = np.real(solve(force))
        if self.dense:
            return rough
        times = np.array([time])
        values, _ = self._arguments(times, state[:, None])
        slopes = self.pointwise.slopes(values[..., 0], self._coordinates(times))

        def left(x: np.ndarray) -> np.ndarray:
            levels = self._levels(x[:, None])
            parts = [self._spread(levels[index[0]], index[1:])[..., 0] for index in self.pointwise.orders]
            moved = self._tested(np.einsum("kstn,ksn->tn", slopes, parts)).reshape(-1)
            return np.real(solve(shift * x - np.concatenate([*(own[:, 0] for own in levels[1:]), moved])))

        operator = LinearOperator((len(force),) * 2, matvec=left)  # type: ignore[call-arg]
        found, missed = gmres(operator, rough, rtol=_ROUGHLY, restart=_KRYLOV, maxiter=1)
        return rough if missed else found

    def _diagonal(self, time: float, state: np.ndarray) -> Solvers:
        """By J with numbers for coefficients, in the eigenvectors of Q′ᵀ W Q′ along each axis."""
        symbols = self._modal(time, state)
        vectors = [v for v, _ in self._symbols]

        def solver(shift: complex) -> Callable[[np.ndarray], np.ndarray]:
            real = np.imag(shift) == 0
            shift = np.real(shift) if real else shift
            inverse = np.linalg.inv(
                shift**self.order * np.eye(self.count) - sum(shift**k * s for k, s in enumerate(symbols))
            )

            def modes(right: np.ndarray) -> np.ndarray:
                found = self._along(
                    right.reshape(self.count, *self.ranks, 1), [np.swapaxes(v, -2, -1) for v in vectors]
                )
                return np.moveaxis(found[..., 0], 0, -1)[..., None]

            def apply(right: np.ndarray) -> np.ndarray:
                levels = [modes(part) for part in self._levels(np.real(right) if real else right)]
                found = [inverse @ levels[-1]]
                if self.order == 2:
                    found[0] = found[0] + inverse @ (shift * levels[0] - symbols[1] @ levels[0])
                    found.append(shift * found[0] - levels[0])
                parts = [np.ascontiguousarray(np.moveaxis(f, -2, 0)) for f in found]
                return np.concatenate([self._along(part, vectors).reshape(-1) for part in parts])

            return apply

        return solver

    def _modal(self, time: float, state: np.ndarray) -> np.ndarray:
        """J, by level, for each mode of a box: its coefficients are replaced by numbers.

        Components stay coupled, in one small matrix per mode. Odd derivatives are left out.
        """
        times = np.array([time])
        values, _ = self._arguments(times, state[:, None])
        slopes = self.pointwise.slopes(values[..., 0], self._coordinates(times))
        middle = (slopes.max(axis=-1) + slopes.min(axis=-1)) / 2
        symbols = np.zeros((self.order, *self.ranks, self.count, self.count))
        for number, index in enumerate(self.pointwise.orders):
            if any(k % 2 for k in index[1:]):
                continue
            part: Any = 1.0
            for axis, k in enumerate(index[1:]):
                shape = [1] * len(self.ranks)
                shape[axis] = -1
                symbol = np.moveaxis(self._symbols[axis][1][k], -1, 0)
                part = part * symbol.reshape(*shape, *symbol.shape[1:])
            symbols[index[0]] += part * middle[number].T
        return symbols

    def _axial(self, time: float, state: np.ndarray, level: int = 0) -> list[np.ndarray]:
        """J of each component along each axis alone, its coefficients replaced by numbers."""
        times = np.array([time])
        values, _ = self._arguments(times, state[:, None])
        slopes = self.pointwise.slopes(values[..., 0], self._coordinates(times))
        middle = (slopes.max(axis=-1) + slopes.min(axis=-1)) / 2
        found = []
        for axis, bases in enumerate(self.bases):
            for component in range(self.count):
                basis = bases[component]
                matrix = np.zeros((basis.rank, basis.rank))
                for number, index in enumerate(self.pointwise.orders):
                    if index[0] == level and sum(index[1:]) == index[axis + 1]:
                        factor = middle[number, component, component]
                        matrix += factor * (basis.test @ basis.values[index[axis + 1]])
                found.append(matrix)
        return found

    @cached_property
    def _symbols(self) -> list[tuple[np.ndarray, list[np.ndarray]]]:
        """For each axis the eigenvectors V of Q′ᵀ W Q′ and, by order, the diagonals of Vᵀ Qᵀ W Q⁽ᵏ⁾ V.

        A diagonal belongs to the component of Vᵀ Qᵀ and to that of Q V: components × components × functions.
        """
        found = []
        for bases in self.bases:
            each, tests = [], []
            for basis in bases.kinds:
                slope = basis.values[1]
                each.append(np.linalg.eigh((slope * basis.weights[:, None]).T @ slope)[1])
                tests.append(each[-1].T @ basis.test)
            diagonals = []
            for k in range(len(bases.values)):
                moved = [basis.values[k] @ v for basis, v in zip(bases.kinds, each, strict=True)]
                table = np.array([[np.einsum("rn,nr->r", t, m) for m in moved] for t in tests])
                diagonals.append(table if len(each) == 1 else table[np.ix_(bases.of, bases.of)])
            vectors = each[0] if len(each) == 1 else np.stack([each[kind] for kind in bases.of])
            found.append((vectors, diagonals))
        return found
