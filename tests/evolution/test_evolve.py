"""The engine as a whole: data held exactly, errors that follow the accuracy, estimates that can be trusted."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare, declare_dirichlet
from hcpinn.evolution import Evolution, Function, applies, evolve
from hcpinn.evolution.basis import Bases, orthonormal, quadrature
from hcpinn.evolution.engine import Engine
from hcpinn.evolution.estimate import Solved, unseen
from hcpinn.evolution.features import sample
from hcpinn.evolution.lift import Carrier
from hcpinn.evolution.limits import Limits
from hcpinn.evolution.outcome import Halted
from hcpinn.evolution.pointwise import Pointwise
from hcpinn.evolution.projection import Projection
from hcpinn.evolution.radau import Track, integrate
from hcpinn.evolution.walls import wall_of
from hcpinn.outcome import Stop
from hcpinn.problem import apply


@functools.cache
def evolved_once(accuracy=1e-4):
    """A periodic solution that several tests look at."""
    return evolve(declare(), accuracy=accuracy)


def heated(exact, boundary, domain=hc.Interval(0, 2), start=0.0):
    """uₜ = 0.3 uₓₓ − u³ + s with the source s that makes `exact` its solution."""

    def slope(f, position):
        return lambda t, x: jax.jvp(
            lambda a: f(*((a, x), (t, a))[position]), ((t, x)[position],), (jnp.ones_like(t),)
        )[1]

    source = lambda t, x: slope(exact, 0)(t, x) - 0.3 * slope(slope(exact, 1), 1)(t, x) + exact(t, x) ** 3
    return hc.Problem(
        domain=domain,
        start=start,
        horizon=start + 1.0,
        boundary=boundary,
        rhs=lambda u, t, x: 0.3 * u.xx - u**3 + apply(source, t, x),
        initial=lambda x: exact(start + 0 * x, x),
    )


def smooth(t, x):
    return jnp.sin(2 * x - t) + 0.3 * x * jnp.cos(3 * t)


def error(evolved, exact):
    """The relative L2 error on a grid of its own."""
    problem = evolved.problem
    t = np.linspace(problem.start, problem.horizon, 41)
    axes = [np.linspace(a, b, 101 if len(problem.space) == 1 else 31) for a, b in problem.domain.bounds]
    true = exact(*(jnp.asarray(m) for m in np.meshgrid(t, *axes, indexing="ij")))
    true = np.moveaxis(np.asarray(problem.to_components(true if isinstance(true, tuple) else (true,))), -1, 0)
    return max(
        np.linalg.norm(u - v) / np.linalg.norm(v)
        for u, v in zip(evolved.function.on_grid(t, *axes), true, strict=True)
    )


def edge(t, at):
    return smooth(t, at + 0 * t)


def outward(t, at, sign):
    return sign * jax.jvp(lambda x: smooth(t, x), (at + 0 * t,), (jnp.ones_like(t),))[1]


KINDS = {
    "Dirichlet": hc.Dirichlet(lambda t: edge(t, 0.0), lambda t: edge(t, 2.0)),
    "Neumann": hc.Neumann(lambda t: outward(t, 0.0, -1), lambda t: outward(t, 2.0, 1)),
    "Robin": hc.Robin(
        lambda t: 2 * edge(t, 0.0) + outward(t, 0.0, -1),
        lambda t: 2 * edge(t, 2.0) + outward(t, 2.0, 1),
        value=2.0,
        slope=1.0,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_boundary_condition_is_met_to_the_accuracy_asked_for(kind):
    evolved = evolve(heated(smooth, KINDS[kind], start=0.5), accuracy=1e-5)
    assert evolved.stop is Stop.ESTIMATE
    true = error(evolved, smooth)
    assert true <= 1e-5
    assert true <= 3 * evolved.estimated_error


def test_initial_and_dirichlet_data_hold_to_rounding():
    problem = declare_dirichlet()
    evolved = evolve(problem, accuracy=1e-2)
    t, x = jnp.linspace(0, 1, 23), jnp.linspace(-1, 1, 23)
    at_start = evolved.derivative(jnp.stack([0 * x, x], 1), (0, 0))[:, 0]
    assert np.abs(at_start - problem.initial_values([x])[0]).max() < 1e-12
    for end, side in zip((-1.0, 1.0), problem.sides, strict=True):
        ((wanted,),) = problem.boundary_values(side, t)
        found = evolved.derivative(jnp.stack([t, end + 0 * t], 1), (0, 0))[:, 0]
        assert np.abs(found - wanted).max() < 1e-12


def test_a_periodic_solution_and_its_slopes_repeat():
    evolved = evolved_once()
    t = jnp.linspace(0, 1, 9)
    for order in range(4):
        low, high = (evolved.derivative(jnp.stack([t, end + 0 * t], 1), (0, order)) for end in (-1.0, 1.0))
        assert np.abs(low - high).max() < 1e-8 * 10**order


def test_the_error_follows_the_accuracy():
    problem = heated(smooth, KINDS["Dirichlet"])
    errors = [error(evolve(problem, accuracy=accuracy), smooth) for accuracy in (1e-2, 1e-9)]
    assert errors[0] <= 1e-2
    assert errors[1] <= 1e-9


def test_derivatives_are_those_of_the_function():
    evolved = evolved_once()
    points = jnp.asarray(np.random.default_rng(0).uniform([0.1, -0.9], [0.9, 0.9], (40, 2)))
    value = lambda t, x: evolved.derivative(jnp.stack([t, x])[None], (0, 0))[0, 0]
    for index, nested in {
        (0, 1): jax.grad(value, 1),
        (1, 0): jax.grad(value, 0),
        (0, 2): jax.grad(jax.grad(value, 1), 1),
        (1, 1): jax.grad(jax.grad(value, 0), 1),
    }.items():
        expected = jax.jit(jax.vmap(nested))(*points.T)
        assert np.allclose(evolved.derivative(points, index)[:, 0], expected, rtol=1e-6, atol=1e-6)


def test_the_residual_is_as_small_as_the_error():
    problem = declare()
    evolved = evolve(problem, accuracy=1e-6)
    points = jnp.asarray(np.random.default_rng(0).uniform([0.05, -1], [1, 1], (200, 2)))
    jet = {i: evolved.derivative(points, i)[:, 0] for i in ((0, 0), (1, 0), (0, 2))}
    (rate,) = problem.evaluate_rhs(lambda _, index: jet[index], list(points.T))
    assert np.abs(jet[1, 0] - rate).max() < 1e-3 * np.abs(rate).max()


def test_the_grid_agrees_with_single_points():
    evolved = evolved_once()
    t, x = np.array([0.0, 0.31, 1.0]), np.array([-1.0, 0.2, 0.77])
    mesh = np.stack([m.ravel() for m in np.meshgrid(t, x, indexing="ij")], 1)
    for index in ((0, 0), (1, 1)):
        grid = evolved.function.on_grid(t, x, index=index)[0].ravel()
        assert np.allclose(grid, evolved.derivative(jnp.asarray(mesh), index)[:, 0], rtol=1e-8, atol=1e-8)


def test_arrays_bring_the_same_function_back():
    problem = declare_dirichlet()
    evolved = evolve(problem, accuracy=1e-3)
    again = Function.from_arrays(problem, evolved.function.to_arrays())
    points = jnp.asarray(np.random.default_rng(0).uniform([0, -1], [1, 1], (50, 2)))
    assert np.array_equal(again.derivative(points, (0, 1)), evolved.derivative(points, (0, 1)))


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others():
    first, same, other = (evolve(declare(), accuracy=1e-3, seed=seed).function.powers for seed in (3, 3, 4))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_a_complex_wave_is_followed():
    wave = lambda t, x: 0.7 * jnp.exp(1j * (2 * x - (4 - 0.49) * t))
    problem = hc.Problem(
        domain=hc.Interval(0, 2 * np.pi),
        horizon=1.0,
        rhs=lambda u: 1j * u.xx + 1j * abs(u) ** 2 * u,
        initial=lambda x: wave(0.0, x),
    )
    assert error(evolve(problem, accuracy=1e-6), wave) <= 1e-6


def test_a_box_with_two_kinds_of_boundary():
    exact = lambda t, x, y: jnp.exp(-1.25 * 0.1 * t * np.pi**2) * jnp.sin(np.pi * x) * jnp.cos(np.pi * y / 2)
    problem = hc.Problem(
        domain=hc.Box((0, 1), (0, 2)),
        horizon=1.0,
        boundary={"x": hc.Dirichlet(0.0), "y": hc.Neumann(0.0)},
        rhs=lambda u: 0.1 * u.laplacian,
        initial=lambda x, y: exact(0.0, x, y),
    )
    evolved = evolve(problem, accuracy=1e-5)
    true = error(evolved, exact)
    assert true <= 1e-5
    assert true <= 3 * evolved.estimated_error


def test_the_response_to_a_force_on_a_box_is_that_of_the_whole_equation():
    """Although Newton's method leaves out first derivatives there."""
    problem = hc.Problem(
        domain=hc.Box((0, 1), (0, 1)),
        horizon=0.5,
        boundary={"x": hc.Periodic(), "y": hc.Dirichlet(0.0)},
        rhs=lambda u: 0.02 * u.laplacian - 3 * u.x + (1 - u) * u,
        initial=lambda x, y: jnp.sin(jnp.pi * y) * (1 + jnp.cos(2 * jnp.pi * x)),
    )
    engine = Engine(problem, 1e-4, 0, Limits(), None, Evolution(), lambda so_far: None)
    engine.prepare(Carrier(problem, 1e-4), Pointwise(problem))
    projection = engine.project(12, [None, None], 0)
    state = 0.1 * np.random.default_rng(0).standard_normal(projection.unknowns)
    force = np.random.default_rng(1).standard_normal(projection.unknowns)
    at = np.array([0.1])
    found = projection.response(0.1, state, force)
    ahead, behind = (projection.rates(at, (state + k * found)[:, None])[:, 0] for k in (1e-5, -1e-5))
    left = found / 0.5 - (ahead - behind) / 2e-5 - force
    rough = np.real(projection.linearised(0.1, state)(2.0)(force))
    assert np.linalg.norm(left) < 0.5 * np.linalg.norm(force)
    assert np.linalg.norm(found) < 0.7 * np.linalg.norm(rough)


