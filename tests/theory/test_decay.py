"""Decay under gradient descent, predicted by a frozen kernel and measured."""

import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from equations import LINEAR, linear_network, method, pair
from hcpinn import solve_reference
from hcpinn.errors import MethodError
from hcpinn.theory import ErrorProbe, System, descend, freeze, mode_decay
from hcpinn.theory.modes import amplitudes


def test_the_prediction_solves_the_gradient_flow():
    for system in pair("advection"):
        tangent = system.tangent()
        frozen = freeze(tangent)
        jacobian, tau = np.asarray(tangent.jacobian), 3.0 / frozen.eigenvalues[0]
        np.testing.assert_allclose(
            frozen.rho_at(tau), frozen.rho + jacobian @ frozen.change_at(tau), rtol=1e-9, atol=1e-10
        )
        h = 1e-4 * tau
        rate = (frozen.rho_at(tau + h) - frozen.rho_at(tau - h)) / (2 * h)
        expected = -jacobian @ (jacobian.T @ frozen.rho_at(tau))
        np.testing.assert_allclose(rate, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
        now = frozen.rho_at(tau)
        assert frozen.loss_at(tau) == pytest.approx(now @ now / (frozen.rho @ frozen.rho), rel=1e-10)
        parts = [frozen.part_at(0.0, rows) for rows in tangent.slices.values()]
        np.testing.assert_allclose(parts, 1.0)


def test_the_time_to_a_share_is_when_the_loss_has_it():
    _, hard = pair("advection")
    frozen = freeze(hard.tangent())
    time = frozen.time_to(0.5)
    assert frozen.loss_at(time / frozen.eigenvalues[0]) == pytest.approx(0.5, rel=1e-6)
    assert frozen.time_to(0.25) > time


@pytest.mark.parametrize("name", ["advection", "heat"])
def test_a_network_linear_in_its_parameters_decays_as_predicted_for_as_long_as_one_likes(name):
    for system in pair(name, network=linear_network()):
        frozen = freeze(system.tangent())
        descent = descend(system, step=1e-3 / frozen.eigenvalues[0], counts=(10, 1000, 10_000))
        # Steps of finite length leave a relative difference of the order of the step, 5e-4.
        assert max(descent.deviations(frozen)) < 1e-3
        measured = descent.rhos @ frozen.directions
        factors = (1 - descent.step * frozen.eigenvalues) ** np.asarray(descent.counts)[:, None]
        np.testing.assert_allclose(
            measured, factors * frozen.amplitudes, atol=1e-9 * np.abs(frozen.rho).max()
        )


@pytest.mark.parametrize("name", ["advection", "allen-cahn"])
def test_prediction_and_measurement_agree_to_first_order_in_the_step(name):
    for system in pair(name):
        frozen = freeze(system.tangent())
        apart = [
            descend(system, step=size / frozen.eigenvalues[0], counts=(4,)).deviations(frozen)[0]
            for size in (1e-3, 5e-4)
        ]
        assert apart[0] < 1e-2
        assert apart[0] / apart[1] == pytest.approx(2.0, rel=0.05)


def test_modes_of_the_error_follow_the_prediction_for_small_steps():
    problem = LINEAR["advection"]
    reference = solve_reference(problem)
    for system in pair("advection"):
        probe = ErrorProbe(system, reference)
        frozen = freeze(system.tangent())
        descent = descend(system, step=1e-3 / frozen.eigenvalues[0], counts=(1, 10))
        modes = mode_decay(probe, frozen, descent, system.theta)
        moved = np.abs(modes.predicted[-1] - modes.start).max()
        assert moved > 1e-6
        assert np.abs(modes.predicted[-1] - modes.measured[-1]).max() < 2e-2 * moved
        error = probe.error(system.theta)
        assert probe.relative(error) == pytest.approx(np.sqrt(2 * np.sum(modes.start**2)), rel=0.05)


def test_a_wave_has_the_amplitude_of_its_own_wave_number_only():
    x = -1 + 2 * np.arange(32) / 32
    t = np.linspace(0, 1, 3)[:, None]
    values = (0.0 * t + 0.7 * np.sin(3 * np.pi * x))[..., None]
    numbers, sizes = amplitudes(declare(), values)
    assert sizes[numbers == 3] == pytest.approx(0.7 / np.sqrt(2))
    assert np.abs(sizes[numbers != 3]).max() < 1e-14
    noise = np.random.default_rng(0).standard_normal((3, 32, 2))
    assert np.sum(amplitudes(declare(), noise)[1] ** 2) == pytest.approx(
        np.sum(np.mean(noise**2, axis=(0, 1)))
    )


def test_steps_that_make_no_sense_are_refused():
    _, hard = pair("advection")
    with pytest.raises(MethodError, match="positive"):
        descend(hard, step=0.0, counts=(1,))
    with pytest.raises(MethodError, match="increasing order"):
        descend(hard, step=1.0, counts=(3, 2))
    with pytest.raises(MethodError, match="too long"):
        descend(hard, step=1e6, counts=(200,))


def test_a_wider_network_keeps_its_kernel_longer_if_the_equation_is_linear():
    problem = LINEAR["advection"]
    apart = []
    for width in (16, 64):
        system = System(problem, method(problem, network=hc.MLP(width, 2)), points=16)
        frozen = freeze(system.tangent())
        apart += descend(system, step=0.01 / frozen.eigenvalues[0], counts=(100,)).deviations(frozen)
    assert apart[1] < 0.3 * apart[0]
