"""Fits: estimates within their errors, and a verdict that says what the data do not tell."""

import json
import signal
import threading

import numpy as np
import pytest

import hcpinn as hc
from hcpinn.machine import supervision

TRUE = {"k": 0.05, "r": 1.0}


def declared(rhs=lambda u, k, r: k * u.xx - r * u, **parameters):
    return hc.Problem(
        name="decay",
        domain=hc.Interval(-1, 1),
        horizon=1.0,
        rhs=rhs,
        initial=lambda x: 1 + np.sin(np.pi * x),
        parameters=parameters,
    )


def exact(t, x):
    return np.exp(-TRUE["r"] * t) * (1 + np.exp(-TRUE["k"] * np.pi**2 * t) * np.sin(np.pi * x))


@pytest.fixture(scope="module")
def measured():
    rng = np.random.default_rng(1)
    t, x = rng.random(300), rng.uniform(-1, 1, 300)
    return t, x, exact(t, x) + 0.02 * rng.standard_normal(300)


@pytest.fixture(scope="module")
def fitted(measured):
    t, x, u = measured
    problem = declared(k=hc.Unknown(0.2, low=1e-3), r=hc.Unknown(0.3))
    return hc.fit(problem, hc.Measurements(t, x, u=u), starts=2)


def test_estimates_lie_within_their_errors(fitted):
    for name, true in TRUE.items():
        estimate = fitted.estimates[name]
        assert abs(estimate.value - true) < 4 * estimate.error
        assert estimate.interval[0] < estimate.value < estimate.interval[1]
    assert fitted.estimates["k"].error < 0.01
    assert fitted.noise["u"] == pytest.approx(0.02, rel=0.1)


def test_a_notebook_shows_equation_estimates_and_data(fitted):
    shown = fitted._repr_html_()
    for part in ("<math", str(fitted.estimates["k"]), "noise of u", "data:image/png;base64"):
        assert part in shown


def test_errors_are_those_of_the_closed_form(fitted, measured):
    t, x, _ = measured
    wave = np.exp(-TRUE["r"] * t - TRUE["k"] * np.pi**2 * t) * np.sin(np.pi * x)
    slopes = np.column_stack([-(np.pi**2) * t * wave, -t * exact(t, x)])
    bound = 0.02 * np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes)))
    found = [fitted.estimates[name].error for name in TRUE]
    np.testing.assert_allclose(found, bound, rtol=0.15)


def test_a_good_fit_is_called_reliable_and_its_solution_is_checked(fitted):
    assert fitted.verdict.reliable, fitted.verdict
    assert fitted.solution.verdict.converged
    assert fitted.facts["numerical_shift"] < 0.1
    assert json.loads(json.dumps(fitted.summary()))["estimates"]["k"]["by"] in ("curvature", "profile")


def test_the_error_of_the_solution_is_that_at_the_measurements(fitted):
    own = fitted.fitted[0]
    np.testing.assert_allclose(fitted.error(*own.points[:20].T), own.error[:20], rtol=1e-3)


def test_a_saved_fit_comes_back_and_is_drawn(fitted, tmp_path):
    again = hc.load_fit(fitted.save(tmp_path / "decay.fit"), problem=fitted.problem)
    assert again.estimates == fitted.estimates
    assert again.verdict == fitted.verdict
    np.testing.assert_array_equal(again.data[0].values["u"], fitted.data[0].values["u"])
    assert again.solution(0.5, 0.25) == fitted.solution(0.5, 0.25)
    assert again.summary() == fitted.summary()
    assert again.plot(tmp_path / "data.png").stat().st_size > 10_000
    assert again.plot_corner(tmp_path / "corner.png").stat().st_size > 5_000


def test_a_product_is_not_determined_and_the_free_combination_is_named(measured):
    t, x, u = measured
    problem = declared(
        lambda u, a, b, r: a * b * u.xx - r * u,
        a=hc.Unknown(0.5, log=True),
        b=hc.Unknown(0.2, log=True),
        r=hc.Unknown(1.0),
    )
    fit = hc.fit(problem, hc.Measurements(t, x, u=u, noise=0.02), starts=1)
    assert fit.verdict.status == "not determined"
    assert "a grows by 10% while b shrinks by 10%" in str(fit.verdict)
    assert not fit.estimates["a"].determined
    assert not fit.estimates["b"].determined
    assert fit.estimates["r"].determined
    assert fit.values["a"] * fit.values["b"] == pytest.approx(0.05, rel=0.1)


