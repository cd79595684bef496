"""Reference solutions: the right solver for each problem, refined, checked and cached."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import jax
import numpy as np
from threadpoolctl import threadpool_limits

from ..equation import content_of, scan
from ..errors import NoReferenceError
from ..machine.precision import double
from ..problem import Problem, refuse_open
from .cache import entry_key, load, store
from .fourier import solve_fourier
from .result import Reference, SolverResult

_NARROW = 500
"""The axis over the length of a pulse from which on elements serve better than Fourier modes."""

_POINTS = {1: 512, 2: 129, 3: 49}
"""Output points per axis if none are asked for, by number of space dimensions."""


def solve_reference(
    problem: Problem,
    *,
    times: int = 101,
    points: int | Sequence[int] | None = None,
    tolerance: float = 1e-9,
    cache: bool = True,
    keep: Callable[[Reference], None] = lambda so_far: None,
) -> Reference:
    """A trusted classical solution of the problem, with an estimate of its error.

    Periodic problems are solved by a Fourier method, those with one condition at each end of an
    interval by Chebyshev collocation, and all others, on boxes, with several conditions at an end
    and of second order in time, by a Galerkin method of polynomials and waves. Grid and step are
    refined until the values settle.

    Args:
        problem: what to solve.
        times: how many equidistant times to give values at, from the start to the horizon.
        points: how many equidistant points per axis, both ends included: one number for all axes or one
            for each. Unless given, 512 in one dimension, 129 in two, 49 in three.
        tolerance: the relative change, in L², at which refinement stops. Where it is out of reach, the
            reference says so in its notes and in `error_estimate`.
        cache: whether to look for the reference in the cache folder and to keep it there. One whose problem
            calls what hcpinn cannot read, such as a table of another library, is always computed.
        keep: is called with what serves already while it is refined further, for callers that may not wait
            for the end.
    """
    refuse_open(problem, "A classical solver takes numbers: give one with problem.with_parameters(…).")
    axes = _output_axes(problem, points)
    if times < 2:
        raise NoReferenceError(f"A reference needs at least 2 output times, but times = {times}.")
    if not 0 < tolerance <= 1e-3:
        raise NoReferenceError(f"The tolerance of a reference lies between 0 and 1e-3, but is {tolerance:g}.")
    solver = _solver(problem)
    key = ""
    content = content_of(problem) if cache else None
    if content is not None:
        settings = {"times": times, "points": [len(a) for a in axes], "tolerance": tolerance}
        key = entry_key(content, settings)
        known = load(key, problem.name)
        if known is not None:
            return known
    grid = np.linspace(float(problem.start), float(problem.horizon), times)
    start = time.perf_counter()
    if scan(problem).jumps_in_state:
        raise NoReferenceError(
            f"F jumps as a function of the solution of {problem.name}, as np.sign(u) does. The equation does "
            "not settle what happens at the jump, so there is nothing to compare with. Replace the jump by a "
            "steep, smooth change."
        )
    found = None
    with double(), _one_thread(), _processor(len(axes)):
        for outcome in solver(problem, grid, axes, tolerance):
            found = Reference(
                problem_name=problem.name,
                times=grid,
                coordinates=tuple(axes),
                values=dict(zip(problem.fields, outcome.values, strict=True)),
                error_estimate=float(outcome.error_estimate) + _granularity(problem),
                solver=outcome.solver,
                notes=outcome.notes,
                wall_s=time.perf_counter() - start,
            )
            keep(found)
    assert found is not None  # a solver that finds nothing says so
    if key:
        store(key, found)
    return found


def _output_axes(problem: Problem, points: int | Sequence[int] | None) -> list[np.ndarray]:
    dimensions = len(problem.space)
    if points is None:
        points = _POINTS[dimensions]
    counts = [points] * dimensions if isinstance(points, int) else list(points)
    if len(counts) != dimensions or min(counts) < 2:
        raise NoReferenceError(
            f"{problem.name} has the space axes {', '.join(problem.space)}, but points = {points!r}. Give "
            "one number of at least 2 for all axes, or one per axis."
        )
    ends = zip(problem.domain.lower, problem.domain.upper, counts, strict=True)
    return [np.linspace(a, b, n) for a, b, n in ends]


def _solver(
    problem: Problem,
) -> Callable[[Problem, np.ndarray, list[np.ndarray], float], Iterator[SolverResult]]:
    """Fourier, patched Chebyshev elements for fronts on an interval, and the spectral Galerkin method."""
    if problem.pieces:
        from .elements import solve_elements

        return solve_elements
    patchy = problem.order == 1 and problem.periodic and _patchy(problem)
    if problem.order == 1 and problem.periodic and not patchy:
        return solve_fourier
    # SciPy takes long to import.
    from .boxes import solve_box
    from .chebyshev import solve_chebyshev

    kinds = [{tuple(c.factors for c in own) for own in side.conditions} for side in problem.sides]
    alike = all(len(each) == 1 and len(next(iter(each))) == 1 for each in kinds)
    order = max(sum(index) for index in problem.derivatives)
    second = order == 2 or (order < 2 and problem.periodic)
    turning = any(problem.complex_fields)  # Radau takes very short steps for what turns in the complex plane
    if problem.order == 1 and len(problem.space) == 1 and alike and second and (patchy or not turning):
        return solve_chebyshev
    return solve_box


_NAMES = {
    "solve_fourier": "a Fourier method",
    "solve_chebyshev": "Chebyshev collocation",
    "solve_box": "a spectral Galerkin method",
    "solve_elements": "finite elements",
}


def planned(problem: Problem) -> str:
    """Which classical solver checks a problem, in words; nothing is solved."""
    name = _solver(problem.nominal).__name__
    return f"{_NAMES.get(name, name.removeprefix('solve_'))}, refined until it stops changing"


def _patchy(problem: Problem) -> bool:
    """Whether something jumps or is too narrow for Fourier modes, and patches can help."""
    if len(problem.space) > 1 or max(sum(index) for index in problem.derivatives) > 2:
        return False
    (line,) = scan(problem).space
    if 0 < line.moving * _NARROW < line.high - line.low:
        return False  # patches stay where they are
    return bool(line.jumps) or (line.high - line.low) / line.shortest > _NARROW


def _granularity(problem: Problem) -> float:
    """How little of the time between two breaks can be told by numbers: more is not known of a pulse."""
    line = scan(problem).time
    gap = float(np.diff([line.low, *line.breaks, line.high]).min())
    return float(np.spacing(max(abs(line.low), abs(line.high)))) / gap


def _one_thread() -> contextlib.AbstractContextManager[object]:
    """BLAS with one thread, where small products are several times faster than with several.

    The number is the whole process's, so that only the main thread changes it: a reference computed beside a
    solution could restore what that has set.
    """
    if threading.current_thread() is not threading.main_thread():
        return contextlib.nullcontext()
    return threadpool_limits(1, user_api="blas")


def _processor(dimensions: int) -> contextlib.AbstractContextManager[object]:
    """Small one-dimensional steps run on the CPU, where a GPU would mostly wait."""
    if dimensions > 1:
        return contextlib.nullcontext()
    try:
        return jax.default_device(jax.local_devices(backend="cpu")[0])
    except RuntimeError:
        return contextlib.nullcontext()