def test_fields_with_different_conditions_at_the_same_walls():
    """u = e⁻ᵗ sin x cos y is zero where v = e⁻ᵗ cos x cos y has no slope, and the other way round."""
    wide = hc.Box((0, np.pi), (0, np.pi / 2))
    problem = hc.Problem(
        domain=wide,
        horizon=0.5,
        boundary={
            "u": {"x": hc.Dirichlet(0.0), "y": (hc.Neumann(0.0), hc.Dirichlet(0.0))},
            "v": {"x": hc.Neumann(0.0), "y": (hc.Neumann(0.0), hc.Dirichlet(0.0))},
        },
        rhs=lambda u, v: (u.laplacian + u + v.laplacian / 4 + v / 2, v.laplacian + u.x.x + v + u),
        initial=(lambda x, y: jnp.sin(x) * jnp.cos(y), lambda x, y: jnp.cos(x) * jnp.cos(y)),
    )
    exact = lambda t, x, y: (jnp.exp(-t) * jnp.sin(x) * jnp.cos(y), jnp.exp(-t) * jnp.cos(x) * jnp.cos(y))
    found = evolve(problem, accuracy=1e-5)
    assert found.stop is Stop.ESTIMATE
    assert error(found, exact) <= 3e-5
    edge = np.array([0.0, np.pi])
    y = np.linspace(0.1, 1.4, 7)
    u, _ = found.function.on_grid(np.linspace(0, 0.5, 5), edge, y)
    _, slope = found.function.on_grid(np.linspace(0, 0.5, 5), edge, y, index=(0, 1, 0))
    assert max(np.abs(u).max(), np.abs(slope).max()) < 1e-12
    again = Function.from_arrays(problem, found.function.to_arrays())
    points = jnp.asarray(np.random.default_rng(0).uniform(0.1, 0.4, (5, 3)))
    assert np.array_equal(again(points), found.function(points))
    assert np.allclose(found.function(points), jnp.stack(exact(*points.T), 1), atol=1e-5)


