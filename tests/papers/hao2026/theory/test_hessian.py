"""The Hessian theorem: A, B, C, both Hessians, both bounds."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from equations import NONLINEAR, linear_network, pair
from hcpinn.papers.hao2026.theory import bounds, matrices
from hcpinn.theory.kernel import spectral_norm

LINEAR = ("advection", "heat", "free schrodinger")


@functools.cache
def found(name, **settings):
    return matrices(*pair(name, **settings))


def hessian(system):
    """The whole Hessian of half the loss, without any linearisation."""
    return np.asarray(jax.jit(jax.jacfwd(system.slope))(system.theta))


@pytest.mark.parametrize("name", LINEAR)
def test_for_linear_equations_the_hard_jacobian_is_composed_of_a_and_b(name):
    made = found(name)
    scale = np.abs(made.hard).max()
    np.testing.assert_allclose(made.hard, made.composed, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(
        made.soft_operator, made.operator, rtol=0, atol=1e-12 * np.abs(made.operator).max()
    )


@pytest.mark.parametrize("name", LINEAR)
def test_the_hessians_of_a_network_linear_in_its_parameters_are_the_theorems(name):
    network = linear_network()
    soft, hard = pair(name, network=network)
    made = matrices(soft, hard)
    n, m = made.points, 128
    a, b = made.operator, made.features
    c = made.penalties["initial"] * np.sqrt(m)
    gate, gate_t = np.diag(made.gate), np.diag(made.gate_t)
    cross = a.T @ gate @ gate_t @ b
    expected = {
        "soft": a.T @ a / n + c.T @ c / m,
        "hard": (a.T @ gate**2 @ a + cross + cross.T + b.T @ gate_t**2 @ b) / n,
    }
    for system, matrix in zip((soft, hard), expected.values(), strict=True):
        np.testing.assert_allclose(hessian(system), matrix, rtol=1e-9, atol=1e-11 * np.abs(matrix).max())
    for rows, matrix in zip((made.soft_rows, made.hard_rows), expected.values(), strict=True):
        np.testing.assert_allclose(rows.T @ rows, matrix, rtol=1e-9, atol=1e-11 * np.abs(matrix).max())


@pytest.mark.parametrize("name", [*LINEAR, *NONLINEAR])
def test_both_norms_stay_within_their_bounds(name):
    made = found(name)
    result = bounds(made)
    assert result.soft_norm <= result.soft_bound * (1 + 1e-12)
    assert result.hard_norm <= result.hard_bound * (1 + 1e-12)
    assert spectral_norm(made.operator) <= result.operator_norm * spectral_norm(made.features) * (1 + 1e-12)
    duration = pair(name)[1].problem.duration
    assert result.c1 <= 1.0
    assert result.c2 <= 1 / duration
    assert result.c3 == pytest.approx(duration**-2)
    assert result.commutator < 1e-12


@pytest.mark.parametrize("name", NONLINEAR)
def test_for_nonlinear_equations_the_composition_holds_about_the_hard_trial_function(name):
    made = found(name)
    scale = np.abs(made.hard).max()
    np.testing.assert_allclose(made.hard, made.composed, rtol=0, atol=1e-12 * scale)
    apart = np.abs(made.soft_operator - made.operator).max() / np.abs(made.operator).max()
    assert apart > 1e-3
    with_soft = made.gate[:, None] * made.soft_operator + made.gate_t[:, None] * made.features
    assert np.abs(made.hard - with_soft).max() > 1e-4 * scale


def test_a_gate_that_varies_in_space_adds_the_commutator():
    """For uₜ = ν uₓₓ it is −ν (2 φₓ hₓ + φₓₓ h)."""
    soft, hard = pair("warm rod")
    made = matrices(soft, hard)
    points = jnp.asarray(hard.data.blocks["residual"].fixed[0].coordinates)
    unravel, trial = soft.objective.unravel, soft.trial

    def values(theta, x):
        return trial(unravel(theta), jnp.stack([points[:, 0], x], axis=1))[:, 0]

    theta, x = jnp.asarray(hard.theta), points[:, 1]
    slope = lambda t: jax.jvp(lambda x: values(t, x), (x,), (jnp.ones_like(x),))[1]
    h, h_x = (np.asarray(jax.jit(jax.jacrev(f))(theta)) for f in (lambda t: values(t, x), slope))
    t, x = np.asarray(points).T
    gate_x, gate_xx = t * -2 * x, t * -2.0
    expected = -0.1 * (2 * gate_x[:, None] * h_x + gate_xx[:, None] * h)
    np.testing.assert_allclose(
        made.hard - made.composed, expected, rtol=0, atol=1e-11 * np.abs(made.hard).max()
    )
    assert bounds(made).commutator > 1e-2


def test_an_operator_norm_on_the_trial_space_is_finite_only_if_values_determine_parameters():
    full = found("heat", network=linear_network(), points=40)
    few = found("heat")  # more parameters than points: some combination vanishes at all of them
    assert bounds(few).induced_norm == np.inf
    rng = np.random.default_rng(0)
    # The constant feature of the embedding is redundant in no linear network: B has full rank here.
    result = bounds(full)
    assert np.isfinite(result.induced_norm)
    assert result.induced_norm >= result.operator_norm
    for _ in range(20):
        delta = rng.standard_normal(full.features.shape[1])
        assert np.linalg.norm(full.operator @ delta) <= result.induced_norm * np.linalg.norm(
            full.features @ delta
        )


def test_the_bounds_do_not_order_the_norms():
    """For fast transport the hard Hessian is the smaller one, and its bound is the larger one."""
    result = bounds(found("advection"))
    assert result.hard_norm < result.soft_norm
    assert result.hard_bound > result.soft_bound
