"""Exponential collocation: stiff, oscillating and forced equations of known solution."""

import numpy as np
import pytest

from hcpinn.reference.exponential import Integrator, Stuck


def run(rates, force, steps=8, interval=0.5, tolerance=1e-10, start=1.0):
    integrator = Integrator(np.asarray(rates), force, interval, tolerance)
    state = np.full(len(rates), start, np.asarray(rates).dtype)
    for number in range(steps):
        state = integrator.advance(state, interval * number)
    return state, integrator


@pytest.mark.parametrize("rate", [-1e6, -50.0, -0.1, 30j])
def test_a_forced_equation(rate):
    rate = complex(rate)
    state, _ = run([rate], lambda t, z: np.cos(t)[:, None] + 0j)
    forced = lambda t: (np.sin(t) - rate * np.cos(t)) / (1 + rate**2)
    wanted = (1 - forced(0.0)) * np.exp(4 * rate) + forced(4.0)
    assert abs(state[0] - wanted) <= 1e-9 * abs(wanted)


def test_what_is_linear_takes_one_exact_step():
    state, integrator = run([-3.0, -1e8], lambda t, z: 0 * z)
    np.testing.assert_allclose(state, [np.exp(-12), 0.0], rtol=1e-13)
    assert integrator.steps == 8


def test_tolerance_decides_the_error_of_a_nonlinear_equation():
    # z′ = −z + (z − z²) = −z²: z = 1/(1 + t)
    errors = []
    for tolerance in (1e-4, 1e-8, 1e-12):
        state, _ = run([-1.0], lambda t, z: z - z**2, tolerance=tolerance)
        errors.append(abs(state[0] - 0.2) / 0.2)
    assert errors[0] < 1e-4
    assert errors[1] < 1e-8
    assert errors[2] < 1e-12


def test_a_blow_up_is_stuck():
    with np.errstate(all="ignore"), pytest.raises(Stuck):
        run([0.0], lambda t, z: z**2, steps=4)
