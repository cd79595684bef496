"""The work of a step agrees with what the compiler counts, and grows as the formula says."""

import jax
import jax.numpy as jnp
import pytest

import hcpinn as hc
from hcpinn import jets
from hcpinn.descent import Preparation
from hcpinn.speed import Case, model_problem, network_operations, operations, step_work

SECOND = jets.closure([(0, 2), (1, 0)])
FOURTH = jets.closure([(0, 4), (1, 0)])


def traced(network, inputs, outputs, indices, points):
    """Loss and gradient of a network's jet, as hcpinn writes them."""
    with jax.enable_x64(True):
        parameters = network.init(jax.random.key(0), inputs, outputs)
        features = dict.fromkeys(indices, jnp.ones((points, inputs)))

    def loss(parameters, features):
        jet = network.propagate(parameters, features, indices)
        return sum(jnp.sum(value**2) for value in jet.values())

    return jax.value_and_grad(loss), parameters, features


@pytest.mark.parametrize("indices", [SECOND, FOURTH], ids=["second", "fourth"])
def test_products_are_those_of_the_traced_network(indices):
    network, points = hc.MLP(12, 3), 500
    gradient, parameters, features = traced(network, 5, 2, indices, points)
    expected = network_operations(network, 5, 2, indices).times(points)
    found = operations(gradient, parameters, features)
    assert found.products == expected.products
    assert found.arithmetic == pytest.approx(expected.arithmetic, rel=0.03)  # the loss, sums of gradients
    assert found.functions == expected.functions


def test_the_compiler_counts_as_many_operations():
    network, points = hc.MLP(64, 3), 128
    gradient, parameters, features = traced(network, 20, 1, SECOND, points)
    cost = jax.jit(gradient).lower(parameters, features).compile().cost_analysis()
    expected = network_operations(network, 20, 1, SECOND).times(points)
    # The compiler also counts what is recomputed, which is little beside the products at this width.
    assert cost["flops"] == pytest.approx(expected.products + expected.arithmetic, rel=0.05)


def step(**settings):
    return Case(**{"points": 64, "width": 8, "depth": 2, "modes": 1, **settings}).step()


def test_work_grows_with_points_and_runs():
    one, twice, batch = (step(**s).work() for s in ({}, {"points": 128}, {"runs": 3}))
    update = 2 * one.operations.products - twice.operations.products
    assert update == 0  # the update has no matrix products
    assert twice.operations.arithmetic < 2 * one.operations.arithmetic
    assert batch.operations == one.operations.times(3)
    assert one.bytes < batch.bytes < 3 * one.bytes  # what is the same for all runs is read once


def test_bytes_follow_the_precision():
    assert step(precision="float64").work().bytes == 2 * step().work().bytes


def test_what_cannot_be_counted_is_refused():
    problem = model_problem()
    method = hc.Method(embedding=hc.Fourier(1), network=hc.ModifiedMLP(4, 1), points=8)
    preparation = Preparation([hc.Run(problem, method)])
    prepared = preparation.prepare()
    with pytest.raises(hc.HcpinnError, match="MLP"):
        step_work(prepared.objective, prepared.data)
