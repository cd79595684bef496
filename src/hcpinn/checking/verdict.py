"""Weighing the evidence about a solution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..outcome import Stop
from ..solution.verdict import Verdict

if TYPE_CHECKING:
    from ..reference import Reference

_OVERFIT = 3.0
"""Residual between the training points over the residual at them that counts as hidden."""


def judge(
    *,
    stop: Stop,
    accuracy: float,
    errors: Mapping[str, float] | None,
    reference: Reference | str,
    residual_trained: float | None,
    residual_fresh: float | None,
    estimate: float | None = None,
    at_start: float = 0.0,
    between: float = 0.0,
    floor: float | None = None,
) -> Verdict:
    """Weigh the evidence. A small residual alone never makes a solution converged.

    `reference` is the independent solution, or the reason why there is none.
    `residual_trained` and `residual_fresh` are root-mean-square residuals at the training
    points and at points that training never saw, None for an engine that has none.
    `estimate` is the error as the engine estimates it: it decides nothing, but is named where it turns out
    to be wrong. `at_start` and `between` are errors that the comparison cannot see: those made before its
    first time, and wiggles between its places.
    `floor` is an error that the lift alone leaves.
    """
    reasons: list[str] = []
    trained, hidden = False, False
    if residual_trained is not None and residual_fresh is not None:
        trained, hidden = True, residual_fresh > _OVERFIT * residual_trained
    if hidden:
        reasons.append(
            f"The residual between the training points ({residual_fresh:.1e}) is far above that at them "
            f"({residual_trained:.1e}): take more points, or draw them anew with resampling=Resampling()."
        )
    if floor is not None and floor > accuracy / 10:
        reasons.append(
            f"The initial data have a kink where the period closes, which the lift keeps and the solution "
            f"loses: with this lift the error hardly falls below {floor:.0e}. Use lift=Semigroup()."
        )
    broke = (stop.value,) if stop.failed else ()  # said unless the solution turns out to be right
    if errors is None or isinstance(reference, str):
        reasons = [*broke, *reasons, str(reference)]
        return Verdict("not converged" if stop.failed else "suspect", None, tuple(reasons))
    error = float(np.max(list(errors.values())))  # NaN if any is
    sure = error + reference.error_estimate <= 1.1 * accuracy  # a tenth over is no reason to doubt
    if not error <= accuracy:
        reasons = [*broke, *reasons]
        reasons.append(
            f"The error is above the accuracy asked for ({accuracy:.0e})"
            + (": train longer, or use more points or a larger network." if trained else ".")
        )
        if stop in (Stop.ESTIMATE, Stop.ACCURACY) and estimate is not None:
            reasons.append(f"The engine stopped too soon: by its own estimate the error was {estimate:.0e}.")
        return Verdict("suspect" if hidden else "not converged", error, tuple(reasons))
    if unseen := _unseen(at_start, between, accuracy):
        return Verdict("suspect", float(np.nanmax([error, at_start, between])), (*broke, *reasons, *unseen))
    known = float(np.fmax(error, reference.error_estimate))
    if not reference.error_estimate <= max(error, _NEGLIGIBLE * accuracy):
        reasons.append(
            f"The reference itself is only good to {reference.error_estimate:.1e}, so the error may be "
            "larger than it seems."
        )
        status = "converged" if sure else "suspect"
        return Verdict(status, known, tuple(reasons))
    if not sure:
        reasons.append(
            f"With the reference's own error of {reference.error_estimate:.1e} it may be above the accuracy "
            f"asked for ({accuracy:.0e})."
        )
        return Verdict("suspect", error, tuple(reasons))
    reasons.append(f"Compared with an independent solution that is good to {reference.error_estimate:.0e}.")
    return Verdict("converged", known, tuple(reasons))


_NEGLIGIBLE = 1e-3
"""Share of the accuracy: a doubt about the reference as small as that is not worth a word."""


def _unseen(at_start: float, between: float, accuracy: float) -> list[str]:
    """What the comparison with the reference leaves open."""
    reasons = []
    if not at_start <= accuracy:
        reasons.append(
            f"Right after the start, before the first time of the comparison, the error may be "
            f"{at_start:.0e}: the solution is thin in time there. Take more points."
        )
    if not between <= accuracy:
        reasons.append(
            f"Between the places of the comparison the solution wiggles by {between:.0e}, more than the "
            "reference does: an interface may not be resolved. Take more points."
        )
    return reasons
