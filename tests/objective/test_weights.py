"""Weights of points follow their published formulas, step by step."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.errors import MethodError, UnknownNameError
from hcpinn.objective import WeightRule

WHEN = np.array([0.05, 0.3, 0.3, 0.55, 0.8, 1.0])


def sequence(steps, points, seed=0):
    """Squared mismatches as a network in training might leave them."""
    return np.random.default_rng(seed).exponential(size=(steps, points)) * np.logspace(1, -2, steps)[:, None]


def follow(rule, squares, share=None, at=None):
    """The rule's state after updates with each row of squares in turn, at the points `at` of each step."""
    state = rule.init(jnp.asarray(WHEN))
    update = jax.jit(rule.update)
    for number, row in enumerate(squares):
        some = None if at is None else jnp.asarray(at[number])
        weight = jnp.full(len(row), 1 / len(row)) if share is None else jnp.asarray(share)
        state = update(state, jnp.asarray(row), weight, some)
    return state


MASKS = {
    "identity": (lambda x: x, lambda x: np.ones_like(x)),
    "square": (lambda x: x**2, lambda x: 2 * x),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2),
}


def adam_ascent(slope, squares, share, *, rate, initial, at=None):
    """λ after Adam's ascent of Σ share · F(λ) · s, with moments and counts of each point's own."""
    value = np.full(len(WHEN), float(initial))
    first, second, count = np.zeros_like(value), np.zeros_like(value), np.zeros_like(value)
    for number, row in enumerate(squares):
        some = np.arange(len(value)) if at is None else at[number]
        gradient = share * row * slope(value[some])
        count[some] += 1
        first[some] = 0.9 * first[some] + 0.1 * gradient
        second[some] = 0.999 * second[some] + 0.001 * gradient**2
        mean, spread = first[some] / (1 - 0.9 ** count[some]), second[some] / (1 - 0.999 ** count[some])
        value[some] += rate * mean / (np.sqrt(spread) + 1e-8)
    return value, first, second, count


