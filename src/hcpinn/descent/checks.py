"""What can be wrong with runs that are to train, found before they do."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from ..errors import MethodError, unknown_name
from ..objective import DataPenalty, check_penalties
from ..problem import HORIZON
from ..trial import JetNetwork, NoLift, Trial
from .method import Method
from .runs import Run


def check_curriculum(runs: Sequence[Run]) -> None:
    """A curriculum's parameter must be one of the problem's, and allowed at every factor."""
    for run in runs:
        curriculum = run.method.curriculum
        if curriculum is None:
            continue
        if curriculum.parameter == HORIZON:
            raise MethodError("For a curriculum in the horizon use horizons=(0.25, 0.5, 1.0).")
        if curriculum.parameter not in run.problem.parameters:
            raise unknown_name(
                "parameter of the curriculum",
                curriculum.parameter,
                run.problem.parameters,
                of=run.problem.name,
            )
        value = run.problem.parameters[curriculum.parameter]
        for factor in curriculum.factors:
            run.problem.with_parameters(**{curriculum.parameter: factor * value})


def check_data(runs: Sequence[Run]) -> None:
    """Measured data must be of the problem's fields, and inside its domain."""
    for run in runs:
        for penalty in run.method.penalties:
            if isinstance(penalty, DataPenalty):
                penalty.terms(run.problem)
                penalty.check_inside(run.problem)


def check_trials(trials: Sequence[Trial], method: Method) -> None:
    """Each condition held in one way, windows that can start, and features that runs can share."""
    for trial in trials:
        check_penalties(trial, method.penalties)
        _check_windows(trial, method)
        _check_features(trial, trials[0], method)


def _check_windows(trial: Trial, method: Method) -> None:
    soft = [axis for kind, axis in trial.left_open if kind == "periodic"]
    if method.windows > 1 and soft and not isinstance(method.lift, NoLift):
        raise MethodError(
            "A time window starts exactly from the end of the one before, which a penalty does not make "
            f"periodic along {trial.problem.space[soft[0] or 0]}. Use embedding=Fourier(modes), or "
            "lift=NoLift() and gate=NoGate(), or windows=1."
        )


def _check_features(trial: Trial, first: Trial, method: Method) -> None:
    """A network that is differentiated as a whole sees the features of the first run."""
    points = jnp.asarray([[trial.problem.horizon, *trial.problem.domain.lower]])
    if trial is first or isinstance(method.network, JetNetwork):
        return
    if not np.array_equal(trial.embed(points), first.embed(points)):
        raise MethodError(
            f"With a {type(method.network).__name__}, runs that train together must have the same "
            "embedding, but theirs depends on parameters in which they differ. Solve them one after the "
            "other."
        )
