"""References of problems on boxes with walls, and of second order in time: refined until values settle."""

from __future__ import annotations

import itertools
import math
import time as clock
from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

from ..equation import scan, unclosed
from ..equation.probes import slots
from ..equation.projection import initial_on_grid
from ..equation.split import middle_slopes, split
from ..errors import NoReferenceError
from ..problem import Problem
from .data import BoundaryData
from .exponential import Integrator, Stuck
from .modal import Coupling, Modal, Pointwise
from .result import HOPELESS, ROUNDING, SolverResult, relative_change, weighed

_FIRST = {1: 32, 2: 20, 3: 12}
_MOST = {1: 480, 2: 128, 3: 44}
"""Polynomial degrees and numbers of waves per axis, by number of dimensions."""

_LOOSE, _TIGHTEST = 1e-5, 1e-12
"""The integrator's tolerance while the degree is searched for, and the smallest it can use."""

_ENOUGH = 1e-6
"""A change below which one that falls slowly is not followed to the largest degree."""

_PATIENCE = 25.0
"""Seconds after which it is not followed further either."""

_BATCH = 1 << 22


def solve_box(
    problem: Problem, times: np.ndarray, axes: list[np.ndarray], tolerance: float
) -> Iterator[SolverResult]:
    """Better and better ones; the last is as good as it gets."""
    _check(problem)
    return _Refinement(problem, times, axes, tolerance).run()