@pytest.mark.parametrize("mask", MASKS)
def test_self_adaptive_weights_ascend_by_adam(mask):
    function, slope = MASKS[mask]
    rule = hc.SelfAdaptive(mask, rate=0.02, initial=0.7)
    squares, share = sequence(12, len(WHEN)), np.linspace(0.1, 0.3, len(WHEN))
    state = follow(rule, squares, share)
    expected = adam_ascent(slope, squares, share, rate=0.02, initial=0.7)
    for got, wanted in zip((state.value, state.first, state.second, state.count), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    np.testing.assert_allclose(rule.weights(state), function(expected[0]), rtol=1e-12)


def test_self_adaptive_weights_start_from_the_mask_of_the_initial_value():
    rule = hc.SelfAdaptive("square", initial=3.0)
    np.testing.assert_array_equal(rule.weights(rule.init(jnp.asarray(WHEN))), 9.0)
    assert all(rule.covers(term) for term in ("residual", "initial", "periodic", "boundary x"))


@pytest.mark.parametrize("mask", MASKS)
def test_in_mini_batches_only_the_points_visited_change_and_each_counts_its_own_visits(mask):
    rule = hc.SelfAdaptive(mask, rate=0.02, initial=0.7)
    at = [np.array(some) for some in ([4, 0], [4, 1], [0, 4], [2, 4], [1, 0])]
    squares = sequence(len(at), 2)
    state = follow(rule, squares, at=at)
    expected = adam_ascent(MASKS[mask][1], squares, 0.5, rate=0.02, initial=0.7, at=at)
    for got, wanted in zip((state.value, state.first, state.second, state.count), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    np.testing.assert_array_equal(state.count, [3, 2, 1, 0, 4, 0])
    before = follow(rule, squares[:-1], at=at[:-1])
    for name in ("value", "first", "second", "count"):  # the last batch holds points 0 and 1
        np.testing.assert_array_equal(getattr(state, name)[2:], getattr(before, name)[2:])


def test_attention_adds_the_share_of_the_largest_residual_and_forgets():
    rule = hc.Attention(rate=0.01, memory=0.9)
    squares = sequence(30, len(WHEN))
    value = np.zeros(len(WHEN))
    for row in squares:
        value = 0.9 * value + 0.01 * np.sqrt(row) / np.sqrt(row).max()
    state = follow(rule, squares)
    np.testing.assert_allclose(state, value, rtol=1e-12)
    np.testing.assert_allclose(rule.weights(state), value**2, rtol=1e-12)


def test_attention_stays_below_its_bound_and_reaches_it_where_the_residual_is_always_largest():
    rule = hc.Attention(rate=0.01, memory=0.9)
    squares = np.tile([4.0, 1.0, 1.0, 0.0, 1.0, 0.25], (300, 1))
    value = np.asarray(follow(rule, squares))
    bound = 0.01 / (1 - 0.9)
    assert (value <= bound).all()
    np.testing.assert_allclose(value, bound * np.sqrt(squares[0] / 4.0), rtol=1e-12, atol=1e-300)


def test_attention_in_mini_batches_leaves_other_points_alone():
    rule = hc.Attention(rate=0.01, memory=0.9)
    state = follow(rule, [[1.0, 4.0], [9.0, 1.0]], at=[[1, 3], [3, 5]])
    one = 0.01 * np.array([0, 0.5, 0, 1.0, 0, 0])
    two = np.where([False, False, False, True, False, True], 0.9 * one, one)
    np.testing.assert_allclose(state, two + 0.01 * np.array([0, 0, 0, 1.0, 0, 1 / 3]), rtol=1e-12)


def test_attention_stays_finite_where_every_residual_is_zero():
    assert np.isfinite(follow(hc.Attention(), np.zeros((3, len(WHEN))))).all()


CHUNK = np.array([0, 1, 1, 2, 3, 3])
"""The quarter of the time that each point of WHEN lies in; the horizon belongs to the last."""


def causal(**settings):
    return hc.Causal(**{"chunks": 4, "tolerances": (0.5,), **settings})


def chunk_losses(squares):
    return np.array([np.mean(squares[i == CHUNK]) for i in range(4)])


def test_causal_weights_fall_with_the_losses_of_earlier_times():
    rule, squares = causal(), sequence(1, len(WHEN))[0]
    state = follow(rule, [squares])
    losses = chunk_losses(squares)
    expected = np.exp(-0.5 * np.array([losses[:i].sum() for i in range(4)]))
    np.testing.assert_allclose(rule.by_chunk(state), expected, rtol=1e-13)
    np.testing.assert_allclose(rule.weights(state), expected[CHUNK], rtol=1e-13)
    assert rule.weights(state)[0] == 1.0
    assert rule.covers("residual")
    assert not rule.covers("initial")


@pytest.mark.parametrize("late", [0, 1, 2, 3])
@pytest.mark.parametrize("size", [1.0, 1e17])
def test_a_loss_weighs_on_later_times_only(late, size):
    rule, squares = causal(), sequence(1, len(WHEN))[0] / 10
    raised = np.where(late == CHUNK, size, squares)
    before, after = (np.asarray(rule.by_chunk(follow(rule, [s]))) for s in (squares, raised))
    np.testing.assert_array_equal(after[: late + 1], before[: late + 1])
    assert (after[late + 1 :] < before[late + 1 :]).all()


def test_causal_weights_are_one_before_anything_is_measured():
    rule = causal()
    np.testing.assert_array_equal(rule.weights(rule.init(jnp.asarray(WHEN))), 1.0)


def test_a_chunk_without_points_in_the_batch_keeps_its_loss():
    rule = causal()
    state = follow(rule, [[1.0, 3.0, 8.0], [2.0, 5.0, 5.0]], at=[[0, 1, 3], [1, 4, 5]])
    np.testing.assert_allclose(state.losses, [1.0, 2.0, 8.0, 5.0])


def test_the_tolerance_grows_when_all_weights_exceed_the_threshold_and_the_last_one_ends_training():
    rule = causal(tolerances=(1.0, 100.0), threshold=0.9)
    # Smallest weights: e⁻³, then e^−0.09 > 0.9 with ε = 1; e⁻⁹, then e^−0.09 > 0.9 with ε = 100.
    losses = (1.0, 0.03, 0.03, 3e-4, 1.0)
    states = [follow(rule, np.outer(losses[:steps], np.ones(len(WHEN)))) for steps in range(1, 6)]
    assert [int(state.level) for state in states] == [0, 1, 1, 2, 2]
    assert [bool(rule.finished(state)) for state in states] == [False, False, False, True, True]


def test_a_threshold_of_one_ends_nothing():
    rule = causal(threshold=1.0)
    state = follow(rule, [np.full(len(WHEN), size) for size in (1.0, 1e-12, 0.0)])
    assert not rule.finished(state)


def test_new_points_take_over_the_losses_of_their_times():
    rule = causal()
    before = follow(rule, [np.ones(len(WHEN))])
    state = rule.renew(before, jnp.asarray([0.9, 0.1, 0.6]), jnp.asarray([0, 0, 0]))
    np.testing.assert_allclose(rule.weights(state), np.exp([-1.5, 0.0, -1.0]))


@pytest.mark.parametrize("rule", [hc.SelfAdaptive(), hc.Attention()])
def test_new_points_take_over_the_weights_of_the_nearest_old_ones(rule):
    before = follow(rule, [np.linspace(1.0, 3.0, len(WHEN))] * 5)
    nearest = jnp.asarray([3, 0, 3])
    state = rule.renew(before, jnp.zeros(3), nearest)
    assert len(np.unique(rule.weights(before))) > 1
    np.testing.assert_array_equal(rule.weights(state), rule.weights(before)[nearest])


def test_new_points_climb_as_the_nearest_old_ones_would_have():
    rule, nearest = hc.SelfAdaptive(), jnp.asarray([3, 0, 3])
    before = follow(rule, [np.linspace(1.0, 3.0, len(WHEN)), np.linspace(2.0, 1.0, len(WHEN))])
    state = rule.renew(before, jnp.zeros(3), nearest)
    squares, share = jnp.linspace(1.0, 2.0, len(WHEN)), jnp.full(len(WHEN), 0.1)
    old, new = (
        rule.weights(rule.update(own, squares[at], share[at], None))
        for own, at in ((before, jnp.arange(len(WHEN))), (state, nearest))
    )
    np.testing.assert_array_equal(new, old[nearest])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hc.SelfAdaptive(rate=0.0), "positive rate and a finite initial value, not 0.0 and 1.0"),
        (lambda: hc.SelfAdaptive(rate=float("nan")), "positive rate"),
        (lambda: hc.SelfAdaptive(initial=float("inf")), "finite initial value"),
        (lambda: hc.Attention(rate=-1.0), "positive rate and a memory from 0 to below 1, not -1.0 and 0.999"),
        (lambda: hc.Attention(memory=1.0), "memory from 0 to below 1"),
        (lambda: hc.Attention(memory=-0.1), "memory from 0 to below 1"),
        (lambda: hc.Causal(chunks=1), "at least 2 chunks of time, not 1"),
        (lambda: hc.Causal(tolerances=()), r"positive tolerances.*not \(\) and 0.99"),
        (lambda: hc.Causal(tolerances=(1.0, 0.0)), "positive tolerances"),
        (lambda: hc.Causal(tolerances=(1.0, float("inf"))), "positive tolerances"),
        (lambda: hc.Causal(threshold=1.1), "threshold above 0 and up to 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, message):
    with pytest.raises(MethodError, match=message):
        make()


def test_an_unknown_mask_gets_the_nearest_name():
    with pytest.raises(UnknownNameError, match="There is no mask 'sqare'. Did you mean 'square'"):
        hc.SelfAdaptive("sqare")


@dataclass(frozen=True)
class Gaining(WeightRule):
    """A rule of one's own: the weights of points rise by their share of the squared residual."""

    def covers(self, term):
        return term == "residual"

    def init(self, when):
        return jnp.ones_like(when)

    def weights(self, state):
        return state

    def update(self, state, squares, share, at):
        return state + 0.01 * squares / jnp.max(squares)


def test_a_rule_of_ones_own_takes_a_few_lines():
    method = hc.Method(
        network=hc.MLP(8, 2),
        embedding=hc.Fourier(2),
        points=128,
        weights=Gaining(),
        stages=(hc.Adam(steps=30, rate=5e-3),),
    )
    solution = hc.solve(declare(), method, reference=False, progress=False)
    found, residual = solution.weights["residual"], solution.history.terms["residual"]
    assert found.points.shape == (128, 2)
    # One update at the initial parameters and one after each of 30 steps, each of at most 0.01.
    assert 1.0 < found.weights.min() < found.weights.max() <= 1.0 + 0.01 * 31 + 1e-5
    assert residual[0] < solution.history.loss[0] <= 1.01 * residual[0] * (1 + 1e-5)
    assert residual[-1] < residual[0] / 2
