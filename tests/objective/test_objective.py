"""The loss is the mean squared residual of the equation, and its gradient is its gradient."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.objective import RESIDUAL, Objective, chunk_size, residual, sampling, stack
from hcpinn.objective.chunks import in_chunks
from hcpinn.trial import Trial


@functools.cache
def make(problem, *, chunk=1000, **parts):
    """An objective, and random parameters for it."""
    settings = {
        "lift": hc.Decay(1.3),
        "gate": hc.LinearGate(),
        "embedding": hc.Fourier(2),
        "network": hc.MLP(8, 2),
    }
    trial = Trial(problem, **{**settings, **parts})
    objective = Objective(trial, trial.init(jax.random.key(0)), chunk=chunk)
    theta = 0.5 * jax.random.normal(jax.random.key(1), (objective.size,))
    return objective, theta


@functools.cache
def points(problem, count, seed=0):
    return sampling.interior(problem, count, seed=seed)


@functools.cache
def compiled(objective):
    return jax.jit(objective.measure)


def measure(objective, theta, data, weights=None):
    """Loss, gradient and mismatches, compiled once per objective."""
    return compiled(objective)(theta, data, weights)


def along(function, axis):
    return lambda p: jax.grad(function)(p)[axis]


ALLEN_CAHN = hc.find_problem("allen-cahn-1")


def plain_residuals(theta, objective, where, gamma1=1e-3, gamma2=5.0):
    """The Allen–Cahn residual at points by nested reverse mode, without chunks or jets."""
    network = objective.unravel(theta)

    def u(p):
        t, x = p
        lift = jnp.exp(-1.3 * t) * x**2 * jnp.cos(jnp.pi * x)
        k = jnp.arange(1, 3)
        phase = jnp.pi * k * x
        features = jnp.concatenate([jnp.stack([t, 1.0]), jnp.cos(phase), jnp.sin(phase)])
        return lift + t * objective.trial.network(network, features[None])[0, 0]

    def r(p):
        return along(u, 0)(p) - gamma1 * along(along(u, 1), 1)(p) + gamma2 * (u(p) ** 3 - u(p))

    return jax.vmap(r)(where)


def plain_loss(*given, **parameters):
    return jnp.mean(plain_residuals(*given, **parameters) ** 2)


def test_the_loss_is_the_mean_of_squared_residuals_which_are_given_point_by_point():
    objective, theta = make(ALLEN_CAHN, chunk=10)
    where = points(ALLEN_CAHN, 25)
    ours = measure(objective, theta, objective.data(where))
    plain = jax.jit(lambda p: plain_residuals(p, objective, jnp.asarray(where)))(theta)
    np.testing.assert_allclose(ours.loss, jnp.mean(plain**2), rtol=1e-10)
    np.testing.assert_allclose(ours.terms[RESIDUAL], ours.loss, rtol=1e-13)
    np.testing.assert_allclose(ours.squares[RESIDUAL], plain**2, rtol=1e-9, atol=1e-12)


def test_the_gradient_is_that_of_the_plain_loss():
    objective, theta = make(ALLEN_CAHN, chunk=10)
    where = points(ALLEN_CAHN, 25)
    ours = measure(objective, theta, objective.data(where)).gradient
    plain = jax.jit(jax.grad(lambda p: plain_loss(p, objective, jnp.asarray(where))))(theta)
    np.testing.assert_allclose(ours, plain, rtol=1e-9, atol=1e-10 * float(jnp.abs(plain).max()))


def test_the_gradient_agrees_with_finite_differences():
    objective, theta = make(ALLEN_CAHN, chunk=10)
    data = objective.data(points(ALLEN_CAHN, 25))
    gradient = measure(objective, theta, data).gradient
    for seed in range(4):
        direction = jax.random.normal(jax.random.key(seed), theta.shape)
        direction = direction / jnp.linalg.norm(direction)
        h = 1e-4
        steps = [measure(objective, theta + n * h * direction, data).loss for n in (-2, -1, 1, 2)]
        slope = (steps[0] - 8 * steps[1] + 8 * steps[2] - steps[3]) / (12 * h)
        np.testing.assert_allclose(gradient @ direction, slope, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("count", "chunk"), [(1, 3), (7, 3), (25, 10)])
def test_chunks_and_padding_change_neither_loss_nor_gradient(count, chunk):
    where = points(ALLEN_CAHN, count)
    whole, theta = make(ALLEN_CAHN)
    expected = measure(whole, theta, whole.data(where))
    objective, _ = make(ALLEN_CAHN, chunk=chunk)
    data = objective.data(where)
    share = data.blocks[RESIDUAL].share
    chunks = in_chunks(share, chunk)
    assert chunks.shape[1] <= chunk
    assert share.size <= chunks.size < share.size + chunks.shape[0]
    np.testing.assert_allclose(share, 1.0 / count, rtol=1e-14)
    got = measure(objective, theta, data)
    np.testing.assert_allclose(got.loss, expected.loss, rtol=1e-13)
    np.testing.assert_allclose(got.terms[RESIDUAL], expected.loss, rtol=1e-13)
    np.testing.assert_allclose(got.gradient, expected.gradient, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(got.squares[RESIDUAL], expected.squares[RESIDUAL], rtol=1e-11)
    squares = objective.residual_squares(theta, data.blocks[RESIDUAL], data.parameters)
    np.testing.assert_allclose(squares, expected.squares[RESIDUAL], rtol=1e-11)


def check_gradient(objective, theta, data, weights=None):
    """The gradient along a random direction is the difference quotient of the loss."""
    direction = jax.random.normal(jax.random.key(5), theta.shape) / 10
    steps = [measure(objective, theta + n * 1e-3 * direction, data, weights).loss for n in (-2, -1, 1, 2)]
    slope = (steps[0] - 8 * steps[1] + 8 * steps[2] - steps[3]) / 12e-3
    gradient = measure(objective, theta, data, weights).gradient
    np.testing.assert_allclose(gradient @ direction, slope, rtol=1e-7)


def test_weights_scale_the_squares_of_their_points_and_nothing_else():
    objective, theta = make(ALLEN_CAHN, chunk=10)
    data = objective.data(points(ALLEN_CAHN, 25))
    plain = measure(objective, theta, data)
    factors = jnp.linspace(0.0, 3.0, 25)
    weighted = measure(objective, theta, data, {RESIDUAL: factors})
    np.testing.assert_allclose(weighted.loss, jnp.mean(factors * plain.squares[RESIDUAL]), rtol=1e-12)
    np.testing.assert_allclose(weighted.terms[RESIDUAL], plain.loss, rtol=1e-12)
    np.testing.assert_allclose(weighted.squares[RESIDUAL], plain.squares[RESIDUAL], rtol=1e-12)
    check_gradient(objective, theta, data, {RESIDUAL: factors})


def test_the_terms_of_a_loss_add_up_with_their_weights():
    parts = {"lift": hc.NoLift(), "gate": hc.NoGate(), "embedding": hc.Plain(), "network": hc.MLP(4, 1)}
    trial = Trial(ALLEN_CAHN, **parts)
    chosen = (hc.InitialPenalty(points=12, weight=100.0), hc.PeriodicPenalty(points=9, weight=0.5))
    penalties = [term for penalty in chosen for term in penalty.terms(ALLEN_CAHN)]
    template = trial.init(jax.random.key(0))
    objective = Objective(trial, template, chunk=10, penalties=penalties)
    theta = 0.5 * jax.random.normal(jax.random.key(1), (objective.size,))
    data = objective.data(points(ALLEN_CAHN, 25))
    got = measure(objective, theta, data)
    assert list(objective.terms) == ["residual", "initial", "periodic"]
    assert {name: len(s) for name, s in got.squares.items()} == {"residual": 25, "initial": 12, "periodic": 9}
    for name, squares in got.squares.items():
        np.testing.assert_allclose(got.terms[name], jnp.mean(squares), rtol=1e-13)
    whole = got.terms["residual"] + 100.0 * got.terms["initial"] + 0.5 * got.terms["periodic"]
    np.testing.assert_allclose(got.loss, whole, rtol=1e-13)
    check_gradient(objective, theta, data)
    factors = {"initial": jnp.linspace(0.0, 2.0, 12)}
    weighted = measure(objective, theta, data, factors)
    change = 100.0 * (jnp.mean(factors["initial"] * got.squares["initial"]) - got.terms["initial"])
    np.testing.assert_allclose(weighted.loss - got.loss, change, rtol=1e-9)


def test_times_of_a_term_count_from_the_start_to_the_horizon():
    problem = declare(start=0.5, horizon=2.5)
    objective, _ = make(problem)
    where = points(problem, 25)
    when = objective.data(where).when(RESIDUAL)
    np.testing.assert_allclose(when, (where[:, 0] - 0.5) / 2.0, rtol=1e-14)
    assert 0 <= float(when.min()) <= float(when.max()) <= 1


def exact_residual(problem, lift, count=25):
    """The residual of a lift that is a known function, with a network that is zero."""
    objective, theta = make(problem, lift=hc.CustomLift(lift))
    where = points(problem, count)
    trial, network = objective.trial, objective.unravel(0 * theta)
    got = jax.jit(lambda p: residual(trial, network, trial.fix(p), problem.parameters))(where)
    return np.asarray(got), where


def test_a_system_is_solved_by_its_manufactured_solution_and_misses_by_what_is_added():
    def u(t, x):
        return jnp.cos(jnp.pi * x) * jnp.exp(-t)

    def v(t, x):
        return 2 + t * jnp.sin(jnp.pi * x)

    def rhs(u, v, t, x, a, b):
        # What is left of uₜ − (a v uₓ + uₓₓ) and vₜ − (u v)ₓ for the two functions above.
        cosine, sine, decay = np.cos(np.pi * x), np.sin(np.pi * x), np.exp(-t)
        first = -cosine * decay + a * (2 + t * sine) * np.pi * sine * decay + np.pi**2 * cosine * decay
        second = sine + np.pi * decay * (sine * (2 + t * sine) - t * cosine**2)
        return a * v * u.x + u.xx + first + b * x, (u * v).x + second - b * t**2

    problem = declare(
        rhs=rhs,
        initial=lambda x: (jnp.cos(jnp.pi * x), 2.0 + 0 * x),
        parameters={"a": 0.7, "b": 0.0},
    )
    got, _ = exact_residual(problem, lambda t, x: (u(t, x), v(t, x)))
    np.testing.assert_allclose(got, 0.0, atol=1e-13)
    got, where = exact_residual(problem.with_parameters(b=1.5), lambda t, x: (u(t, x), v(t, x)))
    np.testing.assert_allclose(got[:, 0], -1.5 * where[:, 1], atol=1e-13)
    np.testing.assert_allclose(got[:, 1], 1.5 * where[:, 0] ** 2, atol=1e-13)


def test_a_complex_field_is_solved_by_its_plane_wave_and_misses_by_what_is_added():
    # i uₜ = −uₓₓ/2 − |u|² u has the plane wave A e^{i(kx − ωt)} with ω = k²/2 − A².
    k, amplitude = jnp.pi, 0.8
    omega = k**2 / 2 - amplitude**2

    def wave(t, x):
        return amplitude * jnp.exp(1j * (k * x - omega * t))

    def problem(added):
        return declare(
            rhs=lambda u: 0.5j * u.xx + 1j * abs(u) ** 2 * u + added,
            initial=lambda x: amplitude * jnp.exp(1j * jnp.pi * x),
        )

    got, _ = exact_residual(problem(0.0), wave)
    assert got.shape == (25, 2)
    np.testing.assert_allclose(got, 0.0, atol=1e-13)
    got, _ = exact_residual(problem(0.25 - 0.5j), wave)
    np.testing.assert_allclose(got, np.broadcast_to([-0.25, 0.5], (25, 2)), atol=1e-13)


def test_the_named_parameters_of_the_data_are_those_of_the_equation():
    objective, theta = make(ALLEN_CAHN)
    changed = ALLEN_CAHN.with_parameters(gamma2=2.0)
    other = Trial(
        changed, lift=hc.Decay(1.3), gate=hc.LinearGate(), embedding=hc.Fourier(2), network=hc.MLP(8, 2)
    )
    where = points(ALLEN_CAHN, 25)
    ours = measure(objective, theta, objective.data(where, other)).loss
    plain = jax.jit(lambda p: plain_loss(p, objective, jnp.asarray(where), gamma2=2.0))(theta)
    np.testing.assert_allclose(ours, plain, rtol=1e-10)


def test_stacking_shares_what_is_equal_and_maps_over_what_differs():
    objective, theta = make(ALLEN_CAHN, chunk=10)
    one = objective.data(points(ALLEN_CAHN, 25, seed=0))
    two = objective.data(points(ALLEN_CAHN, 25, seed=1))
    data, axes = stack([one, two])
    block, along_runs = data.blocks[RESIDUAL], axes.blocks[RESIDUAL]
    assert (along_runs.share, axes.parameters) == (None, {"gamma1": None, "gamma2": None})
    assert block.share.shape == one.blocks[RESIDUAL].share.shape
    assert along_runs.fixed[0].coordinates == 0
    assert block.fixed[0].coordinates.shape == (2, *one.blocks[RESIDUAL].fixed[0].coordinates.shape)
    together = jax.jit(jax.vmap(objective.measure, in_axes=(None, axes)))(theta, data)
    for number, each in enumerate((one, two)):
        alone = measure(objective, theta, each)
        np.testing.assert_allclose(together.loss[number], alone.loss, rtol=1e-13)
        np.testing.assert_allclose(together.gradient[number], alone.gradient, rtol=1e-11, atol=1e-12)


def test_stacking_fills_in_derivatives_of_the_lift_that_only_some_runs_have():
    """Data that do not change along x have a lift without derivatives along it."""
    flat = declare(
        rhs=lambda u, a: 1e-2 * u.xx + u,
        initial=lambda x, a: 1 + a * jnp.cos(jnp.pi * x),
        parameters={"a": 0.0},
    )
    small = {"network": hc.MLP(4, 1)}
    objective, theta = make(flat, **small)
    trials = [objective.trial, make(flat.with_parameters(a=0.5), **small)[0].trial]
    where = points(flat, 25)
    each = [objective.data(where, trial) for trial in trials]
    assert len(each[0].blocks[RESIDUAL].fixed[0].lift) < len(each[1].blocks[RESIDUAL].fixed[0].lift)
    data, axes = stack(each)
    together = jax.jit(jax.vmap(objective.measure, in_axes=(None, axes)))(theta, data).loss
    alone = [measure(objective, theta, own).loss for own in each]
    np.testing.assert_allclose(together, alone, rtol=1e-13)


def test_stacking_alike_or_single_runs_maps_over_nothing():
    objective, _ = make(ALLEN_CAHN, chunk=10)
    one = objective.data(points(ALLEN_CAHN, 25))
    for trees in ([one], [one, one, one]):
        data, axes = stack(trees)
        assert jax.tree.leaves(axes) == []
        for a, b in zip(jax.tree.leaves(data), jax.tree.leaves(one), strict=True):
            np.testing.assert_array_equal(a, b)


def test_chunks_shrink_with_what_a_point_costs_and_stay_within_reason():
    def size(**changes):
        settings = {"width": 32, "indices": 5, "itemsize": 8, "runs": 1, "platform": "cpu"}
        return chunk_size(**{**settings, **changes})

    assert size() >= size(width=64) >= size(width=64, indices=20) >= size(width=64, indices=20, runs=100)
    assert size(platform="gpu") > size()
    for extreme in (size(width=1, indices=1, itemsize=4, platform="gpu"), size(width=4096, runs=1000)):
        assert 256 <= extreme <= 1 << 20
