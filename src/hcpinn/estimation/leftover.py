"""Whether what a model leaves of the data is noise: tests of each measured quantity, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .residuals import misfit as chi_square, structure

if TYPE_CHECKING:
    from .fit import _State

UNLIKELY = 1e-3
"""Noise alone looks like this so rarely that the model is called wrong."""

_OUTLYING = 3.0
"""Residuals, in units of the noise, from which a value is an outlier to a robust loss."""

_SLIGHT = 0.01
"""Of the size of the values: a misfit below which these may be at fault."""


@dataclass(frozen=True)
class Tested:
    """Whether residuals are noise."""

    wrong: tuple[str, ...]
    """What is wrong with them, in sentences."""
    facts: dict[str, Any]
    """The tests as plain data."""


def tested(state: _State) -> Tested:
    """Test the size and the structure of the residuals."""
    point, misfit, model = state.point, state.misfit, state.model
    assert point is not None
    residuals = misfit.scaled(point.predicted)
    rows = point.jacobian / misfit.sigma[:, None]
    # A robust loss gives outliers up; whether the rest is noise is what counts.
    inlying = np.abs(residuals) <= (_OUTLYING if misfit.loss.robust else np.inf)
    reasons: list[str] = []
    tests: list[dict[str, Any]] = []
    facts: dict[str, Any] = {"values": len(residuals), "tests": tests}
    if misfit.loss.robust:
        facts["outliers"] = int(np.sum(~inlying))
    known = np.concatenate([g.rows for g in model.groups if g.noise is not None] or [np.zeros(0, int)])
    if len(known) and not misfit.loss.robust:
        spent = model.layout.freedom(rows)
        freedom = max(len(known) - spent * len(known) / len(residuals), 1.0)
        square, p = chi_square(residuals[known], freedom)
        facts |= {"chi2": square, "freedom": freedom, "chi2_p": p}
        size = float(np.sqrt(square / freedom))
        if p < UNLIKELY and size > 1:
            reasons.append(
                f"The misfit is {size:.2g} times what the known noise explains (χ² = {square:.4g} for "
                f"{freedom:.0f} degrees of freedom, p = {p:.0e}): the noise is larger than said, or the "
                "model is wrong, so there are no intervals."
            )
    first = 0
    for experiment in model.experiments:
        seen = experiment.observation
        count = len(seen.values)
        for group in (g for g in model.groups if len(g.rows) and first <= g.rows[0] < first + count):
            own = group.rows[inlying[group.rows]]
            places = seen.data.points[seen.row[own - first]]
            for test in structure(places, residuals[own], point.predicted[own], rows[own]):
                tests.append(
                    {
                        "experiment": group.experiment,
                        "quantity": group.name,
                        "test": test.name,
                        "p": test.p,
                        "misfit": _relative(model.values[own], point.predicted[own]),
                    }
                )
        first += count
    if tests:
        worst = min(tests, key=lambda t: t["p"])
        if worst["p"] * len(tests) < UNLIKELY:
            reasons.append(_structured(worst))
    return Tested(tuple(reasons), facts)


def _relative(measured: np.ndarray, predicted: np.ndarray) -> float:
    """The misfit relative to what was measured."""
    return float(np.linalg.norm(predicted - measured) / max(float(np.linalg.norm(measured)), 1e-300))


def _structured(test: dict[str, Any]) -> str:
    """What a test of residuals found, as a sentence."""
    size = test["misfit"]
    but = ", unless the data have errors of that size that are no noise, as those of another solver"
    return (
        f"The residuals of {test['quantity']}, {100 * size:.2g}% of its size, are no noise: there is "
        f"{test['test']} (p = {test['p']:.0e}). The model does not describe the data"
        f"{but if size < _SLIGHT else ''}, so there are no intervals."
    )
