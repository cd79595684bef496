"""Weights, learning rates and precision are those of the formulas, which are written out here in NumPy."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import hcpinn as hc
from descent.schemes import DECAY, adam, method, trained
from hcpinn.descent import Preparation
from hcpinn.objective import RESIDUAL, residual


class ByHand:
    """Adam as in the textbook, on a loss Σ wᵢ rᵢ² / N whose weights a function of r² gives."""

    def __init__(self):
        preparation = Preparation([hc.Run(DECAY, method())])
        prepared = preparation.prepare()
        data, trial = prepared.data, prepared.objective.trial
        unravel = ravel_pytree(trial.init(jax.random.key(0)))[1]
        fixed = data.blocks[RESIDUAL].fixed[0]
        self.times = np.asarray(fixed.coordinates[:, 0])
        self.theta = preparation.theta[0]

        def squares(theta):
            return jnp.sum(residual(trial, unravel(theta), fixed, data.parameters) ** 2, axis=1)

        self.squares = jax.jit(squares)
        self.slope = jax.jit(jax.grad(lambda theta, weights: jnp.mean(weights * squares(theta))))

    def train(self, steps, weigh, rate=lambda step: 1e-2):
        """Losses, mean squared residuals, and the weights at the end."""
        theta, mean, square, losses, terms = self.theta, 0.0, 0.0, [], []
        weights = weigh(np.asarray(self.squares(theta)))
        for step in range(steps):
            now = np.asarray(self.squares(theta))
            slope = np.asarray(self.slope(theta, weights))
            losses.append(np.mean(weights * now))
            terms.append(np.mean(now))
            mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
            sizes = mean / (1 - 0.9 ** (step + 1)), square / (1 - 0.999 ** (step + 1))
            theta = theta - rate(step) * sizes[0] / (np.sqrt(sizes[1]) + 1e-8)
            weights = weigh(now)
        return losses, terms, weights


by_hand = functools.cache(ByHand)


def climbing(*, rate):
    """Self-adaptive weights: Adam's ascent of Σ λᵢ² rᵢ² / N from λ = 1."""
    state = {"value": 1.0, "mean": 0.0, "square": 0.0, "step": 0}

    def weigh(squares):
        up = 2 * state["value"] * squares / len(squares)
        state["step"] += 1
        state["mean"] = 0.9 * state["mean"] + 0.1 * up
        state["square"] = 0.999 * state["square"] + 0.001 * up**2
        size = np.sqrt(state["square"] / (1 - 0.999 ** state["step"])) + 1e-8
        state["value"] = state["value"] + rate * state["mean"] / (1 - 0.9 ** state["step"]) / size
        return state["value"] ** 2

    return weigh


def attentive(*, rate, memory):
    state = {"value": 0.0}

    def weigh(squares):
        state["value"] = memory * state["value"] + rate * np.sqrt(squares / squares.max())
        return state["value"] ** 2

    return weigh


def causal(times, *, chunks, tolerance):
    chunk = np.floor(times * chunks).astype(int)

    def weigh(squares):
        means = [squares[chunk == k].mean() for k in range(chunks)]
        return np.exp(-tolerance * np.array([sum(means[:k]) for k in range(chunks)]))[chunk]

    return weigh


RULES = {
    "self-adaptive": (hc.SelfAdaptive(), lambda t: climbing(rate=5e-3)),
    "attention": (hc.Attention(0.2, 0.8), lambda t: attentive(rate=0.2, memory=0.8)),
    "causal": (hc.Causal(8, (3.0,)), lambda t: causal(t, chunks=8, tolerance=3.0)),
}


@pytest.mark.parametrize("name", RULES)
def test_weights_and_losses_follow_the_formulas(name):
    rule, formula = RULES[name]
    losses, terms, weights = by_hand().train(12, formula(by_hand().times))
    solution = trained(method(weights=rule))
    np.testing.assert_allclose(solution.history.loss, losses, rtol=1e-9)
    np.testing.assert_allclose(solution.history.terms["residual"], terms, rtol=1e-9)
    np.testing.assert_allclose(solution.weights["residual"].weights, weights, rtol=1e-9)
    np.testing.assert_array_equal(solution.weights["residual"].points[:, 0], by_hand().times)


SCHEDULES = {
    "exponential": (hc.Exponential(0.5, 4), lambda k: 1e-2 * 0.5 ** (k / 4)),
    "cosine": (hc.Cosine(0.1), lambda k: 1e-2 * (0.1 + 0.9 * (1 + np.cos(np.pi * k / 12)) / 2)),
    "warm-up": (
        hc.Cosine(warmup=4),
        lambda k: 1e-2 * ((1 + 3 * k / 4) / 4 if k < 4 else (1 + np.cos(np.pi * (k - 4) / 8)) / 2),
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_learning_rates_follow_their_schedules(name):
    schedule, rate = SCHEDULES[name]
    losses, *_ = by_hand().train(12, lambda squares: 1.0, rate)
    history = trained(method(stages=(adam(12, schedule=schedule),))).history
    np.testing.assert_allclose(history.loss, losses, rtol=1e-6)


def test_each_stage_works_in_its_own_precision():
    stages = (adam(12, precision="float32"), adam(12), adam(12, precision="float32"))
    history = trained(method(stages=stages)).history
    single, double, last = np.split(history.loss, [12, 24])
    for rounded in (single, last):
        np.testing.assert_array_equal(rounded, rounded.astype(np.float32))
    assert (double != double.astype(np.float32)).all()
    assert last[-1] < double[-1] < single[-1]