def test_a_source_that_is_on_for_a_moment_is_found():
    decay = 0.2
    since = lambda t, a: jnp.where(t > a, -jnp.expm1(-decay * jnp.maximum(t - a, 0)) / decay, 0.0)
    exact = lambda t, x: jnp.sin(x) * (jnp.exp(-decay * t) + 50 * (since(t, 0.4) - since(t, 0.403)))
    pulse = lambda t, x: jnp.where((t > 0.4) & (t <= 0.403), 50.0, 0.0) * jnp.sin(x)
    problem = hc.Problem(
        domain=hc.Interval(0, 2 * np.pi),
        horizon=1.0,
        rhs=lambda u, t, x: decay * u.xx + apply(pulse, t, x),
        initial=jnp.sin,
    )
    assert error(evolve(problem, accuracy=1e-6), exact) <= 1e-6


def test_shorter_steps_do_not_pile_up_before_a_source_is_switched_on():
    """Steps that may be a half of what is left to the next break would never come to it."""
    problem = hc.Problem(
        domain=hc.Interval(0, 2 * np.pi),
        horizon=1.0,
        rhs=lambda u, t, x: 0.1 * u.xx + np.where((t > 0.4) & (t < 0.6), 1.0, 0.0) * np.sin(x),
        initial=0.0,
    )
    engine = Engine(problem, 1e-4, 0, Limits(), None, Evolution(), lambda so_far: None)
    engine.prepare(Carrier(problem, 1e-4), Pointwise(problem))
    engine.sharpened = 4
    track = engine.advance(engine.project(40, [None], 0), 0).track
    late = np.diff(track.times)[np.asarray(track.times[1:]) > 0.95]
    assert late.min() > 1e-4


