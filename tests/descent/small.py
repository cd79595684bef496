"""A problem and a method that train in no time, for where neither matters, and trainings compared by bits."""

import jax.numpy as jnp

import hcpinn as hc
from declarations import declare

DECAY = declare(rhs=lambda u: -u, initial=lambda x: 2 + jnp.cos(jnp.pi * x))
RELAX = declare(rhs=lambda u, a: -a * u, initial=DECAY.initial, parameters={"a": 1.0})


def method(**changes):
    settings = {
        "lift": hc.Decay(0.3),
        "embedding": hc.Fourier(1),
        "network": hc.MLP(6, 1),
        "points": 128,
        "stages": (hc.Adam(steps=12, rate=1e-2, precision="float64"),),
    }
    return hc.Method(**{**settings, **changes})


def assert_same_bits(one, other):
    for name, array in one.function.to_arrays().items():
        assert array.tobytes() == other.function.to_arrays()[name].tobytes()
    assert one.estimated_error == other.estimated_error
    assert one.history.loss.tobytes() == other.history.loss.tobytes()
    assert one.history.stages == other.history.stages
    assert list(one.history.terms) == list(other.history.terms)
    for name, values in one.history.terms.items():
        assert values.tobytes() == other.history.terms[name].tobytes(), name
    assert list(one.weights) == list(other.weights)
    for name, found in one.weights.items():
        assert found.points.tobytes() == other.weights[name].points.tobytes(), name
        assert found.weights.tobytes() == other.weights[name].weights.tobytes(), name
    assert one.stop is other.stop
