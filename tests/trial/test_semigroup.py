"""The lift e^{tL} u₀: exact at the start, a solution of the linear part, and chosen with sense."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from hcpinn import jets
from hcpinn.catalog import ENTRIES
from hcpinn.errors import MethodError, UnknownNameError
from hcpinn.objective import check_penalties
from hcpinn.trial import make_trial

PI = np.pi


def points_of(problem, count=40, seed=0):
    rng = np.random.default_rng(seed)
    ends = [(problem.start, problem.horizon), *problem.domain.bounds]
    return jnp.asarray(np.column_stack([a + (b - a) * rng.random(count) for a, b in ends]))


def at_start(problem, points):
    return points.at[:, 0].set(problem.start)


def heat(**changes):
    settings = {
        "domain": hc.Interval(-1, 1),
        "horizon": 0.7,
        "rhs": lambda u: 0.3 * u.xx + np.sin(u),
        "initial": lambda x: 1 + jnp.sin(PI * x) - 0.5 * jnp.cos(3 * PI * x),
    }
    return hc.Problem(**{**settings, **changes})


def test_on_the_heat_equation_it_is_the_heat_kernel():
    problem = heat()
    t, x = points_of(problem).T
    exact = (
        1 + np.exp(-0.3 * PI**2 * t) * np.sin(PI * x) - 0.5 * np.exp(-2.7 * PI**2 * t) * np.cos(3 * PI * x)
    )
    lift = hc.Semigroup().bind(problem, problem.parameters)(points_of(problem))[:, 0]
    np.testing.assert_allclose(lift, exact, atol=1e-13)


def test_it_counts_time_from_the_start():
    early, late = heat(), heat(start=2.0, horizon=2.7)
    points = points_of(early)
    shifted = points.at[:, 0].add(2.0)
    one = hc.Semigroup().bind(early, {})(points)
    other = hc.Semigroup().bind(late, {})(shifted)
    np.testing.assert_allclose(one, other, atol=1e-13)


def test_transport_is_solved_by_the_lift_alone():
    problem = ENTRIES["advection"].problem
    waves = hc.Semigroup().waves(problem)
    assert waves.leftover < 1e-12
    points = points_of(problem)
    np.testing.assert_allclose(waves(points)[:, 0], np.sin(points[:, 1] - 60 * points[:, 0]), atol=1e-11)


def test_a_coupled_system_is_carried_by_its_matrix_of_rates():
    problem = hc.Problem(
        domain=hc.Interval(0, 2 * PI),
        horizon=0.9,
        rhs=lambda u, v: (0.2 * u.xx - 0.7 * v.x, 0.1 * v.xx - 0.4 * u.x),
        initial=lambda x: (jnp.sin(x), jnp.cos(2 * x)),
    )
    waves = hc.Semigroup("all").waves(problem)
    assert waves.leftover < 1e-12
    start = np.asarray(waves(at_start(problem, points_of(problem))))
    x = np.asarray(points_of(problem))[:, 1]
    np.testing.assert_allclose(start, np.column_stack([np.sin(x), np.cos(2 * x)]), atol=1e-13)


def test_a_complex_field_turns_as_the_free_wave_does():
    problem = hc.Problem(
        domain=hc.Interval(0, 2 * PI),
        horizon=0.4,
        rhs=lambda u: 1j * u.xx,
        initial=lambda x: jnp.exp(1j * x) + 0.3 * jnp.exp(-2j * x),
    )
    points = points_of(problem)
    t, x = np.asarray(points).T
    exact = np.exp(1j * (x - t)) + 0.3 * np.exp(-1j * (2 * x + 4 * t))
    found = problem.to_fields(np.asarray(hc.Semigroup("all").bind(problem, {})(points)))[0]
    np.testing.assert_allclose(found, exact, atol=1e-12)


def test_dirichlet_data_hold_at_all_times_and_the_rest_decays_by_sines():
    problem = hc.Problem(
        domain=hc.Interval(0, 1),
        horizon=0.5,
        boundary=hc.Dirichlet(lambda t: jnp.cos(t), lambda t: 1 + t),
        rhs=lambda u: 0.2 * u.xx,
        initial=lambda x: 1 + 0.8 * jnp.sin(2 * PI * x),
    )
    points = points_of(problem)
    lift = hc.Semigroup().bind(problem, {})
    t, x = np.asarray(points).T
    edges = (1 - x) * np.cos(t) + x * (1 + t)
    exact = edges + 0.8 * np.exp(-0.2 * 4 * PI**2 * t) * np.sin(2 * PI * x)
    np.testing.assert_allclose(lift(points)[:, 0], exact, atol=1e-12)
    for end, data in ((0.0, np.cos(t)), (1.0, 1 + t)):
        np.testing.assert_allclose(lift(points.at[:, 1].set(end))[:, 0], data, atol=1e-12)


@pytest.mark.parametrize("name", ENTRIES)
def test_every_problem_starts_exactly_and_its_derivatives_agree_with_autodiff(name):
    problem = ENTRIES[name].problem
    method = hc.Method(
        lift=hc.Semigroup(),
        embedding=hc.Plain() if name == "allen-cahn-dirichlet" else hc.Fourier(2),
        network=hc.MLP(4, 1),
    )
    trial = make_trial(problem, method)  # checks the conditions of the consistency theorem
    check_penalties(trial, ())
    points = points_of(problem, 6)
    wanted = problem.to_components(
        problem.initial_values([points[:, i + 1] for i in range(len(problem.space))])
    )
    np.testing.assert_allclose(trial.lift(at_start(problem, points)), wanted, atol=1e-11)
    own = jax.jit(lambda c: trial.lift.jet(c, trial.indices))(points)  # type: ignore[attr-defined]
    nested = jax.jit(lambda c: jets.nested(trial.lift, c, trial.indices))(points)
    for index in trial.indices:
        scale = float(jnp.abs(nested[index]).max()) + 1e-300
        np.testing.assert_allclose(own[index], nested[index], rtol=0, atol=1e-9 * scale)


def test_a_kink_of_the_initial_data_is_smoothed_as_the_equation_does():
    """x² cos πx has a slope jump of 4 where the period closes; diffusion removes it."""
    problem = ENTRIES["allen-cahn-1"].problem
    lift = hc.Semigroup().waves(problem)
    decay = hc.Decay(1.0).bind(problem, problem.parameters)
    ends = jnp.asarray([[0.2, -1.0], [0.2, 1.0]])
    smooth = lift.jet(ends, ((0, 1),))[0, 1][:, 0]
    kinked = jets.nested(decay, ends, ((0, 1),))[0, 1][:, 0]
    assert abs(float(smooth[0] - smooth[1])) < 1e-8
    assert abs(float(kinked[0] - kinked[1])) > 3


def test_what_is_kept_of_the_linear_part_follows_from_growth_and_phase():
    calm = hc.Semigroup("all").waves(heat())
    assert calm.sensible
    assert calm.growth == 0
    turning = hc.Semigroup("all").waves(ENTRIES["schrodinger"].problem)
    assert turning.phase > PI
    assert not turning.sensible
    chosen = hc.Semigroup().waves(ENTRIES["schrodinger"].problem)
    assert chosen.phase == 0
    growing = heat(rhs=lambda u: -0.5 * u.xx - 0.001 * u.xxxx, horizon=1.0)
    assert hc.Semigroup("all").waves(growing).growth > 1
    assert hc.Semigroup().waves(growing.with_parameters()).growth in (
        0.0,
        hc.Semigroup("all").waves(growing).growth,
    )


def test_extra_decay_multiplies_all_of_it():
    problem = heat()
    points = points_of(problem)
    plain, faded = hc.Semigroup().bind(problem, {})(points), hc.Semigroup(decay=0.8).bind(problem, {})(points)
    np.testing.assert_allclose(faded, np.exp(-0.8 * points[:, :1]) * plain, atol=1e-13)


def test_what_cannot_be_a_lift_is_refused():
    cooling = heat(boundary=hc.Robin(0.0, value=2.0, slope=1.0), initial=lambda x: 2 - x**2)
    with pytest.raises(MethodError, match=r"Use lift=Decay"):
        hc.Semigroup().bind(cooling, {})
    with pytest.raises(UnknownNameError, match="some"):
        hc.Semigroup("some")
    with pytest.raises(MethodError, match="decay"):
        hc.Semigroup(decay=-1.0)
