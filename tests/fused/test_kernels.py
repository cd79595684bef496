"""The CUDA kernels, run on the CPU thread by thread, against the plain propagation in float64."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fused.emulation import call, emulated
from hcpinn import MLP, fused, jets
from hcpinn.fused import arithmetic, launch
from hcpinn.fused.launch import Plan
from hcpinn.precision import double
from hcpinn.trial import FusedMLP
from hcpinn.trial.network import ACTIVATIONS

SECOND, FOURTH, PLANE = ((0, 2), (1, 0)), ((0, 4), (1, 0)), ((0, 2, 0), (0, 0, 2), (1, 0, 0))
EXACT = 3e-6
"""Relative: float32 through a few layers."""


@pytest.fixture(autouse=True)
def _float64():
    with double():
        yield


def inputs(network, features, outputs, indices, points, seed=0, dtype=jnp.float32):
    """Parameters with biases, and a jet of features."""
    rng = np.random.default_rng(seed)
    start = network.init(jax.random.key(seed), features, outputs)
    parameters = jax.tree.map(lambda a: jnp.asarray(a + 0.1 * rng.normal(size=a.shape), dtype), start)
    jet = {index: jnp.asarray(rng.normal(size=(points, features)), dtype) for index in indices}
    return parameters, jet


def plain_loss(network, parameters, jet, indices):
    """A loss in which every output counts, evaluated in float64."""
    wide = jax.tree.map(lambda a: a.astype(jnp.float64), (parameters, jet))
    found = network.propagate(*wide, indices)
    return _loss(found, indices)


def _loss(found, indices):
    weights = [1.0 + 0.3 * k for k in range(len(indices))]
    return sum(w * jnp.mean((found[i] - 0.2) ** 2) for w, i in zip(weights, indices, strict=True))


@pytest.fixture
def on_the_cpu(monkeypatch, tmp_path_factory):
    """Launches go to emulated kernels, two warps a block."""
    libraries = {}

    def launch_emulated(plan, name, shapes, features, others):
        def run(*arrays):
            if plan not in libraries:
                libraries[plan] = emulated(plan, tmp_path_factory.mktemp("kernels"))
            return tuple(call(libraries[plan], name, [np.asarray(a) for a in arrays], list(shapes)))

        results = tuple(jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes)
        return jax.pure_callback(run, results, *features, *others)

    plan = fused._plan
    monkeypatch.setattr(launch, "_launch", launch_emulated)
    monkeypatch.setattr(fused, "_plan", lambda *given: launch.replace(plan(*given), warps=2))
    yield
    launch.forward.cache_clear()
    launch.backward.cache_clear()


@pytest.mark.parametrize(
    ("indices", "width", "depth", "features", "outputs", "points", "activation"),
    [
        (SECOND, 32, 3, 22, 1, 32, "tanh"),
        (FOURTH, 16, 2, 5, 2, 21, "tanh"),
        (PLANE, 20, 2, 9, 1, 17, "tanh"),
        (SECOND, 64, 3, 3, 1, 9, "tanh"),
        (((0, 3), (1, 0)), 48, 2, 4, 1, 16, "sin"),
    ],
)
def test_values_and_gradients(on_the_cpu, indices, width, depth, features, outputs, points, activation):
    indices = jets.closure(indices)
    network = MLP(width, depth, activation)
    parameters, jet = inputs(network, features, outputs, indices, points)
    function = ACTIVATIONS[activation]()
    value, gradient = jax.value_and_grad(
        lambda p: _loss(fused.propagate(function, p, jet, indices), indices)
    )(parameters)
    exact, wanted = jax.value_and_grad(lambda p: plain_loss(network, p, jet, indices))(parameters)
    assert float(value) == pytest.approx(float(exact), rel=EXACT)
    for found, right in zip(jax.tree.leaves(gradient), jax.tree.leaves(wanted), strict=True):
        assert found.shape == right.shape
        assert np.linalg.norm(found - right) <= EXACT * np.linalg.norm(right)


@pytest.mark.parametrize("own_features", [False, True])
def test_runs_together_equal_runs_alone(on_the_cpu, own_features):
    indices = jets.closure(SECOND)
    network, function = MLP(16, 2), jets.tanh()
    each = [inputs(network, 6, 1, indices, 20, seed) for seed in range(3)]
    parameters, many = (jax.tree.map(lambda *a: jnp.stack(a), *part) for part in zip(*each, strict=True))

    def loss(p, jet):
        return _loss(fused.propagate(function, p, jet, indices), indices)

    both = jax.value_and_grad(loss)
    if own_features:
        together = jax.vmap(both)(parameters, many)
        alone = [both(p, jet) for p, jet in each]
    else:
        together = jax.vmap(lambda p: both(p, each[0][1]))(parameters)
        alone = [both(p, each[0][1]) for p, _ in each]
    for number, one in enumerate(alone):
        same = jax.tree.map(lambda a, b, n=number: np.array_equal(a[n], b), together, one)
        assert all(jax.tree.leaves(same))


def test_absent_derivatives_are_zeros(on_the_cpu):
    indices = jets.closure(SECOND)
    network = MLP(16, 2)
    parameters, jet = inputs(network, 4, 1, indices, 12)
    short = {index: value for index, value in jet.items() if index != (0, 2)}
    found = fused.propagate(jets.tanh(), parameters, short, indices)
    right = network.propagate(parameters, short, indices)
    for index in indices:
        np.testing.assert_allclose(found[index], right[index], rtol=1e-4, atol=1e-5)


def test_arithmetic_is_that_of_jets():
    """What the kernels do to one neuron, checked against nested differentiation of tanh(z(t, x))."""
    indices = jets.closure(FOURTH)
    tanh = jets.tanh()
    z = {index: 0.3 + 0.1 * k for k, index in enumerate(indices)}

    def path(c):  # a polynomial with these derivatives at the origin
        t, x = c[:, 0], c[:, 1]
        total = 0.0
        for (a, b), value in z.items():
            total = total + value * t**a * x**b / (np.prod(range(1, a + 1)) * np.prod(range(1, b + 1)))
        return jnp.tanh(total)[:, None]

    nested = jets.nested(path, jnp.zeros((1, 2)), indices)
    own = (jnp.tanh(z[indices[0]]), *(jnp.asarray(z[i]) for i in indices[1:]))
    for found, index in zip(arithmetic.outer(tanh, indices, own), indices, strict=True):
        assert float(found) == pytest.approx(float(nested[index][0, 0]), rel=1e-12)


def test_what_the_kernels_do_not_know_is_named():
    with pytest.raises(NotImplementedError, match="erf"):
        arithmetic.functions(ACTIVATIONS["gelu"](), jets.closure(SECOND))


def test_shared_memory_fits():
    """Two blocks a multiprocessor for the study's networks; wide ones keep one layer's weights at a time."""
    study = Plan(jets.tanh(), jets.closure(SECOND), 16_384, 22, 32, 7, 1)
    assert study.resident
    assert max(study.shared_bytes) <= 113 << 10
    wide = launch.replace(study, width=64)
    assert not wide.resident
    assert max(wide.shared_bytes) <= 113 << 10


@pytest.mark.skipif(launch.capability() >= 80, reason="this machine has a GPU for them")
def test_without_a_gpu_the_plain_way_is_taken():
    indices = jets.closure(SECOND)
    network = MLP(16, 2)
    parameters, jet = inputs(network, 4, 1, indices, 600)
    assert not fused.suits(jets.tanh(), parameters, jet, indices)
    found = FusedMLP(network).propagate(parameters, jet, indices)
    right = network.propagate(parameters, jet, indices)
    assert all(np.array_equal(found[i], right[i]) for i in indices)


def test_they_can_be_turned_off(monkeypatch):
    monkeypatch.setattr(launch, "capability", lambda: 90)
    monkeypatch.setattr(launch, "compiles", lambda plan: True)
    indices = jets.closure(SECOND)
    parameters, jet = inputs(MLP(16, 2), 4, 1, indices, 600)
    assert fused.suits(jets.tanh(), parameters, jet, indices)
    for reason, given in {
        "few points": (parameters, {i: a[:100] for i, a in jet.items()}),
        "float64": jax.tree.map(lambda a: a.astype(jnp.float64), (parameters, jet)),
    }.items():
        assert not fused.suits(jets.tanh(), *given, indices), reason
    monkeypatch.setenv(fused.SWITCH, "off")
    assert not fused.suits(jets.tanh(), parameters, jet, indices)


def test_a_missing_compiler_is_said_once_and_not_fatal(monkeypatch):
    def missing(*_):
        raise launch.nvrtc.CompilerError("libnvrtc is not installed")

    monkeypatch.setattr(launch, "_packed", missing)
    plan = Plan(jets.tanh(), jets.closure(SECOND), 600, 4, 16, 2, 1)
    with pytest.warns(UserWarning, match="without fused GPU kernels: libnvrtc"):
        assert not launch.compiles(plan)
    launch.compiles.cache_clear()


def test_source_is_shipped():
    assert (Path(launch.__file__).with_name("kernels.cu")).is_file()
