"""u solves the equation exactly when the network solves the transformed one."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from equations import DIRICHLET, LINEAR, method
from hcpinn import jets
from hcpinn.objective import residual, sampling
from hcpinn.papers.hao2026.theory import check_consistency
from hcpinn.trial import make_trial

LIFTS = {
    "decay": hc.Decay(2.0),
    "semigroup": hc.Semigroup(),
    "own": hc.CustomLift(lambda t, x: jnp.cos(jnp.pi * x) * (1 + jnp.sin(3 * t))),
}
GATES = {
    "linear": hc.LinearGate(),
    "exponential": hc.ExponentialGate(4.0),
    "own": hc.CustomGate(lambda t, x: jnp.tanh(2 * t) * (1 + 0.3 * jnp.cos(jnp.pi * x))),
}
ROUNDING = 1e-11


def check(problem, **parts):
    trial = make_trial(problem, method(problem, **parts))
    points = sampling.interior(problem, 20, seed=0)
    return check_consistency(trial, trial.init(jax.random.key(3)), points)


@pytest.mark.parametrize(("lift", "gate"), [("decay", "own"), ("semigroup", "exponential"), ("own", "own")])
def test_both_residuals_agree_for_any_lift_and_gate(lift, gate):
    found = check(declare(), lift=LIFTS[lift], gate=GATES[gate])
    assert found.residual < ROUNDING
    assert found.initial < ROUNDING
    assert found.recovery is not None
    assert found.recovery < ROUNDING
    assert not found.degenerate
    assert found.floor is None


@pytest.mark.parametrize("problem", [LINEAR["beam"], LINEAR["free schrodinger"]], ids=lambda p: p.name)
def test_both_residuals_agree_for_higher_order_and_complex_fields(problem):
    found = check(problem)
    assert max(found.residual, found.initial, found.recovery) < ROUNDING


def test_a_gate_that_vanishes_at_edges_leaves_the_network_undetermined_there():
    found = check(DIRICHLET)
    assert found.residual < ROUNDING
    assert found.degenerate
    assert found.steepest > 2.0


def test_a_kink_of_the_initial_data_is_reported_for_lifts_that_keep_it():
    problem = hc.find_problem("allen-cahn-1")
    assert 1e-4 < check(problem).floor < 1e-2


def exact_network(speed, rate):
    """(u − ψ)/φ for transported sin x, as a function of the features t/T and x/π − 1 with T = 1."""

    def values(parameters, features):
        t, x = features[:, 0], jnp.pi * (features[:, 1] + 1)
        wanted = (jnp.sin(x - speed * t) - jnp.exp(-rate * t) * jnp.sin(x)) / t
        return (wanted + parameters * jnp.sin(x))[:, None]

    return hc.CustomNetwork(lambda key, inputs, outputs: jnp.zeros(()), values)


def advection_residual(trial, network, points):
    """φ (Nₜ + c Nₓ) + (φₜ + c φₓ) N + ψₜ + c ψₓ."""
    speed, value, along_t, along_x = trial.problem.parameters["c"], (0, 0), (1, 0), (0, 1)
    inner = lambda points: trial.network(network, trial.embed(points))
    n, gate, lift = (
        jets.nested(part, points, (value, along_t, along_x)) for part in (inner, trial.gate, trial.lift)
    )
    carried = [part[along_t] + speed * part[along_x] for part in (n, gate, lift)]
    return gate[value] * carried[0] + carried[1] * n[value] + carried[2]


def transport(speed, rate, parameter):
    problem = hc.find_problem("advection").with_parameters(c=speed)
    parts = {"lift": hc.Decay(rate), "embedding": hc.Plain(), "network": exact_network(speed, rate)}
    trial = make_trial(problem, dataclasses.replace(method(problem), **parts))
    points = jnp.asarray(sampling.interior(problem, 20, seed=0))
    network = jnp.asarray(parameter)

    @jax.jit
    def both(network):
        plain = residual(trial, network, trial.fix(points), dict(problem.parameters))
        return plain, advection_residual(trial, network, points)

    return [np.asarray(values) for values in both(network)]


def test_the_advection_form_vanishes_for_the_transformed_solution_and_for_no_other():
    speed = 30.0
    plain, transformed = transport(speed, 1.0, 0.0)
    assert max(np.abs(plain).max(), np.abs(transformed).max()) < 1e-10 * speed**2
    plain, transformed = transport(speed, 1.0, 1.0)
    np.testing.assert_allclose(plain, transformed, rtol=0, atol=1e-10 * speed**2)
    assert np.abs(transformed).max() > 0.5


def test_the_transformed_solution_grows_with_the_speed():
    """N(0, x) = T (α sin x − c cos x): boundedness of the forcing hides a factor c."""
    x = np.linspace(0, 2 * np.pi, 9)
    network = exact_network(50.0, 1.0)
    features = jnp.stack([jnp.full(9, 1e-6), jnp.asarray(x) / jnp.pi - 1], axis=1)
    start = np.asarray(network(jnp.zeros(()), features))[:, 0]
    np.testing.assert_allclose(start, np.sin(x) - 50.0 * np.cos(x), atol=5e-3)
