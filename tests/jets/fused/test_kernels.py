"""The fused kernels against the plain propagation in float64: those for a GPU run thread by thread on the CPU."""

import errno
import os
import shutil
import threading
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hcpinn import MLP, ModifiedMLP, jets
from hcpinn.jets import fused
from hcpinn.jets.fused import arithmetic, cuda, host, launch
from hcpinn.jets.fused.plan import KernelPlan
from hcpinn.machine.precision import double
from jets.fused.emulation import call, emulated

SECOND, FOURTH, PLANE = ((0, 2), (1, 0)), ((0, 4), (1, 0)), ((0, 2, 0), (0, 0, 2), (1, 0, 0))
VALUE = ((0, 0),)
EXACT = {"float32": 3e-6, "float64": 1e-13}
"""Relative, through a few layers."""

STUDY = KernelPlan(jets.tanh(), jets.closure(SECOND), 16_384, 22, 32, 7, 1, "float32", cuda.TILE, 0)
compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="there is no C++ compiler here"
)


@pytest.fixture(autouse=True)
def _float64():
    with double():
        yield


def inputs(network, features, outputs, indices, points, seed=0, dtype="float32"):
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
def emulation(monkeypatch, tmp_path_factory):
    """Launches go to the GPU's kernels, emulated, with two warps a block."""
    libraries = {}

    def launch_emulated(plan, name, shapes, arrays):
        def run(*arrays):
            if (plan, name) not in libraries:
                libraries[plan, name] = emulated(plan, name, tmp_path_factory.mktemp("kernels"))
            return tuple(call(libraries[plan, name], [np.asarray(a) for a in arrays], list(shapes)))

        results = tuple(jax.ShapeDtypeStruct(shape, plan.precision) for shape in shapes)
        return jax.pure_callback(run, results, *arrays)

    plan = fused._plan

    def plan_for_a_gpu(*given):
        own = plan(*given)
        width = cuda.filled(own.width)
        return replace(own, width=width, tile=cuda.tile(width, own.streams) if width > 64 else 16, parts=0)

    monkeypatch.setattr(launch, "_launch", launch_emulated)
    monkeypatch.setattr(fused, "_plan", plan_for_a_gpu)
    launch.forward.cache_clear()
    launch.backward.cache_clear()
    yield
    launch.forward.cache_clear()
    launch.backward.cache_clear()


def fused_jet(network, parameters, jet, indices):
    mixed = isinstance(network, ModifiedMLP)
    layers, encoders = (parameters["layers"], parameters["encoders"]) if mixed else (parameters, ())
    return fused.propagate(jets.ACTIVATIONS[network.activation](), layers, jet, indices, encoders)


def check(network, indices, features, outputs, points, precision):
    indices = jets.closure(indices)
    parameters, jet = inputs(network, features, outputs, indices, points, dtype=precision)
    ours = jax.value_and_grad(lambda p: _loss(fused_jet(network, p, jet, indices), indices))
    theirs = jax.value_and_grad(lambda p: plain_loss(network, p, jet, indices))
    (value, gradient), (exact, wanted) = jax.jit(ours)(parameters), jax.jit(theirs)(parameters)
    assert float(value) == pytest.approx(float(exact), rel=EXACT[precision])
    for found, right in zip(jax.tree.leaves(gradient), jax.tree.leaves(wanted), strict=True):
        assert found.shape == right.shape
        assert np.linalg.norm(found - right) <= EXACT[precision] * max(np.linalg.norm(right), 1e-3)


@pytest.mark.parametrize(
    ("network", "indices", "features", "outputs", "points", "precision"),
    [
        (MLP(32, 3), SECOND, 22, 1, 32, "float32"),
        (MLP(16, 2), FOURTH, 5, 2, 21, "float32"),
        (MLP(20, 2), PLANE, 9, 1, 17, "float32"),
        (MLP(64, 3), SECOND, 3, 1, 9, "float32"),
        (MLP(48, 2, "sin"), ((0, 3), (1, 0)), 4, 1, 16, "float32"),
        (MLP(16, 3), VALUE, 3, 1, 5, "float32"),
        (MLP(16, 2), SECOND, 162, 1, 19, "float32"),
        (MLP(32, 3), SECOND, 22, 1, 32, "float64"),
        (MLP(16, 2, "sin"), FOURTH, 5, 2, 21, "float64"),
        (MLP(64, 3), SECOND, 3, 1, 9, "float64"),
        (MLP(128, 2), SECOND, 22, 1, 40, "float32"),
        (MLP(70, 2, "sin"), FOURTH, 5, 2, 21, "float32"),
        (MLP(128, 2), VALUE, 3, 1, 5, "float32"),
        (ModifiedMLP(128, 2), SECOND, 22, 1, 9, "float32"),
        (ModifiedMLP(128, 2), PLANE, 40, 1, 20, "float32"),
        (ModifiedMLP(32, 3), SECOND, 22, 1, 32, "float32"),
        (ModifiedMLP(16, 2, "sin"), FOURTH, 5, 2, 21, "float64"),
        (ModifiedMLP(64, 6), SECOND, 3, 1, 9, "float32"),  # weights of one layer at a time
        (ModifiedMLP(64, 3), ((0, 1), (1, 0)), 20, 1, 9, "float64"),
    ],
)
def test_values_and_gradients_on_a_gpu(emulation, network, indices, features, outputs, points, precision):
    check(network, indices, features, outputs, points, precision)


