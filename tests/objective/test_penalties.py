"""Penalties are mean squared mismatches of the conditions they stand for."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare, declare_dirichlet
from hcpinn.errors import MethodError
from hcpinn.trial import Trial

FREE = {"lift": hc.NoLift(), "gate": hc.NoGate(), "embedding": hc.Plain()}


@functools.cache
def free(problem, network=hc.MLP(6, 1)):
    """A trial that leaves everything open, and random parameters for it."""
    trial = Trial(problem, **FREE, network=network)
    parameters = trial.init(jax.random.key(0))
    keys = iter(jax.random.split(jax.random.key(1), 10))
    return trial, jax.tree.map(lambda a: jax.random.normal(next(keys), a.shape), parameters)


def measure(problem, penalty, *, seed=0, **own):
    """For each term of a penalty: its mean square, its points' squares, and its places (t, x, …)."""
    trial, network = free(problem, **own)
    found = {}
    for term in penalty.terms(problem):
        block = term.block(trial, seed)
        mismatch = jax.jit(lambda b, term=term: term.mismatch(trial, network, b, {}))(block)
        squares = np.sum(np.asarray(mismatch) ** 2, axis=1)
        places = [np.asarray(f.coordinates) for f in block.fixed]
        found[term.name] = (float(np.sum(block.share * squares)), squares, places)
    return found


@functools.cache
def compiled_derivative(problem, axis, times):
    trial, network = free(problem)
    function = lambda p: trial(network, p[None])[0]
    for _ in range(times):
        function = lambda p, f=function: jax.jvp(f, (p,), (jnp.zeros_like(p).at[axis].set(1.0),))[1]
    return jax.jit(jax.vmap(function))


def derivative(problem, place, axis, times):
    """∂ⁿu along an axis at places (t, x, …), by nested forward mode on the trial itself."""
    return np.asarray(compiled_derivative(problem, axis, times)(jnp.asarray(place)))


LINE = declare()
WAVE = declare(rhs=lambda u: 1j * u.xx, initial=lambda x: jnp.exp(1j * jnp.pi * x), start=0.5, horizon=2.0)
PLANE = declare(
    domain=hc.Box((0, 1), (-1, 1)),
    rhs=lambda u, v: (u.laplacian - v, v.laplacian + u),
    initial=lambda x, y: (jnp.cos(2 * jnp.pi * x), jnp.sin(jnp.pi * y) + 2),
)


def known_start(problem, space):
    """The initial data of the three problems above, as real components."""
    if problem is LINE:
        return np.cos(np.pi * space[:, :1])
    if problem is WAVE:
        return np.concatenate([np.cos(np.pi * space), np.sin(np.pi * space)], axis=1)
    return np.column_stack([np.cos(2 * np.pi * space[:, 0]), np.sin(np.pi * space[:, 1]) + 2])


@pytest.mark.parametrize("problem", [LINE, WAVE, PLANE], ids=["line", "complex", "plane system"])
def test_the_initial_penalty_is_the_mean_squared_error_at_the_start(problem):
    mean, squares, (place,) = measure(problem, hc.InitialPenalty(points=20))["initial"]
    assert place.shape == (20, len(problem.axes))
    np.testing.assert_array_equal(place[:, 0], problem.start)
    for axis, (low, high) in enumerate(problem.domain.bounds):
        strata = np.floor((place[:, axis + 1] - low) / (high - low) * 20)
        assert sorted(strata) == list(range(20))
    trial, network = free(problem)
    wrong = np.asarray(trial(network, jnp.asarray(place))) - known_start(problem, place[:, 1:])
    np.testing.assert_allclose(squares, np.sum(wrong**2, axis=1), rtol=1e-12)
    np.testing.assert_allclose(mean, np.mean(squares), rtol=1e-13)


@pytest.mark.parametrize("problem", [LINE, WAVE, PLANE], ids=["line", "complex", "plane system"])
def test_the_periodic_penalty_is_the_mean_squared_gap_of_values_and_derivatives(problem):
    orders = [measure(problem, hc.PeriodicPenalty(points=9, order=order)) for order in (0, 1, 2)]
    names = ["periodic"] if len(problem.space) == 1 else ["periodic x", "periodic y"]
    for axis, name in enumerate(names, start=1):
        low, high = orders[0][name][2]
        np.testing.assert_array_equal(low[:, axis], problem.domain.lower[axis - 1])
        np.testing.assert_array_equal(high[:, axis], problem.domain.upper[axis - 1])
        np.testing.assert_array_equal(np.delete(low, axis, 1), np.delete(high, axis, 1))
        assert low[:, 0].min() > problem.start
        assert low[:, 0].max() < problem.horizon
        total = 0
        for order, found in enumerate(orders):
            mean, squares, _ = found[name]
            gap = derivative(problem, low, axis, order) - derivative(problem, high, axis, order)
            total = total + np.sum(gap**2, axis=1)
            np.testing.assert_allclose(squares, total, rtol=1e-10)
            np.testing.assert_allclose(mean, np.mean(total), rtol=1e-10)
    assert all(list(found) == names for found in orders)