def test_a_moving_front_is_found_and_resolved():
    width = 0.01
    exact = lambda t, x: 0.5 - 0.5 * jnp.tanh((x - 0.5 * t) / (4 * width))
    problem = hc.Problem(
        domain=hc.Interval(-1, 1),
        horizon=1.0,
        boundary=hc.Dirichlet(lambda t: exact(t, -1.0), lambda t: exact(t, 1.0)),
        rhs=lambda u: width * u.xx - u * u.x,
        initial=lambda x: exact(0.0, x),
    )
    evolved = evolve(problem, accuracy=1e-5)
    true = error(evolved, exact)
    assert true <= 1e-5
    assert true <= 3 * evolved.estimated_error


def test_where_time_steps_make_the_error_they_get_shorter():
    """A small error grows by e¹⁴ here, so that what is small in each step is not small in the end."""
    exact = lambda t, x: jnp.sin(jnp.pi * x - 3 * t)
    source = lambda t, x: (
        exact(t, x) ** 2 - (8 - 0.1 * jnp.pi**2) * exact(t, x) - 3 * jnp.cos(jnp.pi * x - 3 * t)
    )
    problem = hc.Problem(
        domain=hc.Interval(-1, 1),
        horizon=2.0,
        rhs=lambda u, t, x: 0.1 * u.xx + 8 * u - u**2 + apply(source, t, x),
        initial=lambda x: exact(0.0, x),
    )
    evolved = evolve(problem, accuracy=1e-6)
    assert evolved.stop is Stop.ESTIMATE
    assert evolved.passes[1].estimate > 1e-6
    assert evolved.passes[-1].steps > 1.5 * evolved.passes[1].steps
    assert error(evolved, exact) <= 3 * evolved.estimated_error


def test_the_time_limit_is_kept_and_said():
    evolved = evolve(declare(), accuracy=1e-11, max_seconds=1e-3)
    assert evolved.stop is Stop.TIME
    assert evolved.function is None
    with pytest.raises(hc.HcpinnError, match="time budget"):
        evolved.derivative(jnp.zeros((1, 2)), (0, 0))


def test_a_solution_that_blows_up_ends_in_a_sentence():
    problem = declare(rhs=lambda u: u.xx + u**3, initial=lambda x: 3 + jnp.cos(jnp.pi * x))
    evolved = evolve(problem, accuracy=1e-3)
    assert evolved.stop is Stop.STUCK
    assert evolved.function is None


@pytest.mark.parametrize(("agreed", "stop"), [(2, Stop.STALLED), (1, Stop.STUCK)])
def test_a_pass_that_gets_stuck_after_two_that_agree_has_met_rounding(monkeypatch, agreed, stop):
    passes = []

    def rounded(system, *given, **settings):
        passes.append(system)
        if len(passes) > agreed:
            raise Halted(Stop.STUCK, 0.5)
        integrate(system, *given, **settings)

    monkeypatch.setattr("hcpinn.evolution.engine.integrate", rounded)
    evolved = evolve(declare(), accuracy=1e-12)
    assert evolved.stop is stop
    assert evolved.function is not None


