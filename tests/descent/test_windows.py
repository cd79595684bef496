"""Time windows join exactly where they are hard, and nearly where they are soft."""

import dataclasses

import numpy as np
import pytest

import hcpinn as hc
from descent.schemes import (
    DECAY,
    FAMILY,
    SOFTLY,
    T,
    X,
    assert_continuous,
    lbfgs,
    method,
    relative,
    trained,
)
from hcpinn.descent import Preparation
from hcpinn.errors import MethodError

MARCH = method(windows=3, stages=(lbfgs(60),))


def test_time_windows_join_exactly_and_solve_the_equation():
    restless = FAMILY.with_parameters(swing=2.0)
    solution = trained(MARCH, restless).solution
    assert_continuous(solution)
    assert solution.history.stages == tuple((f"L-BFGS, window {n}/3", 60) for n in (1, 2, 3))
    # uₜ = −u + 2 cos 12t
    driven = 2 * (np.cos(12 * T) + 12 * np.sin(12 * T) - np.exp(-T)) / 145
    assert relative(solution(T, X), FAMILY.initial(X) * np.exp(-T) + driven) < 5e-3


def test_soft_time_windows_are_held_together_by_the_penalty():
    solution = trained(dataclasses.replace(SOFTLY, windows=2, stages=(lbfgs(60),) * 2)).solution
    np.testing.assert_allclose(solution(0.5 + 1e-9, X[0]), solution(0.5, X[0]), atol=0.05)
    assert relative(solution(T, X), DECAY.initial(X) * np.exp(-T)) < 0.05


def test_soft_periodicity_cannot_start_a_window_exactly():
    penalties = (hc.PeriodicPenalty(16),)
    with pytest.raises(MethodError, match="A time window starts exactly from the end of the one before"):
        Preparation([hc.Run(DECAY, method(embedding=hc.Plain(), penalties=penalties, windows=2))])
