"""Evolutions of second order in time: exact at the start, accurate over swings, the same from a file."""

import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from hcpinn.equation.start import initial_jet
from hcpinn.evolution import evolve
from hcpinn.evolution.motion import fading, tempo
from hcpinn.evolution.radau import Track, integrate, scheme

ROOM = {"domain": hc.Interval(0, 1), "order": 2, "boundary": hc.Dirichlet(0.0)}


@pytest.fixture(scope="module")
def plucked():
    """A string with a velocity, in a field of its own that damps it."""
    problem = hc.Problem(
        **ROOM,
        horizon=2.0,
        rhs=lambda u: u.xx - 0.5 * u.t,
        initial=lambda x: jnp.sin(np.pi * x),
        velocity=lambda x: 3 * jnp.sin(2 * np.pi * x),
    )
    return problem, hc.solve(problem, accuracy=1e-5)


def swing(k, value, velocity):
    """a″ + a′/2 + (kπ)² a = 0."""
    omega = np.sqrt((k * np.pi) ** 2 - 1 / 16)
    return lambda t: (
        np.exp(-t / 4) * (value * np.cos(omega * t) + (velocity + value / 4) / omega * np.sin(omega * t))
    )


def exact(t, x):
    return swing(1, 1.0, 0.0)(t) * np.sin(np.pi * x) + swing(2, 0.0, 3.0)(t) * np.sin(2 * np.pi * x)


def test_the_error_is_below_what_was_asked(plucked):
    _, solution = plucked
    t, x = np.meshgrid(np.linspace(0, 2, 41), np.linspace(0, 1, 41), indexing="ij")
    true = exact(t, x)
    assert np.linalg.norm(solution(t, x) - true) <= 1e-5 * np.linalg.norm(true)
    assert solution.verdict.status == "converged"
    step = 1e-5
    speed = (exact(t[1:-1] + step, x[1:-1]) - exact(t[1:-1] - step, x[1:-1])) / (2 * step)
    assert np.linalg.norm(solution.dt(t[1:-1], x[1:-1]) - speed) <= 1e-4 * np.linalg.norm(speed)


def test_value_and_velocity_are_exact_at_the_start(plucked):
    x = np.linspace(0, 1, 57)
    np.testing.assert_allclose(plucked[1](0.0, x), np.sin(np.pi * x), atol=1e-13)
    np.testing.assert_allclose(plucked[1].dt(0.0, x), 3 * np.sin(2 * np.pi * x), atol=1e-12)


def test_the_residual_is_of_second_order(plucked):
    solution = plucked[1]
    t, x = np.random.default_rng(0).uniform(0.05, 0.95, (2, 50))
    wanted = solution.dtt(t, x) - solution.dxx(t, x) + 0.5 * solution.dt(t, x)
    np.testing.assert_allclose(solution.residual(t, x), wanted, atol=1e-9)
    assert np.abs(wanted).max() < 1e-2


def test_a_file_gives_the_same_function(plucked, tmp_path):
    problem, solution = plucked
    again = hc.load(solution.save(tmp_path / "string.hcpinn"), problem=problem)
    t, x = np.random.default_rng(1).uniform(0, 1, (2, 20))
    np.testing.assert_array_equal(again.dt(t, x), solution.dt(t, x))


def test_walls_that_move_and_boxes():
    moving = hc.Problem(
        domain=hc.Interval(0, 1),
        order=2,
        horizon=1.0,
        boundary=(hc.Dirichlet(lambda t: np.sin(t)), hc.Neumann(0.0)),
        rhs=lambda u, t: u.xx - np.sin(t),
        initial=0.0,
        velocity=1.0,
    )
    found = evolve(moving, accuracy=1e-4)
    grid = found.function.on_grid(np.linspace(0, 1, 11), np.linspace(0, 1, 11))[0]
    np.testing.assert_allclose(grid, np.sin(np.linspace(0, 1, 11))[:, None] + 0 * grid, atol=1e-3)
    drum = hc.Problem(
        domain=hc.Box((0, 1), (0, 1)),
        order=2,
        horizon=0.5,
        boundary=hc.Dirichlet(0.0),
        rhs=lambda u: u.laplacian - 0.2 * u.t,
        initial=0.0,
        velocity=lambda x, y: jnp.sin(np.pi * x) * jnp.sin(np.pi * y),
    )
    found = evolve(drum, accuracy=1e-3)
    t, x = np.linspace(0, 0.5, 6), np.linspace(0, 1, 11)
    omega = np.sqrt(2 * np.pi**2 - 0.01)
    shape = np.outer(np.sin(np.pi * x), np.sin(np.pi * x))
    true = (np.exp(-0.1 * t) * np.sin(omega * t) / omega)[:, None, None] * shape
    np.testing.assert_allclose(found.function.on_grid(t, x, x)[0], true, atol=1e-3 * np.abs(true).max())


def test_tempo_is_the_frequency_and_a_standing_lift_does_not_fade():
    wave = hc.Problem(
        **ROOM, horizon=2.0, rhs=lambda u: 4 * u.xx, initial=lambda x: jnp.sin(np.pi * x), velocity=0.0
    )
    np.testing.assert_allclose(tempo(wave), 2 * np.pi, rtol=1e-6)
    assert fading(wave) == 0.0
    jet = initial_jet(wave, jnp.asarray([[0.0, 0.5]]), [(0, 2), (1, 0)])
    np.testing.assert_allclose(float(jet[0, 2][0, 0]), -(np.pi**2), rtol=1e-5)
    assert float(jet[1, 0][0, 0]) == 0.0


class _Pendulum:
    """(x, y) with x′ = y, y′ = −ω² x."""

    iterations, dense, omega = 10, True, 5.0

    def rates(self, times, states):
        return np.stack([states[1], -(self.omega**2) * states[0]])

    def linearised(self, time, state):
        matrix = np.array([[0.0, 1.0], [-(self.omega**2), 0.0]])
        return lambda shift: lambda right: np.linalg.solve(shift * np.eye(2) - matrix, right)

    def size(self, change):
        return float(np.linalg.norm(change / [1.0, self.omega]))


def test_values_and_slopes_shape_a_track_and_its_energy_stays():
    track = Track(7, [0.0], [], 2)
    integrate(_Pendulum(), np.array([1.0, 0.0]), (0.0, 40.0), track, 1e-8)
    times = np.linspace(0, 40, 401)
    np.testing.assert_allclose(track.at(times)[:, 0], np.cos(5 * times), atol=1e-8)
    last = track.values[-1][-1]
    np.testing.assert_allclose(last[0] ** 2 + (last[1] / 5) ** 2, 1.0, atol=1e-9)
    assert track.powers().shape == (track.steps, 2 * (1 + len(scheme(7).nodes)), 1)


def test_fast_waves_count_by_what_they_move():
    """u₀ of a clamped beam whose fourth derivative does not vanish at the ends excites all waves a little."""
    clamped = [hc.Dirichlet(0.0), hc.Neumann(0.0)]
    beam = hc.Problem(
        domain=hc.Interval(0, 1),
        horizon=0.05,
        boundary=clamped,
        order=2,
        rhs=lambda u: -u.xxxx,
        initial=lambda x: jnp.sin(jnp.pi * x) ** 2,
        velocity=0.0,
    )
    evolved = evolve(beam, accuracy=1e-4)
    assert evolved.estimated_error < 1e-4
    assert evolved.passes[-1].steps < 200