@compiler
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(
    ("network", "indices", "features", "outputs", "points"),
    [
        (MLP(20, 3), SECOND, 11, 2, 300),
        (MLP(32, 2), FOURTH, 5, 1, 129),
        (MLP(30, 2, "sin"), PLANE, 40, 1, 17),
        (MLP(8, 3), VALUE, 3, 1, 64),
        (ModifiedMLP(20, 3), SECOND, 11, 2, 300),
        (ModifiedMLP(14, 2, "sin"), FOURTH, 5, 1, 129),
    ],
)
def test_values_and_gradients_on_a_cpu(network, indices, features, outputs, points, precision):
    check(network, indices, features, outputs, points, precision)


@pytest.mark.parametrize("where", ["gpu", pytest.param("cpu", marks=compiler)])
def test_a_network_that_is_not_a_number_gives_none_and_leaves_others_alone(where, request):
    if where == "gpu":
        request.getfixturevalue("emulation")
    indices = jets.closure(SECOND)
    network = MLP(16, 2)
    each = [inputs(network, 3, 2, indices, 70, seed=seed, dtype="float64") for seed in range(2)]
    lost = jax.tree.map(lambda a: jnp.full_like(a, jnp.nan), each[0][0])
    parameters = jax.tree.map(lambda *a: jnp.stack(a), lost, each[1][0])

    def loss(p):
        return _loss(fused.propagate(jets.tanh(), p, each[1][1], indices), indices)

    both = jax.value_and_grad(loss)
    values, gradients = jax.jit(jax.vmap(both))(parameters)
    right, wanted = jax.jit(both)(each[1][0])
    assert np.isnan(values[0])
    assert float(values[1]) == pytest.approx(float(right), rel=1e-15)
    for found, known in zip(jax.tree.leaves(gradients), jax.tree.leaves(wanted), strict=True):
        assert np.all(np.isnan(found[0]))
        np.testing.assert_allclose(found[1], known, rtol=1e-13, atol=1e-16)


@compiler
def test_tanh_on_a_cpu_is_exact_to_rounding():
    """Through a network that is one tanh: two layers, the second close to the identity."""
    x = jnp.asarray(np.r_[np.linspace(-30, 30, 1001), np.geomspace(1e-12, 1, 300)])[:, None]
    tiny = 1e-8
    layer = lambda a: {"weight": jnp.asarray(a), "bias": jnp.zeros(np.shape(a)[1])}
    parameters = [layer(np.eye(1, 4)), layer(tiny * np.eye(4)), layer(np.eye(4, 1) / tiny)]
    found = fused.propagate(jets.tanh(), parameters, {(0, 0): x}, VALUE)[0, 0]
    np.testing.assert_allclose(found, jnp.tanh(x), rtol=3e-15)


def both_ways(loss, each, own_features):
    """Losses and gradients of runs mapped over, and one by one."""
    parameters, many = (jax.tree.map(lambda *a: jnp.stack(a), *part) for part in zip(*each, strict=True))
    both = jax.jit(jax.value_and_grad(loss))
    if own_features:
        return jax.jit(jax.vmap(both))(parameters, many), [both(p, jet) for p, jet in each]
    common = each[0][1]
    return jax.jit(jax.vmap(both, in_axes=(0, None)))(parameters, common), [both(p, common) for p, _ in each]


