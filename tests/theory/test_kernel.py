"""Tangent kernels are what they are defined to be, block by block."""

import dataclasses

import jax
import numpy as np
import pytest

import hcpinn as hc
from equations import LINEAR, NONLINEAR, method, pair
from hcpinn.objective import chunks as home
from hcpinn.theory import System, kernel, spectrum, trace_shares
from hcpinn.theory.kernel import Spectrum, spectral_norm, spectrum_of

SOME = ("advection", "gray-scott")


@pytest.mark.parametrize("name", SOME)
def test_the_kernel_is_the_product_of_explicit_jacobians(name):
    for system in pair(name):
        explicit = np.asarray(
            jax.jacfwd(lambda t, s=system: s._rho(t, s.data))(jax.numpy.asarray(system.theta))
        )
        found = np.asarray(kernel(system.tangent()).matrix)
        np.testing.assert_allclose(
            found, explicit @ explicit.T, rtol=1e-10, atol=1e-11 * spectral_norm(found)
        )


@pytest.mark.parametrize("name", SOME)
def test_blocks_are_symmetric_the_whole_is_positive_and_traces_add_up(name):
    soft, hard = pair(name)
    tangent = soft.tangent()
    found = kernel(tangent)
    initial, residual = found.block("initial", "initial"), found.block("residual", "residual")
    np.testing.assert_array_equal(found.block("initial", "residual"), found.block("residual", "initial").T)
    assert initial.shape[0] + residual.shape[0] == found.matrix.shape[0]
    for matrix in (found.matrix, initial, residual, kernel(hard.tangent()).matrix):
        values = np.linalg.eigvalsh(np.asarray(matrix))
        assert values[0] > -1e-13 * values[-1]
    total = float(np.trace(found.matrix))
    assert float(np.trace(initial) + np.trace(residual)) == pytest.approx(total, rel=1e-12)
    assert spectrum(tangent).trace == pytest.approx(total, rel=1e-12)
    shares = trace_shares(tangent)
    assert shares["initial"] == pytest.approx(float(np.trace(initial)) / total, rel=1e-12)
    assert sum(shares.values()) == pytest.approx(1.0, rel=1e-14)
    assert trace_shares(hard.tangent()) == {"residual": 1.0}


def test_half_the_gradient_is_the_jacobian_applied_to_the_mismatches():
    for system in pair("gray-scott"):
        tangent = system.tangent()
        np.testing.assert_allclose(tangent.rho, system.rho(system.theta), rtol=1e-11, atol=1e-12)
        slope = np.asarray(jax.jit(system.slope)(system.theta))
        expected = np.asarray(tangent.jacobian.T @ tangent.rho)
        np.testing.assert_allclose(slope, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())


def test_means_and_sums_weigh_the_blocks_differently():
    """Leaving out 1/M and 1/N is not a mere change of units: the balance of a soft kernel depends on it."""
    soft, _ = pair("advection")
    tangent = soft.tangent()
    mean, plain = trace_shares(tangent), trace_shares(tangent.unscaled())
    points, initial = 24, 128
    odds = lambda shares: shares["initial"] / shares["residual"]
    assert odds(mean) / odds(plain) == pytest.approx(points / initial, rel=1e-10)


def test_kernel_and_hessian_have_the_same_eigenvalues():
    for system in pair("advection"):
        tangent = system.tangent()
        jacobian = np.asarray(tangent.jacobian)
        found = spectrum(tangent)
        above = found.eigenvalues > 1e-9 * found.largest
        for gram in (kernel(tangent).matrix, jacobian.T @ jacobian):
            other = np.linalg.eigvalsh(gram)[::-1]
            np.testing.assert_allclose(found.eigenvalues[above], other[: len(above)][above], rtol=1e-5)


def test_rank_and_condition_leave_out_what_is_rounding():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    sizes = np.array([4.0, 2.0, 1.0, 1e-8, 0.0, 0.0])
    found = spectrum_of(turn @ np.diag(sizes) @ turn.T)
    assert found.rank == 4
    assert found.condition == pytest.approx(16e16, rel=1e-6)
    assert found.ratio(3) == pytest.approx(16.0)
    even = Spectrum(np.ones(5), 1e-20)
    assert (even.condition, even.rank) == (1.0, 5)
    assert even.effective_rank == pytest.approx(5.0)


def test_chunks_do_not_change_a_jacobian(monkeypatch):
    problem = LINEAR["advection"]
    whole = System(problem, method(problem), points=150).tangent().jacobian
    monkeypatch.setattr(home, "_JACOBIAN_BYTES", 0)
    system = System(problem, method(problem), points=150)
    assert system.objective.jacobian_chunk() < 150
    np.testing.assert_allclose(system.tangent().jacobian, whole, rtol=1e-12, atol=1e-14)


def test_the_lift_moves_the_kernel_of_nonlinear_equations_only():
    def jacobian(problem, lift):
        return np.asarray(System(problem, method(problem, lift=lift), points=16).tangent().jacobian)

    for problem, moves in ((LINEAR["heat"], False), (NONLINEAR["allen-cahn"], True)):
        one, other = (jacobian(problem, hc.Decay(rate)) for rate in (0.0, 10.0))
        change = np.abs(one - other).max() / np.abs(one).max()
        assert change > 1e-3 if moves else change < 1e-12


def test_soft_and_hard_methods_hold_each_condition_once():
    problem = LINEAR["heat"]
    from hcpinn.theory import hard_method, soft_method

    soft = soft_method(problem, method(problem))
    assert soft.penalties == (hc.InitialPenalty(),)
    assert hard_method(problem, soft).penalties == ()
    own = dataclasses.replace(soft, penalties=(hc.InitialPenalty(points=7, weight=3.0),))
    assert soft_method(problem, own).penalties == own.penalties
    free = soft_method(problem, method(problem, embedding=hc.Plain()))
    assert free.penalties == (hc.InitialPenalty(), hc.PeriodicPenalty())