class _Refinement:
    """Runs of different degrees and tolerances, each computed once, and their outcomes."""

    def __init__(self, problem: Problem, times: np.ndarray, axes: list[np.ndarray], tolerance: float):
        self.problem, self.times, self.axes, self.tolerance = problem, times, axes, tolerance
        self.target = max(tolerance, 10 * ROUNDING)
        self.dimensions = len(problem.space)
        self.parts, self.pointwise, self.data = split(problem), Pointwise(problem), BoundaryData(problem)
        self.middle: Coupling = {}
        self.spaces: dict[int, Modal] = {}
        self.runs: dict[tuple[int, int | None], tuple[list[np.ndarray], float]] = {}
        self.why = ""
        self.begun = clock.monotonic()

    def run(self) -> Iterator[SolverResult]:
        """Degree by the tail of quick runs; then tolerance and degree refined until the values settle."""
        self.middle = self._middle()
        degree, level, before = self._degree(), 1, math.inf
        while True:
            in_time, level = self._settle(degree, level)
            wider = self._wider(degree)
            in_space = relative_change(self._solve(wider, level - 1)[0], self._solve(degree, level - 1)[0])
            if in_time + in_space <= HOPELESS:
                yield self._result(degree, wider, level, in_time, in_space)
            if in_space <= self.target or in_time > self.target or self._settled(wider, in_space, before):
                break
            degree, before = wider, in_space
        if not in_time + in_space <= HOPELESS:
            raise NoReferenceError(
                f"The spectral reference of {self.problem.name} did not converge: with degree {degree} its "
                f"relative change is still {in_time + in_space:.1e}. The solution may blow up or form a "
                "shock; shorten the horizon, or add diffusion."
            )

    def _settled(self, degree: int, change: float, before: float) -> bool:
        """Whether larger degrees are too large, or would lower what is small already too slowly."""
        if self._wider(degree) > _MOST[self.dimensions]:
            return True
        enough = change <= _ENOUGH or clock.monotonic() - self.begun > _PATIENCE
        return enough and not self._promises(degree, change, degree / 1.3, before)

    def _promises(self, degree: int, size: float, lower: float, before: float) -> bool:
        """Whether what was `before` at a lower degree, and is `size` now, can become small enough."""
        if not (0 < size < math.inf and 0 < before < math.inf):
            return True
        order = math.log(before / size) / math.log(degree / lower)
        return order > 0 and size * (degree / _MOST[self.dimensions]) ** order <= 10 * self.target

    def _result(self, degree: int, wider: int, level: int, in_time: float, in_space: float) -> SolverResult:
        what = "Legendre" if not self.problem.periodic else "Fourier"
        if any(ends.periodic for ends in self.problem.boundaries) and not self.problem.periodic:
            what = "Legendre and Fourier"
        rtol = self._rtol(level)
        solver = (
            f"{what} Galerkin method of degree {degree} per axis, exponential collocation of order 7 with "
            f"tolerance {rtol:.0e}; checked against tolerance {10 * rtol:.0e} and degree {wider}."
        )
        return weighed(self._solve(degree, level)[0], in_time, in_space, self.tolerance, solver)

    def _middle(self) -> Coupling:
        """Linear terms that approximate the nonlinear ones: for instance diffusivities at the start."""
        if not self.parts.remaining:
            return {}
        modal = self._space(_FIRST[self.dimensions])
        start = modal.start()[None]
        begin = np.array([float(self.problem.start)])
        wanted = sorted({index for _, index in slots(self.problem)})
        found = modal.arguments(begin, start, wanted)
        fields = {i: self.problem.to_fields(np.moveaxis(v[0], 0, -1)) for i, v in found.items()}
        known = {(n, i): jnp.asarray(fields[i][n].ravel()) for n, i in slots(self.problem)}
        coordinates = [jnp.full(modal.coordinates.shape[1], begin[0]), *map(jnp.asarray, modal.coordinates)]
        slopes = middle_slopes(self.problem, self.parts, known, coordinates)
        self.spaces.clear()
        first = np.cumsum([0, *(2 if c else 1 for c in self.problem.complex_fields)])
        table: Coupling = {}
        for number, own in enumerate(slopes):
            for index, slope in own.items():
                if any(index[1:]):
                    for i in range(2 if self.problem.complex_fields[number] else 1):
                        table[int(first[number]) + i, int(first[number]) + i, index] = float(np.real(slope))
        return table

    def _space(self, degree: int) -> Modal:
        if degree not in self.spaces:
            self.spaces[degree] = Modal(
                self.problem, degree, self.parts, self.pointwise, self.data, self.middle
            )
        return self.spaces[degree]

    def _degree(self) -> int:
        degree, size = _FIRST[self.dimensions], self._solve(_FIRST[self.dimensions], None)[1]
        most = _MOST[self.dimensions]
        while 10 * self.tolerance < size and self._wider(degree) <= most:
            # The spectrum of a smooth solution falls off like e^{−ak}.
            factor = math.log(self.tolerance / 10) / math.log(min(max(size, 1e-300), 0.3))
            finer = min(math.ceil(min(max(factor, 1.3), 2.2) * degree), most)
            smaller = self._solve(finer, None)[1]
            if size < 10 * _LOOSE and smaller > size / 4:
                return degree  # what is left in the tail comes from the loose steps
            promising = self._promises(finer, smaller, degree, size)
            degree, size = finer, smaller
            if size < _LOOSE and not promising:
                return degree
        if not math.isfinite(size):
            raise NoReferenceError(
                f"The spectral reference of {self.problem.name} could not be integrated to t = "
                f"{self.problem.horizon:g}: {self.why}. The solution may blow up within the horizon, or the "
                "equation be ill-posed (as uₜ = −uₓₓ is); shorten the horizon or check the signs in rhs."
            )
        return degree

    def _settle(self, degree: int, level: int) -> tuple[float, int]:
        """The last change on tightening the tolerance tenfold, from a level on, and the level this led to."""
        change = self._tightened(degree, level)
        while change > self.target and self._rtol(level + 1) > 0.99 * _TIGHTEST:
            tighter = self._tightened(degree, level + 1)
            if not tighter < change:
                break
            change, level = tighter, level + 1
        return change, level

    def _tightened(self, degree: int, level: int) -> float:
        return relative_change(self._solve(degree, level)[0], self._solve(degree, level - 1)[0])

    def _rtol(self, level: int | None) -> float:
        return _LOOSE if level is None else max(self.target, 10 * _TIGHTEST) / 10**level

    def _solve(self, degree: int, level: int | None) -> tuple[list[np.ndarray], float]:
        """Values on the output grid, one array per field, and the size of the tail; NaN where it failed."""
        if (degree, level) not in self.runs:
            self.runs[degree, level] = self._integrated(self._space(degree), self._rtol(level))
        return self.runs[degree, level]

    def _integrated(self, modal: Modal, rtol: float) -> tuple[list[np.ndarray], float]:
        times = self.times
        shape = (len(times), *map(len, self.axes))
        flags = self.problem.complex_fields
        interval = float(times[1] - times[0])
        states = np.empty((len(times), len(modal.rates)), modal.rates.dtype)
        states[0] = modal.start()
        integrator = Integrator(modal.rates, modal.force, interval, rtol, self._size(modal, states[0]))
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                for number in range(1, len(times)):
                    state = states[number - 1]
                    for begin, end in self._pieces(float(times[number - 1]), float(times[number])):
                        own = integrator
                        if abs(end - begin - interval) > 1e-9 * interval:
                            own = Integrator(modal.rates, modal.force, end - begin, rtol, integrator.size)
                        state = own.advance(state, begin)
                    states[number] = state
        except Stuck as stuck:
            self.why = str(stuck)
            return [np.full(shape, np.nan, complex if c else float) for c in flags], math.inf
        matrices = modal.onto(self.axes)
        values = np.empty((len(times), modal.count, *map(len, self.axes)))
        batch = max(1, _BATCH // int(np.prod(modal.shape)))
        for first in range(0, len(times), batch):
            part = slice(first, first + batch)
            values[part] = modal.along(modal.values(times[part], states[part]), matrices)
        found = [np.array(v) for v in self.problem.to_fields(np.moveaxis(values, 1, -1))]
        for array, exact in zip(found, initial_on_grid(self.problem, self.axes), strict=True):
            array[0] = exact
        return found, modal.tail(states[1:])

    def _size(self, modal: Modal, start: np.ndarray) -> float:
        """About how large the state becomes: where it begins at nothing, what F adds to it."""
        if start.any():
            return float(np.linalg.norm(start))
        times, weights = scan(self.problem).time.quadrature()
        return float(weights @ [np.linalg.norm(modal.force(np.array([t]), start[None])) for t in times])

    def _pieces(self, begin: float, end: float) -> list[tuple[float, float]]:
        """An output interval, cut where F or the data jump in time."""
        least = 1e-9 * (end - begin)
        inside = [t for t in scan(self.problem).time.breaks if begin + least < t < end - least]
        return list(itertools.pairwise([begin, *inside, end]))

    def _wider(self, degree: int) -> int:
        return math.ceil(1.3 * degree)


def _check(problem: Problem) -> None:
    """Conditions that determine the solution along every axis with walls, and nothing that jumps along it."""
    for letter, line in zip(problem.space, scan(problem).space, strict=True):
        if line.jumps or (line.high - line.low) / line.shortest > _MOST[len(problem.space)]:
            raise NoReferenceError(
                f"{problem.name} has something along {letter} that jumps or is narrower than the spectral "
                "reference resolves. Smooth it, or compare with data of your own."
            )
    for axis, ends in enumerate(problem.boundaries):
        missing = None if ends.periodic else unclosed(problem, axis)
        if missing:
            raise NoReferenceError(f"{missing} Change the conditions, or compare with data of your own.")
