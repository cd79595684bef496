"""Lifts and gates of equations of second order in time: value and velocity hold for any network."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from hcpinn.errors import MethodError
from hcpinn.machine.precision import double
from hcpinn.trial import MLP, CustomGate, CustomLift, Decay, ExponentialGate, LinearGate, Plain, Trial

PROBLEM = hc.Problem(
    domain=hc.Interval(0, 1),
    horizon=2.0,
    order=2,
    boundary=(hc.Dirichlet(lambda t: np.sin(t)), hc.Dirichlet(0.0)),
    rhs=lambda u: u.xx - u.t,
    initial=lambda x: jnp.sin(np.pi * x),
    velocity=lambda x: 1 - x,
)


def trial(lift, gate):
    with double():
        return Trial(PROBLEM, lift=lift, gate=gate, embedding=Plain(), network=MLP(8, 2))


@pytest.mark.parametrize("lift", [Decay(0.0), Decay(2.0)])
@pytest.mark.parametrize("gate", [LinearGate(), ExponentialGate(3.0)])
def test_value_and_velocity_are_exact(lift, gate):
    own = trial(lift, gate)
    with double():
        network = own.init(jax.random.key(0))
        x = np.linspace(0, 1, 31)
        points = jnp.asarray(np.column_stack([0 * x, x]))
        np.testing.assert_allclose(own(network, points)[:, 0], np.sin(np.pi * x), atol=1e-14)
        np.testing.assert_allclose(own.derivative(network, points, (1, 0))[:, 0], 1 - x, atol=1e-13)
        later = jnp.asarray(np.column_stack([np.linspace(0, 2, 9), np.zeros(9)]))
        np.testing.assert_allclose(own(network, later)[:, 0], np.sin(later[:, 0]), atol=1e-14)
    assert own.indices[-1] == (2, 0)


def test_a_lift_that_fades_stays_bounded():
    with double():
        own = Decay(2.0).bind(PROBLEM, {})
        t = np.linspace(0, 500, 999)
        values = own(jnp.asarray(np.column_stack([t, 0.3 + 0 * t])))
    assert np.abs(values).max() < 2


@pytest.mark.parametrize(
    ("lift", "gate", "message"),
    [
        (CustomLift(lambda t, x: jnp.sin(np.pi * x) + jnp.sin(t) * (1 - x) ** 2), LinearGate(), "velocity"),
        (Decay(0.0), CustomGate(lambda t, x: t * x * (1 - x)), "grows like"),
        (Decay(0.0), CustomGate(lambda t, x: (t + t**2) * x * (1 - x)), "does not vanish"),
    ],
)
def test_lifts_and_gates_that_miss_the_velocity_are_refused(lift, gate, message):
    with pytest.raises(MethodError, match=message):
        trial(lift, gate)
