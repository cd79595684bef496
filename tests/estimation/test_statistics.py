"""Smoothness by marginal likelihood, tests of residuals, and robust losses, on problems with closed forms."""

import jax
import numpy as np
import pytest

import hcpinn as hc
from hcpinn.estimation.curve import Curve
from hcpinn.estimation.layout import Layout
from hcpinn.estimation.residuals import structure
from hcpinn.estimation.robust import Loss
from hcpinn.estimation.uncertainty import spread
from hcpinn.machine.precision import double


def layout(**function):
    problem = hc.Problem(
        domain=hc.Interval(0, 1),
        horizon=1.0,
        boundary=hc.Neumann(0.0),
        rhs=lambda u, x, k: k(x) * u.xx,
        initial=lambda x: 0 * x,
        parameters={"k": hc.UnknownFunction("x", **function)},
    )
    with double():
        return Layout(problem)


def test_other_starts_stay_within_a_few_times_a_guess_without_bounds():
    problem = hc.Problem(
        domain=hc.Interval(0, 1),
        horizon=1.0,
        rhs=lambda u, c, k, r: k * u.xx - c * u.x - r * u,
        initial=lambda x: np.sin(2 * np.pi * x),
        parameters={"c": hc.Unknown(2.0), "k": hc.Unknown(0.1, log=True), "r": hc.Unknown(0.5, 0.0, 50.0)},
    )
    with double():
        own = Layout(problem)
        drawn = [own.values(own.drawn(np.random.default_rng(seed))) for seed in range(100)]
    c, k, r = (np.array([float(values[name]) for values in drawn]) for name in "ckr")
    assert 0.3 < np.std(c) < 3
    assert 0.3 < np.std(np.log(k)) < 2
    assert r.min() >= 0.0
    assert r.max() > 40.0


def test_a_spline_gives_straight_lines_and_goes_on_straight():
    knots = np.arange(8.0)
    with double():
        curve = Curve(0.0, 5.0, 2 * (knots - 1) + 3)
        s = np.array([-2.0, 0.0, 0.3, 4.9, 5.0, 7.0])
        np.testing.assert_allclose(curve(s), 2 * s + 3, atol=1e-12)
        np.testing.assert_allclose(jax.vmap(jax.grad(curve))(s), 2.0, atol=1e-12)


def test_a_periodic_spline_repeats_itself():
    with double():
        curve = Curve(0.0, 1.0, np.random.default_rng(0).standard_normal(7), periodic=True)
        np.testing.assert_allclose(curve(np.array([0.2, -0.8])), curve(np.array([1.2, 0.2])), atol=1e-12)


@pytest.mark.parametrize(("waves", "known"), [(1, True), (3, False)])
def test_the_band_of_a_smoothed_function_holds_it(waves, known):
    own = layout(guess=1.0)
    curve = own.values(own.start)["k"]
    inside, strengths = [], []
    for seed in range(20):
        rng = np.random.default_rng([waves, seed])
        x = rng.random(200)
        noise = 0.1 * rng.standard_normal(200)
        with double():
            rows = curve.weights(x) / 0.1
            target = (np.sin(2 * np.pi * waves * x) + noise) / 0.1
            own.smooth(np.zeros(own.size), -target, rows, known=known)
            whole = np.concatenate([rows, own.prior(own.start)[1]])
            found = spread(whole, least=0.0, numbers=0)
            z = found.covariance @ rows.T @ target
            table = curve.weights(np.linspace(0, 1, 41))
        error = np.sqrt(np.einsum("np,pq,nq->n", table, found.covariance, table))
        true = np.sin(2 * np.pi * waves * np.linspace(0, 1, 41))
        inside.append(np.abs(table @ z - true) < 1.96 * error)
        strengths.append(own.strength["k"])
    assert 0.88 < np.mean(inside) <= 1.0
    assert np.ptp(np.log(strengths)) < 8


def test_noise_has_no_structure_and_a_trend_has():
    smallest, bent = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        points = rng.random((200, 2))
        noise = rng.standard_normal(200)
        wave = 1.0 * np.sin(2 * np.pi * points[:, 1])
        for values, found in ((noise, smallest), (noise + wave, bent)):
            tests = structure(points, values, points[:, 0], np.ones((200, 1)))
            found.append(min(t.p for t in tests) * len(tests))
    assert np.mean(np.array(smallest) < 0.05) < 0.2
    assert np.mean(np.array(smallest) < 1e-3) == 0
    assert np.mean(np.array(bent) < 1e-3) > 0.8


@pytest.mark.parametrize("count", [12, 30])
def test_few_values_have_structure_too(count):
    """The test keeps its level, and a bend far above the noise is seen."""
    rng = np.random.default_rng(count)
    points = rng.random((count, 2))
    rows = np.ones((count, 1))
    bend = points @ [3.0, 2.0]
    bend -= bend.mean()
    found = structure(points, bend + 0.01 * rng.standard_normal(count), rng.random(count), rows)
    assert min(t.p for t in found) < 1e-6
    noise = [
        structure(points, np.random.default_rng(seed).standard_normal(count), rng.random(count), rows)[0].p
        for seed in range(100)
    ]
    assert 0.01 <= np.mean(np.array(noise) < 0.1) < 0.25


@pytest.mark.parametrize("name", ["huber", "cauchy"])
def test_a_robust_loss_stays_efficient_and_says_its_variance(name):
    loss, found, told = Loss(name), [], []
    for seed in range(200):
        r = np.random.default_rng(seed).standard_normal(80)
        middle = 0.0
        for _ in range(30):
            weights = loss.weights(r - middle)
            middle = float(weights @ r / weights.sum())
        found.append(middle)
        told.append(loss.inflation(r - middle) / loss.weights(r - middle).sum())
    assert np.var(found) < 1.2 / 80
    assert np.mean(told) == pytest.approx(np.var(found), rel=0.3)