@pytest.mark.parametrize(
    ("network", "own_features"), [(MLP(16, 2), False), (MLP(16, 2), True), (ModifiedMLP(16, 2), True)]
)
@pytest.mark.parametrize("place", ["gpu", pytest.param("cpu", marks=compiler)])
def test_runs_together_equal_runs_alone(request, place, network, own_features):
    if place == "gpu":
        request.getfixturevalue("emulation")
    indices = jets.closure(SECOND)
    each = [inputs(network, 6, 1, indices, 20, seed) for seed in range(3)]

    def loss(p, jet):
        return _loss(fused_jet(network, p, jet, indices), indices)

    together, alone = both_ways(loss, each, own_features)
    for number, one in enumerate(alone):
        for many, single in zip(jax.tree.leaves(together), jax.tree.leaves(one), strict=True):
            np.testing.assert_allclose(many[number], single, rtol=1e-6, atol=1e-7)


@compiler
def test_same_input_same_bits_on_a_cpu():
    indices = jets.closure(SECOND)
    network = MLP(16, 2)
    parameters, jet = inputs(network, 6, 1, indices, 1000)
    run = jax.jit(jax.grad(lambda p: _loss(fused.propagate(jets.tanh(), p, jet, indices), indices)))
    first, again = run(parameters), run(parameters)
    assert all(jax.tree.leaves(jax.tree.map(np.array_equal, first, again)))


def test_absent_derivatives_are_zeros(emulation):
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

    nested = jax.jit(lambda points: jets.nested(path, points, indices))(jnp.zeros((1, 2)))
    own = (jnp.tanh(z[indices[0]]), *(jnp.asarray(z[i]) for i in indices[1:]))
    for found, index in zip(arithmetic.outer(tanh, indices, own), indices, strict=True):
        assert float(found) == pytest.approx(float(nested[index][0, 0]), rel=1e-12)


def test_what_the_kernels_do_not_know_is_named():
    with pytest.raises(NotImplementedError, match="erf"):
        arithmetic.functions(
            jets.ACTIVATIONS["gelu"](),
            jets.closure(SECOND),
            number="float",
            precision="float32",
            kind="static",
            mixed=False,
        )


def test_shared_memory_fits():
    """Two blocks a multiprocessor for the study's networks; wide ones keep one layer's weights at a time."""
    assert cuda.resident(STUDY)
    assert max(cuda.shared_bytes(STUDY)) <= 113 << 10
    mixed = replace(STUDY, mixed=True)
    assert cuda.resident(mixed)
    assert max(cuda.shared_bytes(mixed)) <= 227 << 10
    many = replace(STUDY, features=162)
    assert cuda.resident(many)
    assert max(cuda.shared_bytes(many)) <= 113 << 10
    wide = replace(STUDY, width=64)
    assert not cuda.resident(wide)
    assert max(cuda.shared_bytes(wide)) <= 113 << 10


def test_few_points_go_the_plain_way_on_a_cpu():
    indices = jets.closure(SECOND)
    network = MLP(16, 2)
    parameters, jet = inputs(network, 4, 1, indices, 600)
    assert not fused.suits(jets.tanh(), parameters, jet, indices)
    with jets.differentiated_once():
        found = network.propagate(parameters, jet, indices)
    right = network.propagate(parameters, jet, indices)
    assert all(np.array_equal(found[i], right[i]) for i in indices)


@compiler
def test_they_can_be_turned_off(monkeypatch):
    indices = jets.closure(SECOND)
    parameters, jet = inputs(MLP(16, 2), 6, 1, indices, 2000)
    assert fused.suits(jets.tanh(), parameters, jet, indices)
    assert fused.points_at_once(512, jets.tanh(), 16, numbers=128, itemsize=8) > 512
    mixed = (parameters, jax.tree.map(lambda a: a.astype(jnp.float64), jet))
    assert not fused.suits(jets.tanh(), *mixed, indices)
    monkeypatch.setenv(fused.SWITCH, "off")
    assert not fused.suits(jets.tanh(), parameters, jet, indices)
    assert fused.points_at_once(512, jets.tanh(), 16, numbers=128, itemsize=8) == 512


@pytest.fixture
def compilers(monkeypatch):
    """Say which C++ compiler is found."""
    remembered = (host._compiler, host._registered, fused._prepared, fused._warn)

    def only(path):
        monkeypatch.setattr(host.shutil, "which", lambda _: path)
        for kept in remembered:
            kept.cache_clear()

    yield only
    for kept in remembered:
        kept.cache_clear()