LOWER, UPPER = lambda t: 0.3 * t - 1, lambda t: np.cos(t) - 2
CONDITIONS = {
    "dirichlet": (hc.Dirichlet(LOWER, UPPER), 1.0, 0.0),
    "neumann": (hc.Neumann(LOWER, UPPER), 0.0, 1.0),
    "robin": (hc.Robin(LOWER, UPPER, value=-0.5, slope=2.0), -0.5, 2.0),
}


@pytest.mark.parametrize("kind", CONDITIONS)
def test_the_boundary_penalty_is_the_mean_squared_mismatch_over_both_ends(kind):
    condition, value, slope = CONDITIONS[kind]
    problem = declare(boundary=condition)
    mean, squares, (low, high) = measure(problem, hc.BoundaryPenalty(points=14))["boundary"]
    assert low.shape == high.shape == (7, 2)
    np.testing.assert_array_equal(low[:, 1], -1.0)
    np.testing.assert_array_equal(high[:, 1], 1.0)
    u, slopes = ([derivative(problem, place, 1, k) for place in (low, high)] for k in (0, 1))
    below = value * u[0] - slope * slopes[0] - LOWER(low[:, :1])
    above = value * u[1] + slope * slopes[1] - UPPER(high[:, :1])
    np.testing.assert_allclose(squares, (below**2 + above**2)[:, 0] / 2, rtol=1e-11)
    np.testing.assert_allclose(mean, np.mean(np.concatenate([below, above]) ** 2), rtol=1e-12)


def test_half_of_an_odd_number_of_boundary_points_is_rounded_up():
    trial, _ = free(declare_dirichlet())
    for points, each in ((1, 1), (2, 1), (9, 5)):
        (term,) = hc.BoundaryPenalty(points=points).terms(trial.problem)
        assert [len(end.coordinates) for end in term.block(trial, 0).fixed] == [each, each]


def test_boundary_data_of_a_system_and_along_the_faces_of_a_box():
    problem = declare(
        domain=hc.Box((0, 1), (-1, 1)),
        rhs=lambda u, v: (u.laplacian - v, v.laplacian + u),
        initial=lambda x, y: (jnp.cos(2 * jnp.pi * x), 2.0 + y),
        boundary={
            "x": hc.Periodic(),
            "y": hc.Robin((lambda t, x: t * x, 3.0), (lambda x: x**2, lambda t: -t), value=2.0, slope=0.5),
        },
    )
    penalty = hc.BoundaryPenalty(points=10)
    ((name, (mean, squares, (low, high))),) = measure(problem, penalty).items()
    assert name == "boundary y"
    t, x = low[:, 0], low[:, 1]
    data = (np.column_stack([t * x, 3.0 + 0 * t]), np.column_stack([x**2, -t]))
    total = 0
    for place, outward, g in zip((low, high), (-1, 1), data, strict=True):
        wrong = 2.0 * derivative(problem, place, 2, 0) + 0.5 * outward * derivative(problem, place, 2, 1) - g
        total = total + np.sum(wrong**2, axis=1) / 2
    np.testing.assert_allclose(squares, total, rtol=1e-11)
    np.testing.assert_allclose(mean, np.mean(total), rtol=1e-12)


def known(function):
    """A network that is a known function of the features: on this domain t and x themselves."""
    return hc.CustomNetwork(
        lambda key, inputs, outputs: {"unused": jnp.zeros(1)}, lambda p, f: function(*f.T)[:, None]
    )


@pytest.mark.parametrize(
    "condition",
    [
        # u = x² + t x has the outward slopes −uₓ = 2 − t at x = −1 and uₓ = 2 + t at x = 1.
        hc.Dirichlet(lambda t: 1 - t, lambda t: 1 + t),
        hc.Neumann(lambda t: 2 - t, lambda t: 2 + t),
        hc.Robin(lambda t: 3 * (1 - t) + 4 * (2 - t), lambda t: 3 * (1 + t) + 4 * (2 + t), value=3, slope=4),
    ],
)
def test_a_function_that_meets_the_boundary_data_has_no_penalty(condition):
    problem = declare(boundary=condition, initial=lambda x: x**2)
    network = known(lambda t, x: x**2 + t * x)
    mean, _, _ = measure(problem, hc.BoundaryPenalty(points=12), network=network)["boundary"]
    assert mean < 1e-28
    mean, _, _ = measure(problem, hc.InitialPenalty(points=12), network=network)["initial"]
    assert mean < 1e-28
    shifted = known(lambda t, x: x**2 + t * x + 0.1 * (1 + x))  # a little off, in value and slope, above
    mean, _, _ = measure(problem, hc.BoundaryPenalty(points=12), network=shifted)["boundary"]
    value, slope = (*condition.coefficients, 0.0)[:2]
    below, above = -0.1 * slope, 0.2 * value + 0.1 * slope
    np.testing.assert_allclose(mean, (below**2 + above**2) / 2, rtol=1e-9)


