"""The reference of a problem with boundary data: refined until the values stop changing."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..errors import NoReferenceError
from ..problem import Problem
from .collocation import DEGREE, Collocation
from .result import HOPELESS, ROUNDING, SolverResult, relative_change

_FIRST, _MOST = 8, 400
"""Numbers of elements."""

_LOOSE, _TIGHTEST = 1e-5, 1e-12
"""Radau's relative tolerance while the number of elements is searched for, and the smallest it can use."""


def solve_chebyshev(
    problem: Problem, times: np.ndarray, axes: list[np.ndarray], tolerance: float
) -> SolverResult:
    """Values per field, estimated relative error, a sentence on the method, and notes."""
    _check(problem)
    target = max(tolerance, ROUNDING)
    solvers: dict[int, Collocation] = {}
    runs: dict[tuple[int, float], tuple[list[np.ndarray], float]] = {}

    def solve(elements: int, rtol: float) -> tuple[list[np.ndarray], float]:
        if (elements, rtol) not in runs:
            if elements not in solvers:
                solvers[elements] = Collocation(problem, elements)
            runs[elements, rtol] = solvers[elements].solve(times, axes[0], rtol)
        return runs[elements, rtol]

    elements = _find_elements(problem, lambda n: solve(n, _LOOSE)[1], target)
    while True:
        wider = _wider(elements)
        in_time, rtol = _settle(lambda r, n=elements: solve(n, r)[0], target)
        in_space = relative_change(solve(wider, 10 * rtol)[0], solve(elements, 10 * rtol)[0])
        if in_space <= target or in_time > target or _wider(wider) > _MOST:
            break
        elements = wider
    estimate = in_time + in_space
    if not estimate <= HOPELESS:
        raise NoReferenceError(
            f"The Chebyshev reference of {problem.name} did not settle: with {elements} elements its "
            f"relative change is still {estimate:.1e}. The solution may blow up or form a shock; shorten the "
            "horizon, or add diffusion."
        )
    notes = solvers[elements].corner_notes()
    if max(in_time, in_space) > tolerance:
        notes.append(
            f"The tolerance {tolerance:.0e} was not reached: the error is estimated as {in_time:.1e} from "
            f"refining the step and {in_space:.1e} from refining the grid."
        )
    solver = (
        f"Chebyshev collocation on {elements} patched elements of degree {DEGREE}, Radau IIA of order 5 with "
        f"relative tolerance {rtol:.0e}; checked against tolerance {10 * rtol:.0e} and {wider} elements."
    )
    return SolverResult(solve(elements, rtol)[0], estimate, solver, tuple(notes))


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
    order = max(sum(index) for index in problem.derivatives)
    if order == 1:
        raise NoReferenceError(
            f"{problem.name} has first derivatives only, so that data at both ends are one condition too "
            "many: what flows in fixes what flows out. Add diffusion, or use boundary=Periodic()."
        )