def test_a_compiler_that_fails_is_named_and_training_goes_on(compilers):
    compilers("/bin/false")
    indices = jets.closure(SECOND)
    parameters, jet = inputs(MLP(16, 2), 5, 1, indices, 1500)
    with pytest.warns(UserWarning, match="training is slower: /bin/false refuses them"):
        assert not fused.suits(jets.tanh(), parameters, jet, indices)


def test_a_compiler_that_fails_is_named_once(compilers, recwarn):
    compilers("/bin/false")
    for points in (1500, 3000):
        parameters, jet = inputs(MLP(16, 2), 5, 1, jets.closure(SECOND), points)
        assert not fused.suits(jets.tanh(), parameters, jet, jets.closure(SECOND))
    assert len([w for w in recwarn if "fused" in str(w.message)]) == 1


@compiler
def test_kernels_are_taken_only_where_one_derivative_backward_was_promised():
    indices = jets.closure(SECOND)
    network = MLP(16, 2)
    parameters, jet = inputs(network, 6, 1, indices, 1500)

    def loss(parameters):
        return _loss(network.propagate(parameters, jet, indices), indices)

    def once(parameters):
        with jets.differentiated_once():
            return loss(parameters)

    assert "ffi_call" in str(jax.make_jaxpr(jax.grad(once))(parameters))
    assert "ffi_call" not in str(jax.make_jaxpr(jax.grad(loss))(parameters))


def test_a_compiler_that_fails_beside_what_comes_first_is_named_when_kernels_are_needed(compilers, recwarn):
    compilers("/bin/false")
    indices = jets.closure(SECOND)
    parameters, jet = inputs(MLP(16, 2), 5, 1, indices, 1500)
    MLP(16, 2).begin(5, 1, indices, 1500, "float32")
    assert not recwarn
    with pytest.warns(UserWarning, match="training is slower: /bin/false refuses them"):
        assert not fused.suits(jets.tanh(), parameters, jet, indices)


@compiler
def test_kernels_that_cannot_be_kept_are_done_without(compilers, monkeypatch, tmp_path):
    monkeypatch.setenv("HCPINN_CACHE", str(tmp_path))
    compilers(shutil.which("g++") or shutil.which("c++"))
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    indices = jets.closure(SECOND)
    parameters, jet = inputs(MLP(20, 2), 5, 1, indices, 1500)
    with pytest.warns(UserWarning, match="training is slower: Cannot write .*: full"):
        assert not fused.suits(jets.tanh(), parameters, jet, indices)


@compiler
def test_they_are_compiled_once_beside_what_comes_first(monkeypatch, tmp_path):
    monkeypatch.setenv("HCPINN_CACHE", str(tmp_path))
    threads, run = [], host.subprocess.run

    def followed(*arguments, **options):
        threads.append(threading.current_thread())
        return run(*arguments, **options)

    monkeypatch.setattr(host.subprocess, "run", followed)
    indices = jets.closure(SECOND)
    network = MLP(12, 3)
    parameters, jet = inputs(network, 6, 1, indices, 1500)
    network.begin(6, 1, indices, 100, "float32")
    for _ in range(2):
        network.begin(6, 1, indices, 1500, "float32")
    assert fused.suits(jets.tanh(), parameters, jet, indices)
    [thread] = threads
    assert thread is not threading.current_thread()


@compiler
@pytest.mark.parametrize(
    "damage", [lambda content: content[:-9], lambda content: content[:99] + b"?" + content[100:]]
)
def test_kernels_that_are_cut_short_or_changed_are_made_again(monkeypatch, tmp_path, damage):
    monkeypatch.setenv("HCPINN_CACHE", str(tmp_path / "cache"))
    made = lambda: host._library("a", 'extern "C" int three() { return 3; }', host._compiler())
    whole = made().read_bytes()
    made().write_bytes(damage(whole))
    assert made().read_bytes() == whole
    assert {path.name for path in made().parent.iterdir()} == {"a.so", "a.so.sha256"}


def test_without_a_compiler_the_plain_way_is_taken_quietly(compilers, recwarn):
    compilers(None)
    indices = jets.closure(SECOND)
    parameters, jet = inputs(MLP(16, 2), 5, 1, indices, 1500)
    assert not fused.suits(jets.tanh(), parameters, jet, indices)
    assert fused.points_at_once(512, jets.tanh(), 16, numbers=128, itemsize=8) == 512
    assert not [w for w in recwarn if "fused" in str(w.message)]


def test_a_device_of_the_users_choice_decides_which_kernels(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert launch.platform() == "gpu"
    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        assert launch.platform() == "cpu"
    with jax.default_device("cpu"):
        assert launch.platform() == "cpu"
