"""A solution in time windows is one function, with the derivatives it should have."""

import dataclasses
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.descent import Stop
from solutions import METHOD, T, X, difference, make

MARCHED = make(method=dataclasses.replace(METHOD, windows=3, network=hc.MLP(8, 1)))
EDGES = (1 / 3, 2 / 3)
INNER = np.array([0.07, 0.2, 0.4, 0.6, 0.8, 0.93])[:, None]
"""Times inside the windows, farther from their edges than differences reach."""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dx", lambda u: difference(lambda h: u(INNER, X[0] + h), 1e-3)),
        ("dt", lambda u: difference(lambda h: u(INNER + h, X[0]), 1e-3)),
        ("dxx", lambda u: difference(lambda h: u(INNER, X[0] + h), 1e-3, order=2)),
        ("dtx", lambda u: difference(lambda h: u.dx(INNER + h, X[0]), 1e-3)),
    ],
)
def test_derivatives_in_time_windows_agree_with_finite_differences(name, expected):
    exact = expected(MARCHED)
    scale = np.abs(exact).max()
    np.testing.assert_allclose(getattr(MARCHED, name)(INNER, X[0]), exact, rtol=1e-6, atol=1e-6 * scale)


def test_time_windows_join_in_values_and_in_slopes_along_x():
    x = np.linspace(-1, 1, 9)
    for edge in EDGES:
        before, after = np.nextafter(edge, 0), np.nextafter(edge, 1)
        for part in ("", "x", "xx"):
            values = [MARCHED.derivative(part, t, x) for t in (before, after)]
            np.testing.assert_allclose(*values, rtol=1e-12, atol=1e-12)
        assert (np.abs(MARCHED.dt(before, x) - MARCHED.dt(after, x)) > 1e-3).any()
    np.testing.assert_allclose(MARCHED(0.0, x), np.cos(np.pi * x), rtol=1e-14, atol=1e-15)


def test_the_residual_in_time_windows_is_what_the_derivatives_leave():
    exact = MARCHED.dt(INNER, X[0]) - 0.1 * MARCHED.dxx(INNER, X[0])
    np.testing.assert_allclose(MARCHED.residual(INNER, X[0]), exact, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("precise", [True, False])
def test_time_windows_can_be_differentiated_by_jax_in_either_precision(precise):
    with jax.enable_x64(precise), warnings.catch_warnings():
        warnings.simplefilter("error")
        times, x = jnp.asarray(INNER[:, 0]), jnp.asarray(0.3)
        slope = jax.jit(jax.vmap(jax.grad(MARCHED, argnums=1), in_axes=(0, None)))(times, x)
        rate = jax.jit(jax.vmap(jax.grad(MARCHED), in_axes=(0, None)))(times, x)
    assert slope.dtype == (jnp.float64 if precise else jnp.float32)
    digits = 1e-10 if precise else 2e-3
    np.testing.assert_allclose(slope, MARCHED.dx(INNER[:, 0], 0.3), rtol=digits, atol=digits)
    np.testing.assert_allclose(rate, MARCHED.dt(INNER[:, 0], 0.3), rtol=digits, atol=digits)


def test_training_that_is_cut_short_in_its_first_window_gives_a_solution_up_to_the_horizon():
    method = dataclasses.replace(METHOD, windows=3, points=64, stages=(hc.Adam(steps=100_000),))
    runs = [hc.Run(declare(rhs=lambda u: -u), method)]
    [solution] = hc.solve_batch(runs, max_seconds=0.0, reference=False)
    assert solution.stop is Stop.TIME
    [(label, count)] = solution.history.stages
    assert (label, count) == ("Adam, window 1/3", len(solution.history.loss))
    assert np.isfinite(solution(T, X)).all()
    for edge in EDGES:
        ends = [solution(t, X[0]) for t in (edge, np.nextafter(edge, 1))]
        np.testing.assert_allclose(*ends, rtol=1e-12, atol=1e-14)
    first, *others = solution.theta.reshape(3, -1)
    for other in others:
        np.testing.assert_array_equal(other, first)  # the latest network stands in
