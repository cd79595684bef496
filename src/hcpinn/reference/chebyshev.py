"""The reference of a problem with boundary data: refined until the values stop changing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..equation import scan
from ..equation.projection import initial_on_grid
from ..errors import NoReferenceError
from ..problem import Problem
from .collocation import DEGREE, MOST_CALLS, Collocation
from .panels import panel_edges
from .result import HOPELESS, ROUNDING, SolverResult, relative_change, weighed

_FIRST, _MOST = 8, 400
"""Numbers of elements."""

_LOOSE, _TIGHTEST = 1e-5, 1e-12
"""Radau's relative tolerance while the number of elements is searched for, and the smallest it can use."""


_DEPTH, _DEEPEST = 1e-3, 1e-6
"""Of the axis: how small elements become at a kink of the data and at a corner where the equation disagrees
with them; and where a wall jumps."""

_NARROWEST = 3000.0
"""The axis over the width of the narrowest thing that may move along it."""

_ROUNDS = 4
"""Most refinements of the grid once the number of elements is found."""


def solve_chebyshev(
    problem: Problem, times: np.ndarray, axes: list[np.ndarray], tolerance: float
) -> Iterator[SolverResult]:
    """Better and better ones; the last is as good as it gets."""
    _check(problem)
    return _Refinement(problem, times, axes, tolerance).run()


class _Refinement:
    """Runs at different numbers of elements and tolerances, each computed once, and their outcomes."""

    def __init__(self, problem: Problem, times: np.ndarray, axes: list[np.ndarray], tolerance: float):
        self.problem, self.times, self.targets = problem, times, axes[0]
        self.tolerance, self.target = tolerance, max(tolerance, ROUNDING)
        self.line = scan(problem).space[0]
        first = self._collocation(_FIRST, ())
        kinks = [x for x in self.line.jumps if _kinked(problem, x)]
        self.corners = tuple(sorted({*first.corners(), *kinks}))
        self.depth = _DEPTH if not first.breaking else _DEEPEST
        self.work = math.inf
        """Evaluations of F that a run may take, times the fourth root of its tolerance (with which the steps
        shrink): eight times what the last one took."""
        self.notes = first.corner_notes()
        self.solvers: dict[int, Collocation] = {}
        self.runs: dict[tuple[int, float], tuple[list[np.ndarray], float]] = {}

    def _collocation(self, elements: int, corners: Sequence[float], depth: float = _DEPTH) -> Collocation:
        return Collocation(self.problem, panel_edges(self.line, elements, corners=corners, depth=depth))

    def solve(self, elements: int, rtol: float) -> tuple[list[np.ndarray], float]:
        """Values, and the size of the tail, with elements no longer than the axis over so many."""
        if (elements, rtol) not in self.runs:
            if elements not in self.solvers:
                self.solvers[elements] = self._collocation(elements, self.corners, self.depth)
            solver = self.solvers[elements]
            most = min(max(self.work * rtol**-0.25, 3000), MOST_CALLS)
            self.runs[elements, rtol] = solver.solve(self.times, self.targets, rtol, int(most))
            if math.isfinite(self.runs[elements, rtol][1]):
                self.work = 8 * solver.calls * rtol**0.25
        return self.runs[elements, rtol]

    def run(self) -> Iterator[SolverResult]:
        elements = _find_elements(self.problem, lambda n: self.solve(n, _LOOSE)[1], self.target)
        in_time, rtol = _settle(lambda r: self.solve(elements, r)[0], self.target)
        before = in_space = math.inf
        for _ in range(_ROUNDS):
            wider = _wider(elements)
            while rtol < _LOOSE and not math.isfinite(self.solve(wider, rtol)[1]):
                tight, rtol = rtol, 10 * rtol  # rounding on the wider grid exceeds the tolerance
                in_time = relative_change(self.solve(elements, rtol)[0], self.solve(elements, tight)[0])
            change = relative_change(self.solve(wider, rtol)[0], self.solve(elements, rtol)[0])
            in_space = _remaining(change, before)
            elements, before = wider, change
            if in_time + in_space <= HOPELESS:
                yield self._result(elements, rtol, in_time, in_space)
            if in_space <= self.target or _wider(wider) > _MOST or in_time > 10 * change:
                break
        if not in_time + in_space <= HOPELESS:
            raise NoReferenceError(
                f"The Chebyshev reference of {self.problem.name} did not converge: with {elements} elements "
                f"its relative change is still {in_time + in_space:.1e}. The solution may blow up or form a "
                "shock; shorten the horizon, or add diffusion."
            )

    def _result(self, elements: int, rtol: float, in_time: float, in_space: float) -> SolverResult:
        used = self.solvers[elements].patches.elements
        solver = (
            f"Chebyshev collocation on {used} patched elements of degree {DEGREE}, Radau IIA of order 5 with "
            f"relative tolerance {rtol:.0e}; checked against tolerance {10 * rtol:.0e} and fewer elements."
        )
        values = self.solve(elements, rtol)[0]
        return weighed(values, in_time, in_space, self.tolerance, solver, self.notes)


