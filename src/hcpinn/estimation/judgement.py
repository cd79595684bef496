"""From what a search found to a `Fit`: intervals, noise, tests of the residuals, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..machine.precision import double
from ..problem import Problem
from ..solution import Solution
from .leftover import UNLIKELY, Tested
from .measurements import Measurements
from .numerics import Numerics
from .result import FREE, RELIABLE, SUSPECT, WRONG, CurveEstimate, Estimate, Fit, Fitted, FitVerdict
from .uncertainty import combination

if TYPE_CHECKING:
    from .fit import Outcome, _State

_VAGUE = 0.5
"""Relative standard error from which a function counts as not determined at a place."""

_ROUGH = 10.0
"""How much larger than asked for the error of solutions may be that are all there is to tell errors by."""

_SHIFT = 0.5
"""Standard errors that the numerical error may move an estimate by."""


def judged(
    problem: Problem,
    data: Sequence[Measurements],
    state: _State,
    outcome: Outcome,
    solution: Solution,
    level: float,
    *,
    tests: Tested,
    numerics: Numerics,
) -> Fit:
    """All that is said of a fit."""
    point, layout = state.point, state.model.layout
    assert point is not None
    hidden = numerics.hides_noise(structure=bool(tests.wrong))
    wrong, facts = ([] if hidden else list(tests.wrong)), dict(tests.facts)
    hidden = hidden and outcome.width > 1
    shift = _shift(state, outcome, numerics)
    facts |= {"numerical_shift": shift, "numerical_error": numerics.size, "noise_hidden": hidden}
    free = [combination(layout, point.z, v) for v in outcome.spread.free]
    facts["free"] = free
    bounded = _at_bounds(state)
    few = _too_few(state)
    confident = not wrong and not few
    curves = _curves(state, outcome, confident=confident)
    facts["smoothness"] = {name: layout.strength[name] for name in curves}
    physics = _physics(solution, shift)
    if hidden:
        physics = _numerical_doubts(state, solution, numerics)
    reasons, status = [], RELIABLE
    for found, name in (
        (physics, SUSPECT),
        (_noise_doubts(facts), SUSPECT),
        (few, SUSPECT),
        (_search_doubts(state, bounded), SUSPECT),
        ([*_freedom(free), *_unseen(curves)], FREE),
        (wrong, WRONG),
    ):
        if found:
            reasons, status = [*found, *reasons], name
    if status == RELIABLE:
        reasons = [_praise(state, facts, solution, shift, numerics)]
    estimates = _estimates(state, outcome, confident=confident) | curves
    fitted = _fitted(state, outcome)
    seconds = state.model.limits.spent
    return Fit(
        problem=problem,
        data=tuple(data),
        estimates=estimates,
        correlations=outcome.spread.correlations[: layout.numbers, : layout.numbers],
        noise={f.name if len(data) == 1 else f"{f.experiment}.{f.name}": f.noise for f in fitted},
        fitted=fitted,
        verdict=FitVerdict(status, tuple(reasons)),
        solution=solution,
        level=level,
        facts=facts,
        profiles=_profiles(state, outcome),
        wobble=partial(_wobble, state, outcome),
        seconds=seconds,
    )


def _shift(state: _State, outcome: Outcome, numerics: Numerics) -> float:
    """How far an independent solution would move the estimates, in standard errors: the largest."""
    point, misfit, model = state.point, state.misfit.widened(outcome.width), state.model
    assert point is not None
    rows = misfit.rows(point)[1][: len(numerics.change)]
    known = np.array([outcome.spread.determined(i) for i in range(model.layout.numbers)], bool)
    known = np.append(known, np.ones(len(point.z) - len(known), bool))
    if not known.any():
        return 0.0
    moved = outcome.spread.covariance @ (rows.T @ numerics.change) / outcome.width
    return float(np.max((np.abs(moved) / outcome.spread.errors)[known]))


def _physics(solution: Solution, shift: float) -> list[str]:
    """What speaks against the solution at the estimate."""
    reasons = []
    verdict = solution.verdict
    if verdict.error is not None and not verdict.converged and shift > _SHIFT / 5:
        reasons.append(f"The solution at the estimate is {verdict}")
    if shift > _SHIFT:
        reasons.append(
            f"Another solution at the estimate would move it by {shift:.2g} standard errors, so that "
            "numerical error counts."
        )
    return reasons


def _numerical_doubts(state: _State, solution: Solution, numerics: Numerics) -> list[str]:
    """What speaks against errors that come from numerical error alone."""
    verdict, reasons = solution.verdict, []
    if verdict.error is not None and not verdict.converged:
        reasons.append(f"The solution at the estimate is {verdict}")
    if numerics.size > _ROUGH * state.model.accuracy:
        reasons.append(
            f"The misfit is no larger than the error of the solutions, {numerics.size:.0e} of their size, "
            f"where {state.model.accuracy:.0e} was asked for: it tells nothing of noise."
        )
    return reasons


def _too_few(state: _State) -> list[str]:
    """Whether nothing is left to tell the noise by."""
    point, model = state.point, state.model
    assert point is not None
    if all(group.noise is not None for group in model.groups):
        return []
    spent, count = model.layout.freedom(point.jacobian / state.misfit.sigma[:, None]), len(model.values)
    if count - spent > 0.5:
        return []
    return [
        f"Fitting {round(spent)} numbers to as many values leaves nothing to tell the noise by: give it, "
        "noise=…, or measure more."
    ]


def _search_doubts(state: _State, bounded: list[str]) -> list[str]:
    """What speaks against the search."""
    from .model import described

    reasons = []
    if state.stop is not None:
        reasons.append(state.stop.value)
    elif not state.settled:
        reasons.append("The search did not converge: better solutions kept moving the estimate.")
    if bounded:
        reasons.append(
            f"The best fit lies at a bound of {', '.join(bounded)}: widen it if that is no law of nature."
        )
    if state.others:
        other = described(state.model.layout, state.others[0])
        reasons.append(f"Another place fits about as well: {other}.")
    return reasons


def _noise_doubts(facts: dict[str, Any]) -> list[str]:
    """Whether the noise is smaller than said."""
    if facts.get("chi2_p", 1.0) >= UNLIKELY or facts["chi2"] > facts["freedom"]:
        return []
    size = np.sqrt(facts["chi2"] / facts["freedom"])
    return [f"The misfit is {size:.2g} times what the known noise makes likely: it is smaller than said."]


def _freedom(free: list[str]) -> list[str]:
    """What the data leave free, in sentences."""
    return [
        f"The data do not determine {what}."
        if " while " not in what
        else f"The data do not tell if {what}: only another combination of them is determined."
        for what in free
    ]


def _praise(
    state: _State, facts: dict[str, Any], solution: Solution, shift: float, numerics: Numerics
) -> str:
    error = solution.verdict.error
    if facts["noise_hidden"]:
        return (
            f"{facts['values']} values are described to within the error of the solutions, "
            f"{max(numerics.size, error or 0.0):.0e} of their size, which hides any noise; the errors of the "
            f"estimates are the most that so much can make."
        )
    noise = (
        f"χ² = {facts['chi2']:.4g} for {facts['freedom']:.0f} degrees of freedom"
        if "chi2" in facts
        else "no structure in the residuals"
    )
    but = f" but {facts['outliers']} outliers" if facts.get("outliers") else ""
    physics = (
        f"a classical solution at the estimate agrees to {error:.0e}"
        if error is not None
        else "a second evolution at the estimate agrees (there is no classical solution to compare with)"
    )
    return (
        f"{facts['values']} values{but} are described to within their noise ({noise}); {physics}; "
        f"numerical error moves the estimates by {max(shift, 0.01):.1g} standard errors at most."
    )


def _at_bounds(state: _State) -> list[str]:
    point, layout = state.point, state.model.layout
    assert point is not None
    close = (np.abs(point.z - layout.lower) < 1e-6) | (np.abs(point.z - layout.upper) < 1e-6)
    return [name for name, at in zip(layout.names, close, strict=False) if at]


def _estimates(state: _State, outcome: Outcome, *, confident: bool) -> dict[str, Estimate]:
    point, layout = state.point, state.model.layout
    assert point is not None
    found = {}
    for entry, (name, unknown) in enumerate(layout.unknowns.items()):
        z = float(point.z[entry])
        value = float(unknown.from_z(z))
        if not confident or not outcome.spread.determined(entry):
            found[name] = Estimate(value, np.inf, unknown.bounds, "bounds")
            continue
        error = float(outcome.spread.errors[entry])
        ends = outcome.intervals.get(name, (z - outcome.reach * error, z + outcome.reach * error))
        low, high = (
            float(unknown.from_z(v)) for v in np.clip(ends, layout.lower[entry], layout.upper[entry])
        )
        by = "numerical error" if outcome.width > 1 else "curvature"
        by = "profile" if name in outcome.intervals else by
        found[name] = Estimate(value, error * unknown.slope(z), (low, high), by)
    return found


def _curves(state: _State, outcome: Outcome, *, confident: bool) -> dict[str, CurveEstimate]:
    point, layout = state.point, state.model.layout
    assert point is not None
    found = {}
    for name, part in layout.slices.items():
        curve = layout.values(point.z)[name]
        at = curve.grid()
        weights = curve.weights(at) * layout.units[name]
        own = outcome.spread.covariance[part, part]
        error = np.sqrt(np.maximum(np.einsum("np,pq,nq->n", weights, own, weights), 0.0))
        middle = weights @ point.z[part]
        size = 1.0 if curve.positive else max(float(np.ptp(middle)), float(np.abs(middle).max()), 1e-300)
        seen = (error < _VAGUE * size) & confident
        ends = [np.where(seen, middle + sign * outcome.reach * error, sign * np.inf) for sign in (-1, 1)]
        error = np.where(seen, error, np.inf)
        if curve.positive:
            middle, ends = np.exp(middle), [np.exp(end) for end in ends]
            error = middle * error
        found[name] = CurveEstimate(curve, at, middle, error, (ends[0], ends[1]))
    return found


def _unseen(curves: dict[str, CurveEstimate]) -> list[str]:
    """Where the data do not determine a function, in sentences."""
    reasons = []
    for name, curve in curves.items():
        dark = ~np.isfinite(curve.error)
        if dark.any():
            edges = np.flatnonzero(np.diff(np.concatenate([[0], dark.astype(int), [0]])))
            pieces = [
                f"{curve.at[a]:.3g} to {curve.at[b - 1]:.3g}"
                for a, b in zip(edges[::2], edges[1::2], strict=True)
            ]
            reasons.append(f"The data do not determine {name} from {' and from '.join(pieces)}.")
    return reasons


def _fitted(state: _State, outcome: Outcome) -> tuple[Fitted, ...]:
    point, misfit, model = state.point, state.misfit, state.model
    assert point is not None
    found, first = [], 0
    for experiment in model.experiments:
        seen = experiment.observation
        count = len(seen.values)
        for group in (g for g in model.groups if len(g.rows) and first <= g.rows[0] < first + count):
            slopes = point.jacobian[group.rows]
            error = np.sqrt(
                np.maximum(np.einsum("np,pq,nq->n", slopes, outcome.spread.covariance, slopes), 0.0)
            )
            found.append(
                Fitted(
                    group.experiment,
                    group.name,
                    seen.data.points[seen.row[group.rows - first]],
                    model.values[group.rows],
                    point.predicted[group.rows],
                    error,
                    float(np.sqrt(np.mean(misfit.sigma[group.rows] ** 2))),
                    group.noise is not None,
                )
            )
        first += count
    return tuple(found)


def _wobble(state: _State, outcome: Outcome, points: np.ndarray) -> np.ndarray:
    """One standard deviation of each component of u at points, by the errors of the estimates."""
    point, model = state.point, state.model
    assert point is not None
    with double():
        frame = model.experiments[0].frame
        assert frame is not None
        model.limits.seconds = np.inf
        places = frame.places(points, ((0,) * points.shape[1],))
        slopes = frame.solve(point.z, tolerance=0.03 * model.accuracy).slopes(places)[0]
    return np.sqrt(np.maximum(np.einsum("cnp,pq,cnq->cn", slopes, outcome.spread.covariance, slopes), 0.0))


def _profiles(state: _State, outcome: Outcome) -> dict[str, np.ndarray]:
    layout = state.model.layout
    return {
        name: np.column_stack([layout.unknowns[name].from_z(rows[:, 0]), rows[:, 1]])
        for name, rows in outcome.profiles.items()
    }
