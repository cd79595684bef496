"""A solution is a function of t and x that can be evaluated and differentiated."""

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.errors import ProblemError
from solutions import SOLUTION, SYSTEM, WAVE, T, X, difference, make

# Values


def test_values_are_those_of_the_trial_function():
    points = jnp.stack([jnp.asarray(T).ravel(), jnp.asarray(X).ravel()], axis=1)
    function: Any = SOLUTION.function
    exact = function.trial(function.network, points)[:, 0].reshape(T.shape)
    got = SOLUTION(T, X)
    assert isinstance(got, np.ndarray)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, exact, rtol=1e-14)


def test_coordinates_broadcast():
    whole = SOLUTION(T, X)
    np.testing.assert_allclose(SOLUTION(T[:, :1], X[:1]), whole, rtol=1e-13)
    np.testing.assert_allclose(SOLUTION(T[1, 0], X[1]), whole[1], rtol=1e-13)
    assert SOLUTION(0.5, 0.5).shape == ()
    assert SOLUTION(np.zeros((2, 0)), 0.5).shape == (2, 0)
    assert SOLUTION([0.0, 1.0], [0.0, 0.5]).shape == (2,)
    assert SOLUTION(0, 1) == pytest.approx(-1.0)


def test_more_points_than_fit_at_once_give_the_same_values():
    x = np.linspace(-1, 1, 70_001)
    some = np.array([0, 1, 65_535, 65_536, 70_000])
    np.testing.assert_allclose(SOLUTION(0.3, x)[some], SOLUTION(0.3, x[some]), rtol=1e-13)


def test_values_outside_of_what_was_solved_come_with_a_warning():
    walls = {"domain": hc.Interval(0, 2), "boundary": hc.Dirichlet(0.0)}
    problem = declare(rhs=lambda u: 0.1 * u.xx, initial=lambda x: jnp.sin(jnp.pi * x / 2), **walls)
    walled = hc.solve(problem, hc.Evolution(features=16), accuracy=1e-2)
    for call, words in [
        (lambda: walled(1.5, 0.5), r"t = 1.5 lies outside of 0 ≤ t ≤ 1"),
        (lambda: walled.dx(0.5, [0.0, 2.0, -0.25]), r"x = -0.25 lies outside of 0 ≤ x ≤ 2"),
        (lambda: walled.on_grid([0.0, 3.0], 5), r"t = 3 lies outside"),
    ]:
        with pytest.warns(UserWarning, match=words):
            call()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        walled([0.0, 1.0], [0.0, 2.0 + 1e-9])
        SOLUTION(0.5, 7.3)  # periodic
        jax.jit(lambda t: walled(t, 0.5))(1.5)


def test_systems_give_a_tuple_and_complex_fields_complex_values():
    u, v = make(SYSTEM)(0.0, X)
    np.testing.assert_allclose(u, np.cos(np.pi * X), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(v, np.sin(np.pi * X) + 2, rtol=1e-13)
    wave = make(WAVE)(0.0, X)
    assert wave.dtype == np.complex128
    np.testing.assert_allclose(wave, np.exp(1j * np.pi * X), rtol=1e-13)


def test_a_grid_has_one_value_for_every_time_and_position():
    times, x = [0.0, 0.4, 1.0], np.linspace(-1, 1, 5)
    grid = SOLUTION.on_grid(times, x)
    assert set(grid) == {"u"}
    assert grid["u"].shape == (3, 5)
    for i, t in enumerate(times):
        np.testing.assert_allclose(grid["u"][i], SOLUTION(t, x), rtol=1e-13)
    both = make(SYSTEM).on_grid(times, x)
    assert {name: value.shape for name, value in both.items()} == {"u": (3, 5), "v": (3, 5)}


# Derivatives


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dx", lambda u: difference(lambda h: u(T, X + h), 1e-3)),
        ("dt", lambda u: difference(lambda h: u(T + h, X), 1e-3)),
        ("dxx", lambda u: difference(lambda h: u(T, X + h), 1e-3, order=2)),
        ("dtx", lambda u: difference(lambda h: u.dx(T + h, X), 1e-3)),
        ("dxt", lambda u: difference(lambda h: u.dt(T, X + h), 1e-3)),
        ("dxxxx", lambda u: difference(lambda h: u.dxx(T, X + h), 1e-3, order=2)),
    ],
)
def test_derivatives_agree_with_finite_differences(name, expected):
    exact = expected(SOLUTION)
    scale = np.abs(exact).max()
    np.testing.assert_allclose(getattr(SOLUTION, name)(T, X), exact, rtol=1e-6, atol=1e-7 * scale)