def test_a_periodic_function_has_no_periodic_penalty_up_to_the_order_it_repeats():
    network = known(lambda t, x: (1 - x**2) ** 2 * jnp.exp(t * x))  # vanishes twice at both ends
    for order, size in ((0, 0.0), (1, 0.0), (2, 1.0)):
        mean, _, _ = measure(LINE, hc.PeriodicPenalty(points=9, order=order), network=network)["periodic"]
        assert (mean > 1.0) if size else (mean < 1e-28)


@pytest.mark.parametrize("problem", [LINE, WAVE, PLANE], ids=["line", "complex", "plane system"])
def test_the_data_penalty_is_the_mean_squared_error_of_observations(problem):
    rng = np.random.default_rng(0)
    low, high = (
        np.array([problem.start, *problem.domain.lower]),
        np.array([problem.horizon, *problem.domain.upper]),
    )
    place = low + rng.random((6, len(low))) * (high - low)
    observed = rng.normal(size=(6, len(problem.components)))
    rows = tuple(map(tuple, np.column_stack([place, observed])))
    mean, squares, (used,) = measure(problem, hc.DataPenalty(rows))["data"]
    np.testing.assert_allclose(used, place, rtol=1e-15)
    trial, network = free(problem)
    wrong = np.asarray(trial(network, jnp.asarray(place))) - observed
    np.testing.assert_allclose(squares, np.sum(wrong**2, axis=1), rtol=1e-12)
    np.testing.assert_allclose(mean, np.mean(squares), rtol=1e-13)


def test_a_time_window_counts_only_the_observations_within_it():
    rows = ((0.1, 0.0, 1.0), (0.6, 0.2, 2.0), (0.9, 0.4, 3.0))
    window = lambda a, b: LINE.restarted(a, b, LINE.initial_values)
    for (a, b), times in (((0.0, 0.5), [0.1]), ((0.5, 1.0), [0.6, 0.9])):
        _, squares, (place,) = measure(window(a, b), hc.DataPenalty(rows))["data"]
        np.testing.assert_array_equal(place[:, 0], times)
        assert len(squares) == len(times)
    mean, _, _ = measure(window(0.2, 0.5), hc.DataPenalty(rows))["data"]
    assert mean == 0.0


def test_seeds_move_the_points_and_terms_do_not_share_them():
    penalty = hc.InitialPenalty(points=8)
    one, same, other = (measure(LINE, penalty, seed=s)["initial"][2][0] for s in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert not np.isin(one[:, 1], other[:, 1]).any()
    ends = measure(PLANE, hc.PeriodicPenalty(points=8))
    assert not np.isin(ends["periodic x"][2][0][:, 0], ends["periodic y"][2][0][:, 0]).any()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((), "at least one row of finite numbers"),
        (((0.1, 0.2, 0.3), (0.1, 0.2)), r"rows of numbers: \(t, x, …, values\)"),
        (((0.1, 0.2, float("nan")),), "with NaN or infinite numbers"),
    ],
)
def test_observations_are_rows_of_finite_numbers(rows, message):
    with pytest.raises(MethodError, match=message):
        hc.DataPenalty(rows)


def test_observations_have_a_value_for_every_component():
    for problem, count in ((LINE, 3), (WAVE, 4), (PLANE, 5)):
        hc.DataPenalty(((0.5,) * count,)).terms(problem)
        for wrong in (count - 1, count + 1):
            with pytest.raises(
                MethodError, match=rf"a row of {count} numbers \(.*\), but {wrong} were given"
            ):
                hc.DataPenalty(((0.5,) * wrong,)).terms(problem)
    with pytest.raises(MethodError, match=r"\(t, x, real\(u\), imag\(u\)\)"):
        hc.DataPenalty(((0.5, 0.0, 1.0),)).terms(WAVE)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: hc.InitialPenalty(points=0),
            "InitialPenalty: points must be a whole number of at least 1, but is 0",
        ),
        (lambda: hc.InitialPenalty(weight=0.0), "InitialPenalty: weight must be positive, but is 0.0"),
        (lambda: hc.BoundaryPenalty(weight=-1.0), "BoundaryPenalty: weight must be positive"),
        (lambda: hc.PeriodicPenalty(weight=float("inf")), "PeriodicPenalty: weight must be positive"),
        (lambda: hc.PeriodicPenalty(order=7), "order must be a whole number from 0 to 6, but is 7"),
        (
            lambda: hc.DataPenalty(((0.0, 0.0, 0.0),), weight=float("nan")),
            "DataPenalty: weight must be positive",
        ),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, message):
    with pytest.raises(MethodError, match=message):
        make()