def _kinked(problem: Problem, place: float) -> bool:
    """Whether the initial data jump, or have a slope that does, at a place inside the domain."""
    (low, high), step = problem.domain.bounds[0], 1e-6 * problem.domain.lengths[0]
    if not low + 2 * step < place < high - 2 * step:
        return False
    x = place + step * np.array([-2.0, -1.0, 1.0, 2.0])
    values = np.stack(initial_on_grid(problem, [x]))
    before, after = values[:, 1] - values[:, 0], values[:, 3] - values[:, 2]
    across = values[:, 2] - values[:, 1]
    gap = np.maximum(np.abs(after - before), np.abs(across - before - after))
    return bool((gap > 1e-3 * np.maximum(np.abs(before), np.abs(after)) + 1e-9 * np.abs(values).max()).any())


def _remaining(change: float, before: float) -> float:
    """The error left after a refinement that changed the values so much, and the one before by `before`.

    Changes that fall by a ratio r each time leave r/(1 − r) of the last one. What falls slowly is rough; the
    first refinement, of which no ratio is known, leaves as much as it changed.
    """
    ratio = change / before if 0 < before < math.inf else 0.5
    return change * max(ratio / (1 - ratio), 0.5) if ratio < 0.95 else 20 * change


def _find_elements(problem: Problem, tail: Callable[[int], float], tolerance: float) -> int:
    """The number of elements that holds the solution's Chebyshev series, from quick, loose runs."""
    elements, size = _FIRST, tail(_FIRST)
    while 10 * tolerance < size < math.inf and 2 * elements <= _MOST:
        finer = tail(2 * elements)
        if size < _LOOSE and finer > size / 4:
            return elements  # what is left in the tail comes from the loose steps, not from the grid
        elements, size = 2 * elements, finer
    if not math.isfinite(size):
        raise NoReferenceError(
            f"The Chebyshev reference of {problem.name} could not be integrated to t = {problem.horizon:g}. "
            "The solution may blow up within the horizon, or the equation be ill-posed (as uₜ = −uₓₓ is); "
            "shorten the horizon or check the signs in rhs."
        )
    return elements


def _settle(solve: Callable[[float], list[np.ndarray]], tolerance: float) -> tuple[float, float]:
    """The last change on tightening Radau's tolerance tenfold, and the tolerance this led to.

    Where rounding makes a tighter one useless, or the integration fail, the one before counts.
    """
    rtol = max(tolerance, 10 * _TIGHTEST) / 10
    while rtol < _LOOSE and not all(np.isfinite(v).all() for v in solve(rtol)):
        rtol *= 10
    change = relative_change(solve(rtol), solve(10 * rtol))
    while change > tolerance and rtol / 10 > 0.99 * _TIGHTEST:
        tighter = relative_change(solve(rtol / 10), solve(rtol))
        if not tighter < change:
            break
        change, rtol = tighter, rtol / 10
    return change, rtol


def _wider(elements: int) -> int:
    return math.ceil(1.4 * elements)


def _check(problem: Problem) -> None:
    if problem.periodic:
        return
    (line,) = scan(problem).space
    if 0 < _NARROWEST * line.moving < line.high - line.low:
        raise NoReferenceError(
            f"F of {problem.name} has something {line.moving:.1g} wide that moves across the domain, too "
            "narrow for the elements of the Chebyshev reference. Widen it."
        )