def test_a_wrong_equation_gets_no_intervals(measured):
    t, x, u = measured
    problem = declared(lambda u, k: k * u.xx, k=hc.Unknown(0.1, log=True))
    fit = hc.fit(problem, hc.Measurements(t, x, u=u), starts=1)
    assert fit.verdict.status == "wrong model"
    assert not fit.estimates["k"].determined


def test_without_noise_the_errors_are_those_of_the_solutions():
    rng = np.random.default_rng(2)
    t, x = rng.random(60), rng.uniform(-1, 1, 60)
    data = hc.Measurements(t, x, u=exact(t, x))
    fit = hc.fit(declared(k=hc.Unknown(0.1, log=True), r=hc.Unknown(0.7)), data, starts=1)
    assert fit.verdict.reliable, fit.verdict
    assert "hides any noise" in str(fit.verdict)
    for name, true in TRUE.items():
        low, high = fit.estimates[name].interval
        assert low <= true <= high
        assert fit.estimates[name].error < 1e-6

    slightly_wrong = declared(lambda u, k: k * u.xx - 1.001 * u, k=hc.Unknown(0.1, log=True))
    fit = hc.fit(slightly_wrong, data, starts=1)
    assert fit.verdict.status == "wrong model"
    assert "0.0" in str(fit.verdict), fit.verdict  # how large the misfit is
    assert "another solver" in str(fit.verdict)
    assert not fit.estimates["k"].determined


def test_as_many_unknowns_as_values_leave_nothing_to_tell_the_noise_by():
    t, x = np.array([0.5, 0.7]), np.array([0.25, -0.5])
    problem = declared(k=hc.Unknown(0.1, log=True), r=hc.Unknown(0.7))
    fit = hc.fit(problem, hc.Measurements(t, x, u=exact(t, x)), starts=1)
    assert fit.verdict.status == "suspect"
    assert "noise=" in str(fit.verdict)
    assert not any(estimate.determined for estimate in fit.estimates.values())
    known = hc.fit(problem, hc.Measurements(t, x, u=exact(t, x), noise=0.01), starts=1)
    assert known.estimates["r"].determined


def test_a_guess_and_a_setting_may_be_zero():
    """uₜ = 0.03 uₓₓ − a v uₓ, at rest and moving."""
    rng, data = np.random.default_rng(3), []
    for v in (0.0, 1.0):
        t, x = rng.random(60), rng.random(60)
        u = np.exp(-0.12 * np.pi**2 * t) * np.cos(2 * np.pi * (x - 0.3 * v * t))
        data.append(hc.Measurements(t, x, u=u + 0.02 * rng.standard_normal(60), settings={"v": v}))
    problem = hc.Problem(
        domain=hc.Interval(0, 1),
        horizon=1.0,
        rhs=lambda u, a, v: 0.03 * u.xx - a * v * u.x,
        initial=lambda x: np.cos(2 * np.pi * x),
        parameters={"a": hc.Unknown(0.0), "v": 0.0},
    )
    fit = hc.fit(problem, data, starts=1)
    assert fit.verdict.reliable, fit.verdict
    assert abs(fit.estimates["a"].value - 0.3) < 4 * fit.estimates["a"].error < 0.05


def test_an_interrupted_fit_tells_the_best_so_far(measured, monkeypatch):
    monkeypatch.setattr(supervision, "ANSWER", 0.1)
    said, held = [], threading.Event()

    def tell(sentence):
        said.append(sentence)
        if sentence.startswith("Start 1"):  # and what follows takes long
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            held.wait(60)

    t, x, u = measured
    with pytest.raises(KeyboardInterrupt):
        hc.fit(declared(k=hc.Unknown(0.2, low=1e-3), r=1.0), hc.Measurements(t, x, u=u), on_progress=tell)
    held.set()
    assert said[1].startswith("Interrupted before errors were known, at k = 0.0")
