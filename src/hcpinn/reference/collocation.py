"""Problems on an interval: patched Chebyshev collocation, Radau IIA in time.

The unknowns are the values at the interior points; the values at the two ends follow from them
and the data g(t) by the boundary conditions, α u + β ∂u/∂n = g, and are put in before
differentiating; periodic problems have no ends. The resulting stiff system of ordinary differential
equations goes to SciPy's Radau with its exact, sparse Jacobian Σ_D diag(∂F/∂D) D. It is integrated from one
break to the next, and its steps are short where F or the data change fast.
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.integrate
import scipy.sparse
from jaxtyping import Array, Float

from ..equation import scan
from ..equation.probes import Slot, evaluate, slots
from ..equation.projection import initial_on_grid
from ..machine.background import raise_if_abandoned
from ..problem import Problem
from .patches import Patches

DEGREE = 24
"""Degree of each element: high enough for spectral accuracy, low enough for sparse matrices."""


_JUMP = 1e-3
"""Change across a point, relative to the largest value, from which on initial data jump there."""

_LOOSEST = 1e-5
"""Relative tolerance from which on the longest step shrinks too."""

MOST_CALLS = 100_000
"""Evaluations of F after which an integration is stuck."""


class _Stuck(Exception):
    """The integration takes ever smaller steps."""


class Collocation:
    """One problem on one set of elements."""

    def __init__(self, problem: Problem, edges: np.ndarray):
        self.problem = problem
        self.patches = Patches(edges, degree=DEGREE, periodic=problem.periodic)
        self.points = self.patches.points
        self._inner = slice(None) if problem.periodic else slice(1, -1)
        self._places = jnp.asarray(self.patches.places.ravel())
        self._slots = slots(problem)
        self._rates = jax.jit(self._pointwise)
        self._slopes = jax.jit(self._pointwise_slopes)
        self._ends = jax.jit(
            lambda t: jnp.stack(
                [jnp.stack([own[0] for own in problem.boundary_components(s, t)]) for s in problem.sides]
            )
        )
        self._close()
        self.initial = self._start()
        self.breaking = self._broken_ends()
        """The ends where initial and boundary data disagree."""

    def _start(self) -> Float[np.ndarray, "components nodes"]:
        """The initial data at the points; where they jump between elements, the mean of both sides."""

        def at(places: np.ndarray) -> np.ndarray:
            values = self.problem.initial_values([jnp.asarray(places)])
            return np.moveaxis(np.asarray(self.problem.to_components(values)), -1, 0)

        values, sides = at(self.points), at(self.patches.places.ravel())
        means, gaps = (
            (a @ self.patches.gather.T) for a in (sides, np.abs(sides - values @ self.patches.spread.T))
        )
        return np.where(gaps > _JUMP * np.abs(values).max(axis=1, keepdims=True), means, values)

    def with_ends(
        self, t: float, state: Float[np.ndarray, " unknowns"]
    ) -> Float[np.ndarray, "components nodes"]:
        """Values at all points: the unknowns between the data."""
        if self.problem.periodic:
            return state.reshape(self.initial.shape)
        values = np.empty_like(self.initial)
        inner = state.reshape(len(values), -1)
        values[:, 1:-1] = inner
        ends = self._from_data @ np.asarray(self._ends(t)) + self._from_inside @ inner.T
        values[:, 0], values[:, -1] = ends
        return values

    def _close(self) -> None:
        """Solve the two boundary conditions for the values at the ends: ends = P g + Q (values inside)."""
        if self.problem.periodic:
            self._extension = scipy.sparse.eye_array(len(self.points), format="csr")
            return
        domain = self.problem.domain
        rows = np.zeros((2, len(self.points)))
        for row, at, side in zip(rows, (0, -1), self.problem.sides, strict=True):
            (condition,) = side.conditions[0]  # all fields have the same, see `solve_chebyshev`
            for (_, order), factor in condition.terms(domain.normal(side.part, self.points[[at], None])):
                if order:
                    row += factor * self.patches.derivatives[order][[at]].toarray()[0]
                else:
                    row[at] += factor
        self._rows = rows
        self._from_data = np.linalg.inv(rows[:, [0, -1]])
        self._from_inside = -self._from_data @ rows[:, 1:-1]
        self._extension = scipy.sparse.vstack(
            [
                scipy.sparse.csr_array(self._from_inside[:1]),
                scipy.sparse.eye_array(len(self.points) - 2, format="csr"),
                scipy.sparse.csr_array(self._from_inside[1:]),
            ],
            format="csr",
        )

    def _broken_ends(self) -> list[int]:
        if self.problem.periodic:
            return []
        data = np.asarray(self._ends(float(self.problem.start)))
        jumping = [any(c.jump for own in side.conditions for c in own) for side in self.problem.sides]
        gaps = np.abs(self.initial @ self._rows.T - data.T).max(axis=0)
        return [end for end in (0, 1) if jumping[end] and gaps[end] > 1e-9 * np.abs(data[end]).max()]

    def rates(
        self, t: float, values: Float[np.ndarray, "components nodes"]
    ) -> Float[np.ndarray, "components nodes"]:
        """F at all points, as real components."""
        return np.asarray(self._rates(t, self._arguments(values))) @ self.patches.gather.T

    def jacobian(self, t: float, state: Float[np.ndarray, " unknowns"]) -> Any:
        """The derivative of the unknowns' rates by the unknowns, as a sparse matrix."""
        slopes = np.asarray(self._slopes(t, self._arguments(self.with_ends(t, state))))
        blocks = [[self._block(row) for row in column] for column in np.moveaxis(slopes, 1, 0)]
        return scipy.sparse.block_array(blocks, format="csc")

    def _block(self, slopes: Float[np.ndarray, "derivatives nodes"]) -> Any:
        """Σ_D diag(∂F/∂D) D on the interior points, for one component of F and one of u."""
        total: Any = scipy.sparse.csr_array((slopes.shape[1], len(self.points)))
        for index, slope in zip(self.problem.derivatives, slopes, strict=True):
            if slope.any():
                total = total + scipy.sparse.diags_array(slope) @ self.patches.local[index[1]]
        return self.patches.gather[self._inner] @ total @ self._extension

    def _arguments(self, values: Float[np.ndarray, "components nodes"]) -> dict[Slot, np.ndarray]:
        known = {}
        for index in self.problem.derivatives:
            known[index] = self.problem.to_fields(self.patches.local[index[1]] @ values.T)
        return {(number, index): known[index][number] for number, index in self._slots}

    def _pointwise(self, t: Array, arguments: dict[Slot, Array]) -> Float[Array, "components nodes"]:
        return self.problem.to_components(evaluate(self.problem, arguments, [t, self._places])).T

    def _pointwise_slopes(
        self, t: Array, arguments: dict[Slot, Array]
    ) -> Float[Array, "unknown components derivatives nodes"]:
        """∂F_i/∂(derivative of component j), by component j, then i, then derivative."""
        columns = []
        for number, is_complex in enumerate(self.problem.complex_fields):
            for direction in (1.0, 1j) if is_complex else (1.0,):
                rows = []
                for index in self.problem.derivatives:
                    slot = (number, index)

                    def along(value: Array, slot: Slot = slot) -> Array:
                        return self._pointwise(t, {**arguments, slot: value})

                    tangent = jnp.full_like(arguments[slot], direction)
                    rows.append(jax.jvp(along, (arguments[slot],), (tangent,))[1])
                columns.append(jnp.stack(rows, axis=1))
        return jnp.stack(columns)

    def solve(
        self, times: np.ndarray, targets: np.ndarray, rtol: float, most: int = MOST_CALLS
    ) -> tuple[list[np.ndarray], float]:
        """Values at the times and targets, one array per field, and the size of the tail.

        At most `most` evaluations of F are made, and counted in `calls`: more mean that rounding exceeds the
        tolerance.

        The tail is the relative size of the last Chebyshev coefficients at the worst time
        after the start. Values are NaN where the integration failed.
        """
        found = self._integrate(times, rtol, most)
        if found is None:
            shape = (len(times), len(targets))
            blank = [np.full(shape, np.nan, complex if c else float) for c in self.problem.complex_fields]
            return blank, math.inf
        whole = np.stack([self.with_ends(t, y) for t, y in zip(times, found, strict=True)])
        output = whole @ self.patches.interpolation(targets).T
        values = [np.array(v) for v in self.problem.to_fields(np.moveaxis(output, 1, -1))]
        for number, exact in enumerate(initial_on_grid(self.problem, [targets])):
            values[number][0] = exact
            for side in self.problem.sides:
                if side.conditions[number][0].jump:  # the wall is at its own value at once
                    at_wall = targets == self.problem.domain.bounds[0][side.end]
                    values[number][0, at_wall] = self.problem.boundary_values(side, jnp.asarray([times[0]]))[
                        number
                    ][0]
        return values, max(self.patches.tail(component) for component in np.moveaxis(whole[1:], 1, 0))

    def _integrate(self, times: np.ndarray, rtol: float, most: int) -> np.ndarray | None:
        """The unknowns at the times, one row each, from break to break; None where that failed."""
        self.calls = 0
        line = scan(self.problem).time
        finer = max((rtol / _LOOSEST) ** -0.125, 1.0)  # else two tolerances take the same steps, and agree
        off = 256 * np.spacing(max(abs(line.low), abs(line.high)))

        def rate(t: float, state: np.ndarray) -> np.ndarray:
            raise_if_abandoned()
            self.calls += 1
            if self.calls > most:
                raise _Stuck
            return self.rates(t, self.with_ends(t, state))[:, self._inner].ravel()

        state = self.initial[:, self._inner].ravel()
        absolute = np.repeat(self._sizes() * rtol / 10, len(state) // len(self.initial))
        rows = [state]
        for begin, end in itertools.pairwise([line.low, *line.breaks, line.high]):
            inside = times[(times > begin) & (times <= end)]
            low, high = begin + off, end - off  # on this side of a jump
            try:
                result = scipy.integrate.solve_ivp(
                    lambda t, y, low=low, high=high: rate(min(max(t, low), high), y),
                    (begin, end),
                    state,
                    method="Radau",
                    t_eval=np.unique(np.append(inside, end)),
                    jac=lambda t, y, low=low, high=high: self.jacobian(min(max(t, low), high), y),
                    rtol=rtol,
                    atol=absolute,
                    max_step=(end - begin) / max(2 * finer * float(line.swings(begin, end)), 1.0),
                )
            except (_Stuck, ValueError, RuntimeError):  # SciPy's answers to NaN and to singular matrices
                return None
            if not (result.success and np.isfinite(result.y).all()):
                return None
            rows.extend(result.y.T[: len(inside)])
            state = result.y[:, -1]
        return np.stack(rows)

    def _sizes(self) -> np.ndarray:
        """About how large each component becomes: the initial and boundary data, or what F adds to them."""
        size = np.abs(self.initial).max(axis=1)
        times, weights = scan(self.problem).time.quadrature()
        if not self.problem.periodic:
            data = np.stack([self._from_data @ np.asarray(self._ends(t)) for t in times])
            size = np.maximum(size, np.abs(data).max(axis=(0, 1)))
        if not size.all():
            rates = np.stack([np.abs(self.rates(t, 0 * self.initial)).max(axis=1) for t in times])
            size = np.where(size > 0, size, weights @ rates)
        size = np.where(size.any(), size, 1.0)
        return np.maximum(size, 1e-3 * float(size.max()))

    def corner_notes(self) -> list[str]:
        """Where F(u₀) and g′(0) disagree at an end, the solution is not smooth in that corner."""
        start, letter, bounds = (
            float(self.problem.start),
            self.problem.space[0],
            self.problem.domain.bounds[0],
        )
        broken = [
            f"In the corner t = {start:g}, {letter} = {bounds[end]:g} the solution jumps from the "
            "initial data to the boundary data."
            for end in self.breaking
        ]
        return [*self._corners.values(), *broken]

    def corners(self) -> list[float]:
        """The ends where they disagree."""
        ends = [self.problem.domain.bounds[0][end] for end in self.breaking]
        return [*self._corners, *ends]

    @cached_property
    def _corners(self) -> dict[float, str]:
        corners = [side for side in self.problem.sides if side.prescribes_values]
        if not corners:
            return {}
        start = float(self.problem.start)
        rates = self.rates(start, self.initial)
        ends = np.asarray(jax.jvp(self._ends, (jnp.asarray(start),), (jnp.ones(()),))[1])
        sizes = float(np.abs(self.initial).max()) / self.problem.duration
        scale = max(float(np.abs(rates).max()), float(np.abs(ends).max()), sizes, 1e-300)
        notes = {}
        for side in corners:
            x, at = self.problem.domain.bounds[0][side.end], -1 if side.end else 0
            for name, inner, outer in zip(self.problem.components, rates[:, at], ends[side.end], strict=True):
                if abs(inner - outer) > 1e-6 * scale:
                    notes[float(x)] = (
                        f"In the corner t = {start:g}, x = {x:g} the equation asks for {name}_t = "
                        f"{inner:.3g} and the boundary data for {outer:.3g}: the solution has a weak "
                        "singularity there."
                    )
        return notes
