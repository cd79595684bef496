"""Whatever the network is, a function of x − ct solves the transport equation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.errors import MethodError, UnknownNameError
from hcpinn.objective import residual, sampling
from hcpinn.trial import Trial


def transport(**changes):
    settings = {"rhs": lambda u, c: -c * u.x, "parameters": {"c": 30.0}, "name": "transport"}
    return declare(**{**settings, **changes})


def make(problem, speed="c", **parts):
    free = {"lift": hc.NoLift(), "gate": hc.NoGate(), "network": hc.MLP(8, 2)}
    return Trial(problem, embedding=hc.Characteristic(speed), **{**free, **parts})


@pytest.mark.parametrize(
    ("problem", "speed"),
    [
        (transport(), "c"),
        (transport(start=0.5, horizon=2.0, parameters={"c": -3.0}), "c"),
        (transport(rhs=lambda u, wind: -(wind * u).x, parameters={"wind": 1e-4}), "wind"),
    ],
)
def test_any_network_solves_the_transport_equation(problem, speed):
    trial = make(problem, speed, network=hc.ModifiedMLP(6, 2) if speed == "wind" else hc.MLP(8, 2))
    points = jnp.asarray(sampling.interior(problem, 40, seed=0))

    @jax.jit
    def both(parameters):
        fixed = trial.fix(points)
        return trial.jet(parameters, fixed)[1, 0], residual(trial, parameters, fixed, problem.parameters)

    for seed in range(3):
        rate, got = both(trial.init(jax.random.key(seed)))
        size = float(jnp.abs(rate).max())
        assert size > 0
        np.testing.assert_allclose(got, 0.0, atol=1e-12 * size)


def test_the_network_sees_the_characteristic_through_each_point():
    trial = make(transport(start=0.5, horizon=2.0))
    parameters = trial.init(jax.random.key(0))
    t, x = np.array([0.5, 0.6, 1.7]), 0.3
    along = jnp.asarray(np.stack([t, x + 30.0 * (t - 0.5)], axis=1))
    np.testing.assert_allclose(trial.embed(along), x, rtol=1e-12)
    values = trial(parameters, along)
    np.testing.assert_allclose(values, values[0, 0], rtol=1e-10)
    assert trial.left_open == (("initial", None), ("periodic", 0))


@pytest.mark.parametrize(
    "problem",
    [
        declare(parameters={"c": 1.0}),
        transport(rhs=lambda u, c: c * u.x),
        transport(rhs=lambda u, c: -c * u.x + 1e-4 * u),
        transport(rhs=lambda u, c: -c * u.x + 1e-3 * u.xx),
        transport(rhs=lambda u, c: -c * u * u.x),
        transport(rhs=lambda u, c, t: -c * u.x + 0.1 * t),
        transport(rhs=lambda u, v, c: (-c * u.x, -c * v.x), initial=lambda x: (jnp.cos(jnp.pi * x), 0.0)),
        transport(rhs=lambda u, c: -c * u.x, initial=lambda x: jnp.exp(1j * jnp.pi * x)),
        transport(
            domain=hc.Box((-1, 1), (-1, 1)), initial=lambda x, y: jnp.cos(jnp.pi * x) * jnp.cos(jnp.pi * y)
        ),
    ],
)
def test_other_equations_are_refused(problem):
    with pytest.raises(MethodError, match=r"needs the transport equation uₜ = −c uₓ.*Use embedding=Fourier"):
        make(problem)


def test_an_unknown_speed_gets_the_nearest_name():
    problem = transport(rhs=lambda u, speed: -speed * u.x, parameters={"speed": 1.0})
    with pytest.raises(UnknownNameError, match="no parameter 'sped' of transport. Did you mean 'speed'"):
        make(problem, "sped")