def test_derivatives_of_systems_and_complex_fields():
    u, v = make(SYSTEM).dx(0.0, X)
    np.testing.assert_allclose(u, -np.pi * np.sin(np.pi * X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(v, np.pi * np.cos(np.pi * X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(make(WAVE).dxx(0.0, X), -(np.pi**2) * np.exp(1j * np.pi * X), rtol=1e-12)


def test_the_order_of_letters_does_not_matter_and_no_letters_mean_the_value():
    np.testing.assert_array_equal(SOLUTION.dtx(T, X), SOLUTION.dxt(T, X))
    np.testing.assert_array_equal(SOLUTION.derivative("", T, X), SOLUTION(T, X))
    np.testing.assert_array_equal(SOLUTION.derivative("xx", T, X), SOLUTION.dxx(T, X))


def test_the_residual_is_what_the_derivatives_leave():
    exact = SOLUTION.dt(T, X) - 0.1 * SOLUTION.dxx(T, X)
    np.testing.assert_allclose(SOLUTION.residual(T, X), exact, rtol=1e-10, atol=1e-12)
    system = make(SYSTEM)
    (_, v), (ut, vt) = system(T, X), system.dt(T, X)
    (uxx, _), (_, vx) = system.dxx(T, X), system.dx(T, X)
    first, second = system.residual(T, X)
    np.testing.assert_allclose(first, ut - uxx + v, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(second, vt - vx, rtol=1e-10, atol=1e-12)


# Bad questions


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: s(0.1, 0.2, 0.3), "heat has the coordinates t, x, but 3 were given"),
        (lambda s: s.dx(0.1, 0.2, 0.3), "heat has the coordinates t, x, but 3 were given"),
        (lambda s: s.residual(0.1, 0.2, 0.3), "heat has the coordinates t, x, but 3 were given"),
        (lambda s: s.on_grid([0.1], [0.2], [0.3]), "heat has the coordinates t, x, but 3 were given"),
        (lambda s: s(np.zeros(3), np.zeros(4)), r"shapes \(3,\), \(4,\), which do not broadcast"),
        (lambda s: s.residual(np.zeros(3), np.zeros(4)), r"shapes \(3,\), \(4,\), which do not broadcast"),
        (lambda s: s("now", 0.2), "must be a number or an array of numbers, but is 'now'"),
        (lambda s: s(0.1, [1j]), "must be a number or an array of numbers"),
        (lambda s: s.dy(0.1, 0.2), r"'y' is not a derivative of heat: .* t, x"),
        (lambda s: s.derivative("q", 0.1, 0.2), "'q' is not a derivative of heat"),
        (lambda s: s.dxxxxxxx(0.1, 0.2), "up to 6 letters"),
        (lambda s: s.to_xarray(11, 5, 7), "heat has the"),
    ],
)
def test_wrong_questions_are_answered_in_a_sentence(ask, message):
    with pytest.raises(ProblemError, match=message):
        ask(SOLUTION)


def test_too_few_coordinates_are_an_error():
    with pytest.raises((ProblemError, TypeError), match=r"coordinates|argument"):
        SOLUTION(0.1)


def test_other_attributes_are_missing_as_usual():
    for name in ("plott", "d", "dq", "_compiled_value"):
        with pytest.raises(AttributeError, match=name):
            getattr(SOLUTION, name)
    assert not hasattr(SOLUTION, "__array__")
