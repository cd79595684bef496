"""`fit`: from a problem with unknowns and measurements to estimates with errors and a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats
from threadpoolctl import threadpool_limits

from ..catalog import find_method
from ..descent import Method
from ..errors import MethodError, NoReferenceError, NoSolutionError, OutOfTimeError, ProblemError
from ..evolution import Evolution, applies
from ..evolution.limits import Limits
from ..evolution.outcome import Halted
from ..machine.interrupt import patient_interrupt
from ..machine.precision import double
from ..machine.supervision import Left, supervised
from ..outcome import Stop
from ..problem import Problem
from ..reference import Reference, solve_reference
from ..solution import Solution
from ..solving import solve
from . import judgement
from .layout import Layout
from .leftover import tested
from .measurements import Measurements
from .model import Model, described
from .numerics import compared
from .result import Fit
from .robust import Loss
from .search import FINE, Misfit, Point, descend
from .training import fit_by_training
from .uncertainty import Spread, blindness, is_straight, profile, spread

_COARSE = 3e-3
"""Accuracy of the solutions that a search starts with."""

_FINEST = 1e-7

_BELOW = 0.1
"""The error of a solution at all measurements together, in units of the noise of one."""

_SMOOTHINGS = 6
"""How often the strength of a smoothness prior is re-estimated on one basis."""

_CHECK = 0.1
"""Of the accuracy of a solution: that of the classical one it is compared with."""

_ROUNDS = 6

_STILL = 0.1
"""A change of the estimate by less than so many standard errors is none."""

_NEAR = 0.05
"""A basis serves for z that differ by so much, in powers of e or typical sizes; so do coarse solutions."""

_ROUGH = 0.3
"""A step of so many standard errors ends a coarse search."""


@dataclass
class _State:
    """Where a fit stands: the best so far, for when time runs out."""

    model: Model
    misfit: Misfit
    point: Point | None = None
    stop: Stop | None = None
    others: tuple[np.ndarray, ...] = ()
    rounds: int = 0
    settled: bool = False


def fit(
    problem: Problem,
    data: Measurements | Sequence[Measurements],
    method: Method | str | None = None,
    *,
    starts: int = 3,
    seed: int = 0,
    level: float = 0.95,
    loss: str = "gaussian",
    max_seconds: float | None = None,
    reference: bool = True,
    on_progress: Callable[[str], None] | None = None,
) -> Fit:
    """Find the unknowns of a problem from measurements.

    The likelihood is maximised by Gauss–Newton steps with exact sensitivities, on solutions whose error is a
    tenth of what the noise leaves uncertain. Noise that is not given is estimated.

    Ctrl-C or SIGTERM ends it within two seconds, with what was found if that can be checked in this time.

    Args:
        problem: with at least one `Unknown` among its parameters.
        data: what was measured, in one experiment or several.
        method: a `Method` that trains, or the name of one, to compare with: the unknowns are then trained
            along with the network, and have no intervals. By default solutions evolve.
        starts: searches from the guess and from other places; what they find is compared.
        seed: the seed of everything random.
        level: the probability with which intervals are to hold the truth.
        loss: "gaussian", or for outliers "huber" or "cauchy".
        max_seconds: the time this may take; the best found so far comes back.
        reference: whether the solution at the estimate is compared with a classical one.
        on_progress: called with a sentence on what was done, from the thread that computes.

    Raises:
        OutOfTimeError: `max_seconds` was too short to find anything.
        NoSolutionError: the problem has no solution at any start.
    """
    experiments = _checked(problem, data, starts, level, max_seconds)
    tell = on_progress or (lambda sentence: None)
    own = find_method(method, problem.nominal) if isinstance(method, str) else method
    if isinstance(own, Method):
        first, *others = experiments
        if others:
            raise MethodError("Training takes one experiment at a time. Fit by evolution.")
        with double():
            return fit_by_training(
                problem,
                first,
                own,
                seed=seed,
                level=level,
                max_seconds=max_seconds,
                reference=reference,
                tell=tell,
            )
    with double():
        layout = Layout(problem)
        reason = applies(layout.closed(problem, layout.start))
        if reason is not None:
            raise MethodError(f"A fit needs solutions by evolution. {reason}")
    begun: list[_State] = []

    def work() -> Fit:
        with double():
            # One thread factorises matrices of a few hundred rows several times faster than several do.
            with threadpool_limits(1, user_api="blas"), patient_interrupt() as interrupted:
                limits = Limits(np.inf if max_seconds is None else 0.8 * max_seconds, interrupted.is_set)
                model = Model(problem, experiments, layout, limits, seed)
                state = _State(model, _first_misfit(model, Loss(loss)))
                begun.append(state)
                try:
                    _search(state, starts, seed, tell)
                except Halted as halted:
                    state.stop = halted.stop
                if state.point is None:
                    if state.stop is Stop.INTERRUPTED:
                        raise KeyboardInterrupt
                    raise OutOfTimeError(
                        f"Nothing was found within max_seconds = {max_seconds:g}. Allow more."
                    )
                tell("Solving the problem at the estimate, and checking it.")
                solution = _solution(state, reference, max_seconds)
                numerics, tests = compared(state, solution), tested(state)
                hidden = numerics.hides_noise(structure=bool(tests.wrong))
                limits.seconds = np.inf if max_seconds is None else max_seconds
                outcome = _uncertain(state, level, tell, max(numerics.bound, 1.0) if hidden else 1.0)
            return judgement.judged(
                problem, experiments, state, outcome, solution, level, tests=tests, numerics=numerics
            )

    try:
        return supervised(work)
    except Left:
        if begun and begun[0].point is not None:
            tell(f"Interrupted before errors were known, at {described(layout, begun[0].point.z)}.")
        raise KeyboardInterrupt from None


def _search(state: _State, starts: int, seed: int, tell: Callable[[str], None]) -> None:
    """The least misfit: coarsely from several starts, then with ever better solutions from the best."""
    model, layout = state.model, state.model.layout
    rng = np.random.default_rng([seed, 1])
    places = [layout.start, *(layout.drawn(rng) for _ in range(starts - 1))]
    found: list[tuple[float, Point]] = []
    failed = ""
    for number, z in enumerate(places):
        try:
            point = _descended(model, z, state.misfit, _COARSE, _ROUGH)
            better = not found or _cost(state, point) < 0.99 * found[0][0]
            if better and np.abs(point.z - z).max() > _NEAR:
                # The basis of the start need not resolve what is there.
                point = _descended(model, point.z, state.misfit, _COARSE, _ROUGH)
        except NoSolutionError as error:
            failed = str(error)
            continue
        except Halted:
            if found:
                break
            raise
        found.append((_cost(state, point), point))
        found.sort(key=lambda pair: pair[0])
        state.point = found[0][1]
        tell(f"Start {number + 1} of {len(places)}: {described(layout, point.z)}.")
    if not found:
        raise NoSolutionError(failed)
    noises = _noises(state, found[0][1])
    for number in range(_ROUNDS):
        assert state.point is not None
        state.misfit.sigma = noises
        accuracy = _wanted(state)
        before = state.point
        point = _descended(model, before.z, state.misfit, accuracy)
        state.point, state.rounds = point, number + 1
        noises = _noises(state, point)
        moved = _moved(state, point.z - before.z)
        tell(f"Solutions good to {accuracy:.0e}: {described(layout, point.z)}.")
        changed = float(np.abs(noises / state.misfit.sigma - 1).max())
        state.misfit.sigma = noises
        # What a fresh basis would change, the solution at the estimate tells in the end. How large the noise
        # is decides nothing where all values share it.
        weighed = changed < 0.02 or (len(model.groups) == 1 and not layout.curves)
        served = np.abs(point.z - before.z).max() < _NEAR and accuracy < _COARSE
        still = number and moved < _STILL
        if weighed and (served or still) and _wanted(state) > 0.3 * accuracy:
            state.settled = True
            break
    _compare(state, found[0][1], [p for _, p in found[1:]], tell)


def _compare(state: _State, coarse: Point, ends: Sequence[Point], tell: Callable[[str], None]) -> None:
    """Whether other searches ended elsewhere and about as low; those that may have are followed."""
    best = state.point
    assert best is not None
    cost, followed = _cost(state, best), False
    for point in ends:
        if _moved(state, point.z - best.z) < 5.0 or _cost(state, point) > cost + len(state.misfit.values):
            continue
        if min(np.abs(point.z - known.z).max() for known in (best, coarse)) < _NEAR:
            continue
        followed = True
        try:
            other = _descended(state.model, point.z, state.misfit, state.model.accuracy)
        except NoSolutionError:
            continue
        rise = _cost(state, other) - cost
        if rise < 9.0 and _moved(state, other.z - best.z) > 5.0:
            tell(f"Another minimum: {described(state.model.layout, other.z)}.")
            state.others = (*state.others, other.z)
    if followed:
        state.model.adapt(best.z, state.model.accuracy)


def _descended(model: Model, z: np.ndarray, misfit: Misfit, accuracy: float, fine: float = FINE) -> Point:
    """The least misfit near z, on bases for z."""
    model.adapt(z, accuracy)
    there = model.linearised(z)
    if there is None:
        raise NoSolutionError(
            f"{model.experiments[0].problem.name} has no solution at {described(model.layout, z)}."
        )
    return _lowest(model, Point(z, *there), misfit, fine)


def _lowest(model: Model, start: Point, misfit: Misfit, fine: float = FINE) -> Point:
    """The least misfit near a start on the present bases, with priors as strong as the data want them."""
    point = descend(model, start, misfit, known=False, fine=fine)
    for _ in range(_SMOOTHINGS if model.layout.curves else 0):
        before = dict(model.layout.strength)
        r, jacobian = misfit.rows(point)
        count = len(misfit.values)
        known = all(group.noise is not None for group in model.groups)
        model.layout.smooth(point.z, r[:count], jacobian[:count], known=known)
        point = descend(model, point, misfit, known=False, fine=fine)
        if all(abs(np.log(model.layout.strength[name] / old)) < 0.2 for name, old in before.items()):
            break
    return point


def _cost(state: _State, point: Point) -> float:
    return state.misfit.cost(point.z, point.predicted)


def _moved(state: _State, change: np.ndarray) -> float:
    """A change of z in standard errors: the largest over its entries."""
    assert state.point is not None
    rows = state.misfit.rows(state.point)[1]
    errors = spread(rows, least=0.0, numbers=state.model.layout.numbers).errors
    return float(np.max(np.abs(change) / np.maximum(errors, 1e-300)))


def _first_misfit(model: Model, loss: Loss) -> Misfit:
    """Noise that is not known is taken to be alike, relative to the size of each measured quantity."""
    sigma = np.empty(len(model.values))
    for group in model.groups:
        own = model.values[group.rows]
        size = float(np.sqrt(np.mean(own**2))) or 1.0
        sigma[group.rows] = 0.1 * size if group.noise is None else group.noise
    return Misfit(model.values, sigma, loss, model.layout.prior)


def _noises(state: _State, point: Point) -> np.ndarray:
    """σ for each value: as known, or as the residuals of its group say."""
    sigma = state.misfit.sigma.copy()
    count = len(sigma)
    rows = (1 / sigma)[:, None] * point.jacobian
    spent = min(state.model.layout.freedom(rows), count - 1) / count
    for group in state.model.groups:
        if group.noise is None:
            left = (point.predicted - state.model.values)[group.rows]
            found = state.misfit.loss.scale(left, len(left) * (1 - spent))
            size = float(np.sqrt(np.mean(state.model.values[group.rows] ** 2))) or 1.0
            sigma[group.rows] = max(found, 1e-14 * size)
    return sigma


def _wanted(state: _State) -> float:
    """The relative accuracy at which solutions add nothing to what the noise leaves uncertain."""
    each = []
    for group in state.model.groups:
        size = float(np.sqrt(np.mean(state.model.values[group.rows] ** 2))) or 1.0
        each.append(float(np.median(state.misfit.sigma[group.rows])) / size)
    return float(np.clip(_BELOW * min(each) / math.sqrt(len(state.model.values)), _FINEST, 1e-3))


@dataclass(frozen=True)
class Outcome:
    """What is known of the estimate: its covariance and intervals in z."""

    spread: Spread
    intervals: dict[str, tuple[float, float]]
    profiles: dict[str, np.ndarray]
    reach: float
    width: float = 1.0
    """What values may be off by, in units of the noise."""


def _uncertain(state: _State, level: float, tell: Callable[[str], None], width: float = 1.0) -> Outcome:
    """Errors and intervals; `width` times the noise is what values may be off by."""
    model, layout, misfit, point = state.model, state.model.layout, state.misfit.widened(width), state.point
    assert point is not None
    rows = misfit.rows(point)[1]
    size = float(np.linalg.norm(point.predicted / misfit.sigma))
    found = spread(
        rows,
        least=blindness(rows[: len(misfit.values)], model.accuracy * size),
        numbers=layout.numbers,
        inflation=misfit.loss.inflation(misfit.scaled(point.predicted)),
    )
    unknown_noise = any(group.noise is None for group in model.groups)
    freedom = max(len(misfit.values) - layout.freedom(rows[: len(misfit.values)]), 1)
    share = (1 + level) / 2
    reach = float(scipy.stats.t.ppf(share, freedom) if unknown_noise else scipy.stats.norm.ppf(share))
    intervals, profiles = {}, {}
    for entry, name in enumerate(layout.names):
        if not found.determined(entry):
            continue
        try:
            if not misfit.loss.robust and not is_straight(model, misfit, point, found, entry, reach):
                tell(f"Following the likelihood's profile of {name}.")
                intervals[name], profiles[name] = profile(model, misfit, point, found, entry, reach)
        except Halted as halted:
            state.stop = halted.stop
            break
    return Outcome(found, intervals, profiles, reach, width)


def _solution(state: _State, reference: bool, max_seconds: float | None) -> Solution:
    """The problem of the first experiment at the estimate, solved with other samples and checked."""
    assert state.point is not None
    model = state.model
    closed = model.layout.closed(model.experiments[0].problem, state.point.z)
    # Half of the time that is left; intervals have the other.
    left = None if max_seconds is None else max((max_seconds - model.limits.spent) / 2, 0.05 * max_seconds)
    accuracy = float(np.clip(model.accuracy, _FINEST, 1e-3))
    trusted: Reference | bool = reference
    if reference and max_seconds is None:  # within a time, `solve` bounds the reference too
        try:
            trusted = solve_reference(closed, tolerance=_CHECK * accuracy)
        except NoReferenceError:
            trusted = False
    try:
        return solve(
            closed,
            Evolution(),
            seed=model.seed + 1,
            accuracy=accuracy,
            max_seconds=left,
            reference=trusted,
            progress=False,
        )
    except OutOfTimeError as error:
        raise OutOfTimeError(
            f"max_seconds = {max_seconds:g} was too short to check the estimate "
            f"{described(model.layout, state.point.z)}. Allow more."
        ) from error


def _checked(problem: Any, data: Any, starts: Any, level: Any, max_seconds: Any) -> tuple[Measurements, ...]:
    if not isinstance(problem, Problem):
        raise ProblemError(f"fit takes a Problem with unknowns, but got {problem!r}.")
    experiments = (data,) if isinstance(data, Measurements) else tuple(data)
    if not experiments or not all(isinstance(own, Measurements) for own in experiments):
        raise ProblemError(
            "fit takes Measurements, or a list of them for several experiments: Measurements(t, x, u=values)."
        )
    if isinstance(starts, bool) or not (isinstance(starts, int | np.integer) and starts >= 1):
        raise MethodError(f"starts must be a whole number of at least 1, but is {starts!r}.")
    if not (isinstance(level, int | float | np.number) and 0 < level < 1):
        raise MethodError(f"level is a probability such as 0.95, but is {level!r}.")
    if max_seconds is not None and not (isinstance(max_seconds, int | float | np.number) and max_seconds > 0):
        raise MethodError(f"max_seconds must be a positive number, but is {max_seconds!r}.")
    return experiments
