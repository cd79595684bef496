"""Weights turn to where they should: to large residuals, or to early times first."""

import dataclasses

import numpy as np
import pytest

import hcpinn as hc
from descent.schemes import EASY, FAMILY, adam, coordinates, lbfgs, method, trained
from hcpinn.descent import Stop


def test_self_adaptive_weights_end_larger_where_the_residual_stayed_large():
    """Waves that the small network cannot follow for x > 0, and none for x < 0."""
    chosen = method(weights=hc.SelfAdaptive(), stages=(adam(200),))
    found = trained(chosen, FAMILY.with_parameters(waves=3.0)).weights["residual"]
    right = found.points[:, 1] > 0
    assert np.median(found.weights[right]) > 2 * np.median(found.weights[~right])
    assert (found.weights > 1).all()


def test_weights_are_frozen_while_lbfgs_runs():
    first = trained(method(weights=hc.SelfAdaptive()))
    both = trained(method(weights=hc.SelfAdaptive(), stages=(adam(12), lbfgs(12))))
    found = both.weights["residual"]
    assert found.weights.tobytes() == first.weights["residual"].weights.tobytes()
    assert np.ptp(found.weights) > 0
    losses = both.history.loss[12:]
    assert (np.diff(losses) <= 0).all()
    assert losses[-1] == pytest.approx(np.mean(found.weights * both.squares), rel=1e-10)
    assert both.history.terms["residual"][-1] == pytest.approx(np.mean(both.squares), rel=1e-10)


def test_causal_training_solves_early_times_first():
    restless = FAMILY.with_parameters(a=0.0, swing=0.5)

    def by_quarter(rule):
        found = trained(method(weights=rule, stages=(adam(200),)), restless)
        first = coordinates(found.preparation, found.preparation.schedule.first)
        quarter = np.floor(4 * first[:, 0])
        return [np.sqrt(found.squares[quarter == k].mean()) for k in range(4)]

    plain, ordered = by_quarter(None), by_quarter(hc.Causal(8, (10.0,)))
    assert ordered[0] == min(ordered)
    assert ordered[0] < 0.75 * plain[0]
    assert ordered[3] > plain[3]


def test_causal_training_ends_when_every_weight_has_passed_at_the_last_tolerance():
    solution = trained(dataclasses.replace(EASY, stages=EASY.stages[:1]))
    assert solution.stop is Stop.CAUSAL
    assert not solution.stop.failed
    assert 1 < len(solution.history.loss) < 5000
    found = solution.weights["residual"]
    by_time = found.weights[np.argsort(found.points[:, 0])]
    assert (np.diff(by_time) <= 0).all()
    assert by_time[0] == 1.0
    assert 0.95 < by_time[-1] < 1.0


def test_causal_training_that_ended_is_followed_by_the_next_stage():
    (_, first), (label, second) = trained(EASY).history.stages
    assert first < 5000
    assert (label, second) == ("L-BFGS", 4)


def test_attention_turns_to_the_larger_residuals():
    solution = trained(method(weights=hc.Attention(0.1, 0.9), stages=(adam(200),)))
    found, sizes = solution.weights["residual"], np.sqrt(solution.squares)
    assert (found.weights < (0.1 / (1 - 0.9)) ** 2).all()
    large, small = sizes > np.quantile(sizes, 0.9), sizes < np.quantile(sizes, 0.1)
    assert found.weights[large].mean() > 1.5 * found.weights[small].mean()
