"""Sampled layers and the orthonormal bases made of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.evolution.basis import Bases, orthonormal, quadrature, refined
from hcpinn.evolution.features import sample
from hcpinn.evolution.walls import wall_of

V, S = hc.Dirichlet(0.0), hc.Neumann(0.0)
KINDS = {
    "periodic": hc.Periodic(),
    "gated": V,
    "free": [],
    "sides": (V, hc.Robin(0.0, value=2.0, slope=0.5)),
    "fourth": ([V, S], [hc.Derivative(0.0), hc.Linear(0.0, factors=(1.0, 0.0, 0.0, 2.0))]),
}


def declared(kind):
    return declare(
        domain=hc.Interval(-1.0, 2.0), boundary=KINDS[kind], rhs=lambda u: -u.xxxx, initial=lambda x: 0.0 * x
    )


def layer(kind, count=60, density=None):
    return sample(
        count,
        -1.0,
        2.0,
        periodic=kind == "periodic",
        wall=wall_of(declared(kind), 0, 0),
        density=density,
        steepest=2.0,
        rng=np.random.default_rng(0),
    )


def basis(kind):
    points, weights = quadrature(200, -1.0, 2.0, periodic=kind == "periodic", density=None)
    return orthonormal(layer(kind), points, weights, order=2, cut=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_are_those_of_jax(kind):
    made = layer(kind)
    x = np.linspace(-0.9, 1.9, 7)
    function = lambda a: made.derivatives(jnp.asarray([a]), 0)[0][0]
    for order, values in enumerate(made.derivatives(x, 4)):
        expected = jax.jit(jax.vmap(function))(jnp.asarray(x))
        assert np.allclose(values, expected, rtol=1e-8, atol=1e-6), order
        function = jax.jacfwd(function)


@pytest.mark.parametrize("kind", KINDS)
def test_functions_are_orthonormal(kind):
    made = basis(kind)
    assert np.allclose(made.test @ made.values[0], np.eye(made.rank), atol=1e-12)


def test_gated_functions_vanish_at_the_ends():
    assert np.abs(basis("gated").layer.derivatives(np.array([-1.0, 2.0]), 0)[0]).max() == 0


@pytest.mark.parametrize("kind", ["gated", "sides", "fourth"])
def test_conditions_hold_for_every_function(kind):
    made = basis(kind)
    series = made.layer.derivatives(np.array([-1.0, 2.0]), 3)
    for side in declared(kind).sides:
        for condition in side.conditions[0]:
            parts = [f * side.sign**k * series[k][side.end] for k, f in enumerate(condition.factors)]
            assert np.all(np.abs(sum(parts)) <= 1e-13 * np.maximum(np.abs(parts).max(axis=0), 1.0))


def test_points_follow_a_density():
    x = np.linspace(-1.0, 2.0, 400)
    density = (x, 1 + 50 * np.exp(-(((x - 0.5) / 0.05) ** 2)))
    points, weights = quadrature(240, -1.0, 2.0, periodic=False, density=density)
    assert weights.sum() == pytest.approx(3.0)
    assert np.mean(np.abs(points - 0.5) < 0.1) > 0.4


@pytest.mark.parametrize("density", [None, (np.linspace(-1, 2, 50), np.linspace(15.0, 30.0, 50))])
def test_refined_points_are_others_with_the_same_functions(density):
    points, weights = quadrature(360, -1.0, 2.0, periodic=True, density=density)
    made = orthonormal(layer("periodic"), points, weights, order=2, cut=1e-6)
    finer = refined(Bases.join([made], [0]))
    assert len(finer.points) == 2 * len(points)
    assert not set(np.round(finer.points, 12)) & set(np.round(points, 12))
    assert finer.weights.sum() == pytest.approx(3.0)
    assert np.allclose(finer.test @ finer.values[0], np.eye(made.rank), atol=1e-6)
