"""The projected equation c′ = Qᵀ W [F(ψ + Q c) − ψₜ] and its Jacobian, at the points of a basis per axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from ..problem import Problem
from .basis import Basis
from .lift import Carrier
from .pointwise import Pointwise

Solvers = Callable[[complex], Callable[[np.ndarray], np.ndarray]]
"""A function of μ that gives a solver of (μ − J) x = b."""


class Projection:
    """The evolution of c for one basis per axis; c is ordered component, then function along x, y, z."""

    def __init__(self, problem: Problem, pointwise: Pointwise, carrier: Carrier, bases: Sequence[Basis]):
        self.problem, self.pointwise, self.bases = problem, pointwise, tuple(bases)
        self.count = len(problem.components)
        self.ranks = tuple(b.rank for b in bases)
        self.shape = tuple(len(b.points) for b in bases)
        mesh = np.meshgrid(*(b.points for b in bases), indexing="ij")
        self.space = np.stack([m.ravel() for m in mesh], axis=1)
        self.weights = np.prod(np.meshgrid(*(b.weights for b in bases), indexing="ij"), axis=0).ravel()
        self._psi, self._exact = carrier.on(self.space), carrier.waves is not None
        self._known: dict[bytes, np.ndarray] = {}
        self._scale = np.zeros(self.count)

    @property
    def scale(self) -> np.ndarray:
        """The L² size of each component so far, at least a thousandth of the largest."""
        floor = 1e-3 * self._scale.max() if self._scale.any() else 1.0
        return np.maximum(self._scale, floor)

    @property
    def iterations(self) -> int:
        """Newton iterations worth trying: more where J is only approximate."""
        return 12 if len(self.bases) == 1 else 30

    @property
    def unknowns(self) -> int:
        return self.count * int(np.prod(self.ranks))

    def rates(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """c′ at several times: unknowns × times."""
        values, psi = self._arguments(times, states)
        flat = values.reshape(*values.shape[:2], -1)
        rate = self.pointwise(flat, self._coordinates(times))
        rate = rate.reshape(self.count, len(self.space), len(times)) - psi[-1]
        return self._tested(rate).reshape(-1, len(times))

    def residual(self, time: float, state: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Qᵀ W [F(u) − uₜ] where c′ is given: zero if that was found at these points."""
        times = np.array([time])
        values, psi = self._arguments(times, state[:, None])
        found = self.pointwise(values[..., 0], self._coordinates(times))[..., None] - psi[-1]
        return self._tested(found - self._spread(rate[:, None], (0,) * len(self.bases))).reshape(-1)

    def growth(self) -> float:
        """The largest real part of the eigenvalues of J at the start: at what rate rounding grows."""
        state = np.zeros(self.unknowns)
        if len(self.bases) == 1:
            matrices = [self.jacobian(self.problem.start, state)]
        else:
            matrices = self._axial(self.problem.start, state)
        return max(_growth(matrix) for matrix in matrices)

    def psi(self, times: np.ndarray) -> np.ndarray:
        """ψ and its derivatives at the points; Newton's method asks for the same times again and again."""
        key = times.tobytes()
        if key not in self._known:
            self._known = {key: self._psi(times)}
        return self._known[key]

    def start(self) -> np.ndarray:
        """c(t₀): zero unless the initial data do not meet their Neumann or Robin data."""
        import jax.numpy as jnp

        begin = self.psi(np.array([self.problem.start]))[0][..., 0]
        values = self.problem.initial_values([jnp.asarray(c) for c in self.space.T])
        exact = np.asarray(self.problem.to_components(values)).T
        self.note(exact)
        gap = exact - begin
        if self._exact or np.abs(gap).max() <= 1e-9 * np.abs(exact).max():
            return np.zeros(self.unknowns)
        return self._tested(gap[..., None]).reshape(-1)

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
        each = np.linalg.norm(change.reshape(self.count, -1), axis=1)
        return float(np.max(each / self.scale))

    def values(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """u at the points: components × points × times."""
        zero = (0,) * len(self.bases)
        return self._spread(states, zero) + self.psi(times)[0]

    def _arguments(self, times: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        psi = self.psi(times)
        values = np.empty((len(self.pointwise.orders), self.count, len(self.space), len(times)))
        for number, index in enumerate(self.pointwise.orders):
            np.add(self._spread(states, index[1:]), psi[number], out=values[number])
        return values, psi

    def _coordinates(self, times: np.ndarray) -> np.ndarray:
        t = np.broadcast_to(times, (len(self.space), len(times))).ravel()
        return np.stack([t, *np.repeat(self.space, len(times), axis=0).T])

    def _spread(self, states: np.ndarray, orders: Sequence[int]) -> np.ndarray:
        """A derivative of Q c at the points: components × points × times."""
        matrices = [basis.values[k] for basis, k in zip(self.bases, orders, strict=True)]
        return self._along(states.reshape(self.count, *self.ranks, -1), matrices).reshape(
            self.count, len(self.space), -1
        )

    def _tested(self, rate: np.ndarray) -> np.ndarray:
        return self._along(rate.reshape(self.count, *self.shape, -1), [b.test for b in self.bases])

    def _along(self, array: np.ndarray, matrices: Sequence[np.ndarray]) -> np.ndarray:
        for axis, matrix in enumerate(matrices):
            ahead, behind = array.shape[: axis + 1], array.shape[axis + 2 :]
            flat = array.reshape(*ahead, array.shape[axis + 1], int(np.prod(behind)))
            array = np.matmul(matrix, flat).reshape(*ahead, len(matrix), *behind)
        return array

    def jacobian(self, time: float, state: np.ndarray) -> np.ndarray:
        """∂c′/∂c, exact, for one axis."""
        times = np.array([time])
        values, _ = self._arguments(times, state[:, None])
        slopes = self.pointwise.slopes(values[..., 0], self._coordinates(times))
        (basis,) = self.bases
        rank = basis.rank
        result = np.zeros((self.count * rank, self.count * rank))
        for source in range(self.count):
            for target in range(self.count):
                total: Any = 0
                for number, index in enumerate(self.pointwise.orders):
                    slope = slopes[number, source, target]
                    if slope.any():
                        total = total + slope[:, None] * basis.values[index[1]]
                if not isinstance(total, int):
                    block = basis.test @ total
                    result[target * rank : (target + 1) * rank, source * rank : (source + 1) * rank] = block
        return result

    def linearised(self, time: float, state: np.ndarray) -> Solvers:
        """Solvers of (μ − J) x = b: exact along one axis, by the middle of each slope's range on a box."""
        if len(self.bases) > 1:
            return self._diagonal(time, state)
        matrix = self.jacobian(time, state)

        def solver(shift: complex) -> Callable[[np.ndarray], np.ndarray]:
            real = np.imag(shift) == 0
            shifted = (-matrix).astype(float if real else complex)
            shifted[np.diag_indices(len(matrix))] += np.real(shift) if real else shift
            factor, solve = get_lapack_funcs(("getrf", "getrs"), (shifted,))
            lu, pivots, _ = factor(shifted, overwrite_a=True)

            def apply(right: np.ndarray) -> np.ndarray:
                right = np.real(right) if real else right
                return solve(lu, pivots, right)[0]

            return apply

        return solver

    def _diagonal(self, time: float, state: np.ndarray) -> Solvers:
        """J with its coefficients replaced by numbers, in the eigenvectors of Q′ᵀ W Q′ along each axis.

        Components stay coupled, in one small matrix per mode. Odd derivatives are left out.
        """
        times = np.array([time])
        values, _ = self._arguments(times, state[:, None])
        slopes = self.pointwise.slopes(values[..., 0], self._coordinates(times))
        middle = (slopes.max(axis=-1) + slopes.min(axis=-1)) / 2
        symbol = np.zeros((*self.ranks, self.count, self.count))
        for number, index in enumerate(self.pointwise.orders):
            if any(k % 2 for k in index[1:]):
                continue
            part = np.ones(self.ranks)
            for axis, k in enumerate(index[1:]):
                shape = [1] * len(self.ranks)
                shape[axis] = -1
                part = part * self._symbols[axis][1][k].reshape(shape)
            symbol += part[..., None, None] * middle[number].T
        vectors = [v for v, _ in self._symbols]

        def solver(shift: complex) -> Callable[[np.ndarray], np.ndarray]:
            real = np.imag(shift) == 0
            shift = np.real(shift) if real else shift
            inverse = np.linalg.inv(shift * np.eye(self.count) - symbol)

            def apply(right: np.ndarray) -> np.ndarray:
                right = (np.real(right) if real else right).reshape(self.count, *self.ranks, 1)
                modes = np.moveaxis(self._along(right, [v.T for v in vectors])[..., 0], 0, -1)
                solved = np.moveaxis((inverse @ modes[..., None])[..., 0], -1, 0)
                return self._along(np.ascontiguousarray(solved)[..., None], vectors).reshape(-1)

            return apply

        return solver

    def _axial(self, time: float, state: np.ndarray) -> list[np.ndarray]:
        """J of each component along each axis alone, its coefficients replaced by numbers."""
        times = np.array([time])
        values, _ = self._arguments(times, state[:, None])
        slopes = self.pointwise.slopes(values[..., 0], self._coordinates(times))
        middle = (slopes.max(axis=-1) + slopes.min(axis=-1)) / 2
        found = []
        for axis, basis in enumerate(self.bases):
            for component in range(self.count):
                matrix = np.zeros((basis.rank, basis.rank))
                for number, index in enumerate(self.pointwise.orders):
                    if sum(index[1:]) == index[axis + 1]:
                        factor = middle[number, component, component]
                        matrix += factor * (basis.test @ basis.values[index[axis + 1]])
                found.append(matrix)
        return found

    @cached_property
    def _symbols(self) -> list[tuple[np.ndarray, list[np.ndarray]]]:
        """For each axis the eigenvectors V of Q′ᵀ W Q′ and, by order, the diagonal of Vᵀ Qᵀ W Q⁽ᵏ⁾ V."""
        found = []
        for basis in self.bases:
            slope = basis.values[1]
            vectors = np.linalg.eigh((slope * basis.weights[:, None]).T @ slope)[1]
            tested = vectors.T @ basis.test
            found.append((vectors, [np.einsum("rn,nr->r", tested, v @ vectors) for v in basis.values]))
        return found


def _growth(matrix: np.ndarray) -> float:
    """The largest real part of the eigenvalues; of the symmetric part's, where that is no more than zero."""
    bound = float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[-1])
    return bound if bound <= 0 else float(np.linalg.eigvals(matrix).real.max())