def test_what_is_only_rounding_shapes_no_features():
    evolved = evolve(hc.find_problem("advection"), accuracy=1e-9)
    assert evolved.stop is Stop.ESTIMATE
    assert sum(p.steps for p in evolved.passes) < 50


def test_a_steep_wave_in_an_equation_without_damping_is_not_torn_up():
    exact = lambda t, x: jnp.exp(60 * (jnp.cos(2 * jnp.pi * (x - t)) - 1)) * (1 + 0.1 * t)
    problem = hc.Problem(
        domain=hc.Interval(0, 1),
        horizon=1.0,
        rhs=lambda u, t: -u.x + 0.1 * u / (1 + 0.1 * t),
        initial=lambda x: exact(0.0, x),
    )
    evolved = evolve(problem, accuracy=1e-5)
    true = error(evolved, exact)
    assert evolved.stop is Stop.ESTIMATE
    assert true <= 3 * evolved.estimated_error


def test_a_kink_that_waves_leave_is_counted_in_the_estimate_and_shrinks_with_the_accuracy():
    problem = hc.find_problem("allen-cahn-1")
    coarse, fine = Carrier(problem, 1e-3), Carrier(problem, 1e-9)
    assert 0 < coarse.leftover < 1e-6
    assert fine.leftover < 0.01 * coarse.leftover
    assert Carrier(declare(), 1e-9).leftover < 1e-12
    x = np.linspace(-1, 1, 33)
    (u,) = problem.initial_values([jnp.asarray(x)])
    for carrier in (coarse, fine):
        assert np.abs(carrier.on_grid(np.zeros(1), [x], (0, 0))[0, 0] - u).max() < 1e-12
    one_by_one = fine.derivative(jnp.column_stack([jnp.full(33, 0.1), x]), (0, 1))[:, 0]
    assert np.allclose(one_by_one, fine.on_grid(np.full(1, 0.1), [x], (0, 1))[0, 0], atol=1e-9)


def test_points_that_miss_a_narrow_source_are_found_out():
    width = 2e-3
    bump = lambda t, x: jnp.exp(-(((x - 0.31) / width) ** 2)) + 0 * t
    problem = declare(rhs=lambda u, t, x: 0.1 * u.xx + apply(bump, t, x))
    pointwise, carrier = Pointwise(problem), Carrier(problem)
    layer = sample(
        60,
        -1.0,
        1.0,
        periodic=True,
        wall=wall_of(problem, 0, 0),
        density=None,
        steepest=2.0,
        rng=np.random.default_rng(0),
    )
    found = []
    for places in (31, 2001):
        points, weights = quadrature(places, -1.0, 1.0, periodic=True, density=None)
        basis = orthonormal(layer, points, weights, order=2, cut=1e-4)
        projection = Projection(problem, pointwise, carrier, [Bases.join([basis], [0])])
        state = np.zeros((7, basis.rank))
        track = Track(3, [0.0, 1.0], [state[:4]])
        projection.start()
        found.append(unseen(problem, pointwise, carrier, Solved(projection, track)))
    assert found[0] > 1e-4
    assert found[1] < 1e-6 * found[0]


def test_progress_tells_rank_and_time():
    told = []
    evolve(declare(), accuracy=1e-3, progress=told.append)
    assert told[-1].time == 1.0
    assert all(p.rank > 0 for p in told)


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(hc.HcpinnError, match="stages"):
        Evolution(stages=4)
    with pytest.raises(hc.HcpinnError, match="accuracy"):
        evolve(declare(), accuracy=0.0)


def test_an_equation_that_its_boundary_data_do_not_determine_is_refused():
    beam = declare(rhs=lambda u: -u.xxxx, boundary=hc.Dirichlet(0.0), initial=lambda x: jnp.sin(jnp.pi * x))
    assert "order 4" in (applies(beam) or "")
    assert applies(declare()) is None
    with pytest.raises(hc.HcpinnError, match="order 4"):
        evolve(beam)
