"""Propagated derivatives are the derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hcpinn import jets
from hcpinn.trial import MLP, ModifiedMLP

POINTS = np.random.default_rng(1).uniform(-1, 1, (6, 3))


def nested(function, points, indices):
    return jax.jit(lambda p: jets.nested(function, p, indices))(jnp.asarray(points))


def features(points):
    return jnp.concatenate([points, jnp.sin(2 * points), points[:, :1] * points[:, 1:2]], axis=1)


@pytest.mark.parametrize(
    ("activation", "top"),
    [
        *((activation, [(0, 6, 0)]) for activation in ("tanh", "sin", "gelu", "swish")),
        ("tanh", [(1, 0, 0), (0, 4, 0)]),
        ("gelu", [(1, 2, 2)]),
        ("tanh", [(0, 2, 0), (0, 0, 2), (0, 1, 1)]),
    ],
)
def test_propagation_agrees_with_nested_forward_mode(activation, top):
    network = MLP(9, 2, activation)
    parameters = network.init(jax.random.key(0), 7, 2)
    indices = jets.closure(top)
    inner = nested(features, POINTS, indices)
    ours = jax.jit(lambda inner: network.propagate(parameters, inner, indices))(inner)
    exact = nested(lambda p: network(parameters, features(p)), POINTS, indices)
    for index in indices:
        np.testing.assert_allclose(ours[index], exact[index], rtol=1e-10, atol=1e-10, err_msg=str(index))


@pytest.mark.parametrize(
    ("activation", "axes", "top"),
    [
        ("tanh", 2, [(1, 0), (0, 4)]),
        ("tanh", 3, [(1, 0, 0), (0, 2, 0), (0, 1, 1), (0, 0, 2)]),
        ("swish", 2, [(1, 0), (0, 2)]),
    ],
)
def test_propagation_through_a_modified_network_agrees_with_nested_forward_mode(activation, axes, top):
    network, points = ModifiedMLP(5, 2, activation), POINTS[:, :axes]
    parameters = randomised(network.init(jax.random.key(0), features(points).shape[1], 2))
    indices = jets.closure(top)
    inner = nested(features, points, indices)
    ours = jax.jit(lambda inner: network.propagate(parameters, inner, indices))(inner)
    exact = nested(lambda p: network(parameters, features(p)), points, indices)
    for index in indices:
        np.testing.assert_allclose(ours[index], exact[index], rtol=1e-9, atol=1e-9, err_msg=str(index))


def randomised(parameters):
    """The same parameters with biases that are not zero."""
    return jax.tree.map(lambda a: a + 0.1 * jax.random.normal(jax.random.key(a.size), a.shape), parameters)


def test_a_modified_network_mixes_two_encodings_of_the_input():
    """h ← (1 − z) U + z V in every hidden layer, written out in NumPy."""
    network = ModifiedMLP(5, 2)
    parameters = randomised(network.init(jax.random.key(0), 3, 2))
    assert len(parameters["encoders"]) == 2
    assert len(parameters["layers"]) == 3
    layer = lambda h, p: np.asarray(h) @ np.asarray(p["weight"]) + np.asarray(p["bias"])
    u, v = (np.tanh(layer(POINTS, p)) for p in parameters["encoders"])
    hidden = POINTS
    for p in parameters["layers"][:-1]:
        z = np.tanh(layer(hidden, p))
        hidden = (1 - z) * u + z * v
    expected = layer(hidden, parameters["layers"][-1])
    np.testing.assert_allclose(network(parameters, jnp.asarray(POINTS)), expected, rtol=1e-13, atol=1e-14)


def test_nested_forward_mode_agrees_with_nested_reverse_mode():
    def scalar(p):
        return jnp.tanh(p[0] * p[1] ** 3) + jnp.sin(p[2])

    got = nested(lambda points: jax.vmap(scalar)(points)[:, None], POINTS, [(1, 2, 0)])[(1, 2, 0)]
    slope = scalar
    for axis in (0, 1, 1):
        slope = (lambda f, a: lambda p: jax.grad(f)(p)[a])(slope, axis)
    np.testing.assert_allclose(got[:, 0], jax.vmap(slope)(jnp.asarray(POINTS)), rtol=1e-12)


def test_products_follow_leibniz_and_skip_what_is_absent():
    indices = jets.closure([(2, 3, 0)])
    left, right = nested(jnp.sin, POINTS, indices), nested(jnp.exp, POINTS, indices)
    exact = nested(lambda p: jnp.sin(p) * jnp.exp(p), POINTS, indices)
    ours = jets.product(left, right, indices)
    for index in indices:
        np.testing.assert_allclose(ours[index], exact[index], rtol=1e-12, atol=1e-12)
    zero = (0, 0, 0)
    assert set(jets.product({zero: left[zero]}, {zero: right[zero]}, indices)) == {zero}


def test_closure_holds_every_lower_index_once():
    assert jets.closure([(0, 2), (1, 0)]) == ((0, 0), (0, 1), (1, 0), (0, 2))


def test_gradients_through_propagation_agree_with_those_of_nested_forward_mode():
    network = MLP(8, 2)
    parameters = network.init(jax.random.key(0), 7, 1)
    indices = jets.closure([(1, 0, 0), (0, 4, 0)])
    inner = nested(features, POINTS, indices)

    def by_propagation(p):
        return sum(jnp.sum(v**2) for v in network.propagate(p, inner, indices).values())

    def by_nesting(p):
        return sum(jnp.sum(v**2) for v in nested(lambda q: network(p, features(q)), POINTS, indices).values())

    ours, exact = (jax.jit(jax.grad(f))(parameters) for f in (by_propagation, by_nesting))
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(exact), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
