"""What eight devices give is what one gives. Run by `test_devices.py`, in a process that has eight."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.descent import Preparation, Stop
from hcpinn.errors import MethodError
from hcpinn.objective import RESIDUAL, find_devices, take_batch
from hcpinn.objective.devices import ENOUGH

SCALAR = declare()
SYSTEM = hc.find_problem("gray-scott")
SOFT = {
    "lift": hc.NoLift(),
    "gate": hc.NoGate(),
    "embedding": hc.Plain(),
    "penalties": (hc.InitialPenalty(points=21, weight=100.0), hc.PeriodicPenalty(points=5)),
}
ADAM, LBFGS = hc.Adam(steps=6, rate=1e-2, precision="float64"), hc.LBFGS(steps=4, memory=3)


def method(**changes):
    settings = {
        "lift": hc.Decay(0.7),
        "embedding": hc.Fourier(2),
        "network": hc.MLP(6, 2),
        "points": 203,  # which eight do not divide
        "stages": (ADAM,),
    }
    return hc.Method(**{**settings, **changes})


def prepared(problem, devices, *, seeds=(0,), chunk=None, **changes):
    """An objective, its data and their axes, and random parameters."""
    runs = [hc.Run(problem, method(**changes), seed) for seed in seeds]
    preparation = Preparation(runs, devices=find_devices(devices, points=0))
    theta = 0.5 * jax.random.normal(jax.random.key(1), preparation.theta.shape)
    ready = preparation.prepare()
    if chunk is not None:
        ready.objective.chunk = chunk
    return ready, theta


def assert_close(one, other, rtol=1e-12):
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * float(np.max(np.abs(b))))


CASES = {
    "a number of points that eight divide": (SCALAR, {"points": 208, "chunk": 10}),
    "penalties, shares of several chunks": (SCALAR, {**SOFT, "chunk": 10}),
    "a system, fewer points than devices": (SYSTEM, {"points": 5}),
}


@pytest.mark.parametrize("case", CASES)
def test_loss_gradient_squares_and_normal_equations(case):
    problem, changes = CASES[case]
    results = []
    for count in (1, 8):
        ready, theta = prepared(problem, count, **changes)
        objective, data = ready.objective, ready.data
        factors = {RESIDUAL: jnp.linspace(0.0, 3.0, data.blocks[RESIDUAL].share.size)}

        def everything(theta, data, objective=objective, factors=factors):
            return (
                objective.measure(theta, data, factors),
                objective.linearize(theta, data, factors),
                objective.mismatches(theta, data),
            )

        squares = objective.residual_squares(theta[0], data.blocks[RESIDUAL], data.parameters)
        results.append((jax.jit(everything)(theta[0], data), squares))
    assert_close(*results)


def test_runs_that_train_together():
    results = []
    for count in (1, 8):
        ready, theta = prepared(SCALAR, count, seeds=(0, 1, 2), points=40)
        results.append(jax.jit(jax.vmap(ready.objective.measure, in_axes=(0, ready.axes)))(theta, ready.data))
    assert_close(*results)


@pytest.mark.parametrize("size", [24, 51])
def test_a_mini_batch(size):
    results = []
    for count in (1, 8):
        ready, theta = prepared(SCALAR, count, points=208)
        at = jax.random.permutation(jax.random.key(3), 208)[:size]

        def over(theta, data, at, objective=ready.objective):
            return objective.measure(theta, take_batch(data, at))

        results.append(jax.jit(over)(theta[0], ready.data, at))
    assert_close(*results)


def test_each_device_holds_its_share_of_the_points():
    data = prepared(SCALAR, 8, points=208)[0].data
    for array in jax.tree.leaves(data.blocks):
        assert array.sharding.shard_shape(array.shape)[0] == 26
        assert len(array.sharding.device_set) == 8
    together = prepared(SCALAR, 8, points=208, seeds=(0, 1))[0].data.blocks[RESIDUAL].fixed[0].coordinates
    assert together.sharding.shard_shape(together.shape) == (2, 26, 2)


def test_points_cross_between_devices_only_as_sums():
    ready, theta = prepared(SCALAR, 8, points=208, chunk=10)
    program = jax.jit(lambda t, d: ready.objective.measure(t, d).gradient).lower(theta[0], ready.data)
    text = program.compile().as_text()
    assert "all-reduce" in text
    assert "all-gather" not in text
    assert "collective-permute" not in text


TRAININGS = {
    "two stages, self-adaptive weights": {**SOFT, "weights": hc.SelfAdaptive(), "stages": (ADAM, LBFGS)},
    "attention, mini-batches of fresh points": {
        "weights": hc.Attention(rate=0.1),
        "batches": hc.Batches(4, 51),
        "resampling": hc.Resampling(every=3),
    },
    "causal weights, points drawn by residual": {
        "weights": hc.Causal(chunks=5),
        "points": 208,
        "resampling": hc.Resampling(every=3, by="residual"),
    },
    "Levenberg–Marquardt": {"stages": (hc.LevenbergMarquardt(steps=3, damping=1.0),)},
}


def train(devices, **changes):
    options = {name: changes.pop(name) for name in ("out", "resume", "max_seconds") if name in changes}
    runs = [hc.Run(SCALAR, method(**changes))]
    return hc.solve_batch(runs, reference=False, devices=devices, progress=False, **options)[0]


def assert_same_training(one, other):
    np.testing.assert_allclose(one.history.loss, other.history.loss, rtol=1e-9)
    np.testing.assert_allclose(one.theta, other.theta, rtol=1e-7, atol=1e-9)
    assert one.history.stages == other.history.stages
    assert one.stop is other.stop
    for name, found in other.weights.items():
        np.testing.assert_array_equal(one.weights[name].points, found.points)
        np.testing.assert_allclose(one.weights[name].weights, found.weights, rtol=1e-9)


@pytest.mark.parametrize("training", TRAININGS)
def test_a_training(training):
    assert_same_training(train(8, **TRAININGS[training]), train(1, **TRAININGS[training]))


def test_a_training_goes_on_with_another_number_of_devices(tmp_path):
    changes = {"weights": hc.SelfAdaptive(), "stages": (hc.Adam(steps=300, rate=1e-2, precision="float64"),)}
    early = train(8, **changes, out=tmp_path, max_seconds=0.0)
    assert early.stop is Stop.TIME
    assert early.provenance.device.endswith(", 8 devices")
    assert_same_training(train(1, **changes, out=tmp_path, resume=True), train(8, **changes))


# Which devices are taken


def test_all_devices_are_taken_once_each_has_enough_points():
    assert find_devices(None, points=8 * ENOUGH).count == 8
    assert find_devices(None, points=8 * ENOUGH - 1).count == 1


def test_a_device_that_was_chosen_is_the_only_one():
    with jax.default_device(jax.devices()[3]):
        assert find_devices(None, points=8 * ENOUGH).count == 1


@pytest.mark.parametrize("count", [1, 3, 8])
def test_the_number_asked_for_is_taken(count):
    assert find_devices(count, points=1).count == count


def test_more_devices_than_there_are_are_refused():
    with pytest.raises(MethodError, match="9 devices were asked for, but there are 8 .cpu.. Take at most 8"):
        train(9)
