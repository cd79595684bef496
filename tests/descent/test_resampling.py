"""Points are drawn anew while training goes on, evenly or where the residual is large."""

import dataclasses
import itertools

import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from descent.schemes import DECAY, SOFTLY, adam, coordinates, lbfgs, method, train_together, trained
from hcpinn.descent import Lesson, Preparation
from hcpinn.objective.sampling import nearest

FIRST = Lesson()


def test_fresh_points_differ_from_part_to_part_and_fill_the_domain():
    prepared = Preparation([hc.Run(DECAY, method(resampling=hc.Resampling(4)))])
    parts = [coordinates(prepared, FIRST, part) for part in range(3)]
    for one, other in itertools.pairwise(parts):
        assert not set(one[:, 0]) & set(other[:, 0])
    for part in parts:
        assert part.shape == (64, 2)
        for column, (low, high) in zip(part.T, ((0, 1), (-1, 1)), strict=True):
            strata = np.floor((column - low) / (high - low) * 64).astype(int)
            assert sorted(strata) == list(range(64))  # a Latin hypercube each
    np.testing.assert_array_equal(parts[2], coordinates(prepared, FIRST, 2))


def test_training_goes_on_with_the_fresh_points():
    chosen = method(weights=hc.Causal(8), resampling=hc.Resampling(4))
    solution = trained(chosen)
    np.testing.assert_array_equal(
        solution.weights["residual"].points, coordinates(solution.preparation, FIRST, 2)
    )
    kept = trained(dataclasses.replace(chosen, resampling=None))
    np.testing.assert_allclose(solution.history.loss[:4], kept.history.loss[:4], rtol=1e-12)
    assert (np.abs(solution.history.loss / kept.history.loss - 1)[4:] > 1e-6).all()


def test_points_by_residual_are_more_where_it_is_large():
    """r = 1 + 9 on a tenth of the domain, so odds of 1 + 10/1.9 against 1 + 1/1.9."""
    step = declare(rhs=lambda u, x: -1.0 - 9.0 * (np.abs(x) < 0.1), initial=lambda x: 0 * x + 1.0)
    chosen = method(lift=hc.Decay(0.0), points=2000, resampling=hc.Resampling(5, "residual", candidates=10))
    prepared = Preparation([hc.Run(step, chosen)])
    zero = np.zeros_like(prepared.theta)
    drawn, chosen_points = coordinates(prepared, FIRST, 0), coordinates(prepared, FIRST, 1, zero)
    assert np.mean(np.abs(drawn[:, 1]) < 0.1) == pytest.approx(0.1, abs=0.002)
    odds = 0.1 * (1 + 10 / 1.9), 0.9 * (1 + 1 / 1.9)
    expected = odds[0] / sum(odds)
    assert np.mean(np.abs(chosen_points[:, 1]) < 0.1) == pytest.approx(expected, abs=0.04)
    assert chosen_points.shape == (2000, 2)
    assert len(np.unique(chosen_points, axis=0)) == 2000


def test_adam_and_lbfgs_train_on_points_that_are_replaced():
    for by in ("fresh", "residual"):  # which are compiled alike
        stages = (adam(120), lbfgs(120))
        history = trained(method(resampling=hc.Resampling(60, by), stages=stages)).history
        assert history.loss[-1] < 1e-3 * history.loss[0]
        assert history.stages == (("Adam", 120), ("L-BFGS", 120))


def test_causal_weights_suit_the_points_of_every_stage():
    chosen = method(weights=hc.Causal(8), resampling=hc.Resampling(4), stages=(adam(12), lbfgs(4)))
    found = trained(chosen).weights["residual"]
    by_time = found.weights[np.argsort(found.points[:, 0])]
    assert (np.diff(by_time) <= 0).all()
    assert len(np.unique(by_time)) == 8


def test_fresh_points_take_over_the_weights_of_the_nearest_old_ones():
    """After one step on them λ = γ λ_old + η |r| / max|r|."""
    rule = hc.Attention(rate=0.05, memory=0.95)
    settings = {"weights": rule, "resampling": hc.Resampling(40)}
    before, after = (
        trained(method(**settings, stages=(adam(steps, rate=1e-3),))).weights["residual"]
        for steps in (40, 41)
    )
    assert not set(before.points[:, 0]) & set(after.points[:, 0])
    at = nearest(before.points, after.points)
    old, new = np.sqrt(before.weights[at]), np.sqrt(after.weights)
    assert np.ptp(old) > 0.3
    gained = new - rule.memory * old
    assert gained.min() > 0
    assert gained.max() == pytest.approx(rule.rate)


def test_a_stage_that_freezes_weights_has_them_at_its_own_points():
    """L-BFGS begins with the points that Adam began with, not with those it ended on."""
    stages = (adam(12), lbfgs(4))
    chosen = dataclasses.replace(SOFTLY, weights=hc.SelfAdaptive(rate=0.1), resampling=hc.Resampling(8))
    first = trained(dataclasses.replace(chosen, stages=stages[:1])).weights
    both = trained(dataclasses.replace(chosen, stages=stages))
    np.testing.assert_array_equal(both.weights["residual"].points, coordinates(both.preparation, FIRST))
    for name, own in both.weights.items():
        at = nearest(first[name].points, own.points)
        np.testing.assert_array_equal(own.weights, first[name].weights[at])
        fixed = np.array_equal(at, np.arange(len(at)))
        assert fixed == (name != "residual")  # penalties keep their points


def test_a_rule_of_ones_own_goes_with_fresh_points():
    """One that weighs points by λ and counts its steps: the count stays, the λ go over."""

    class Counting(hc.objective.WeightRule):
        def covers(self, term):
            return term == "residual"

        def init(self, when):
            return 1.0 + when, jnp.zeros(())

        def weights(self, state):
            return state[0] + 100 * state[1]

        def update(self, state, squares, share, at):
            return state[0], state[1] + 1

    [outcome] = train_together([hc.Run(DECAY, method(weights=Counting(), resampling=hc.Resampling(4)))])
    found, first = outcome.weights["residual"], coordinates(outcome.preparation, FIRST)
    second = coordinates(outcome.preparation, FIRST, 1)
    at = nearest(first, second)[nearest(second, found.points)]
    np.testing.assert_allclose(found.weights, 1.0 + first[at, 0] + 100 * 13, rtol=1e-12)
