"""Fourier references agree with known solutions, conserve what is conserved, and converge as they should."""

import jax.numpy as jnp
import numpy as np
import pytest

from hcpinn.equation.projection import project
from hcpinn.equation.split import split
from hcpinn.errors import NoReferenceError
from hcpinn.problem import Interval, Problem
from hcpinn.reference import solve_reference
from hcpinn.reference.galerkin import Galerkin

PERIOD = Interval(0, 2 * np.pi)


def error(reference, *exact):
    """Relative L² errors against exact solutions, functions of t and x, in the order of the fields."""
    t, *x = np.meshgrid(reference.times, *reference.coordinates, indexing="ij")
    known = [f(t, *x) for f in exact]
    values = reference.values.values()
    return max(np.linalg.norm(v - k) / np.linalg.norm(k) for v, k in zip(values, known, strict=True))


def solve(problem, **settings):
    reference = solve_reference(problem, **{"times": 11, "points": 65, "cache": False, **settings})
    assert reference.error_estimate < 2e-9
    return reference


def mean_over_period(values):
    """The trapezoidal rule, which is spectrally accurate here; the last point repeats the first."""
    return values[:, :-1].mean(axis=1)


@pytest.mark.parametrize("c", [1.0, 60.0])
def test_advection_moves_the_profile(c):
    problem = Problem(
        domain=PERIOD, horizon=1.0, rhs=lambda u, c: -c * u.x, initial=jnp.sin, parameters={"c": c}
    )
    assert error(solve(problem), lambda t, x: np.sin(x - c * t)) < 1e-12


def test_modes_of_the_heat_equation_decay_at_their_rates():
    problem = Problem(
        domain=PERIOD, horizon=2.0, rhs=lambda u: 0.3 * u.xx, initial=lambda x: jnp.sin(x) + jnp.cos(5 * x)
    )
    exact = lambda t, x: np.exp(-0.3 * t) * np.sin(x) + np.exp(-7.5 * t) * np.cos(5 * x)
    assert error(solve(problem), exact) < 1e-12


def test_plane_wave_of_the_schrodinger_equation():
    problem = Problem(
        domain=PERIOD,
        horizon=1.0,
        rhs=lambda u: 1j * u.xx + 1j * abs(u) ** 2 * u,
        initial=lambda x: 0.8 * jnp.exp(3j * x),
    )
    reference = solve(problem)
    assert reference.values["u"].dtype == complex
    assert error(reference, lambda t, x: 0.8 * np.exp(1j * (3 * x - 9 * t + 0.64 * t))) < 1e-9


def test_soliton_of_the_schrodinger_equation():
    problem = Problem(
        domain=Interval(-16, 16),
        horizon=1.0,
        rhs=lambda u: 1j * u.xx + 1j * abs(u) ** 2 * u,
        initial=lambda x: 2 * np.sqrt(2) / jnp.cosh(2 * x),
    )
    assert error(solve(problem), lambda t, x: 2 * np.sqrt(2) / np.cosh(2 * x) * np.exp(4j * t)) < 1e-9


def test_mass_and_energy_of_the_schrodinger_equation_stay():
    problem = Problem(
        domain=Interval(-np.pi, np.pi),
        horizon=2.0,
        rhs=lambda u: 1j * u.xx + 1j * abs(u) ** 2 * u,
        initial=lambda x: 2 / (2 - np.sqrt(2) * jnp.cos(x)) - 1,
    )
    u = solve(problem, points=129).values["u"]
    k = np.fft.fftfreq(128, d=1 / 128)
    slope = np.fft.ifft(1j * k * np.fft.fft(u[:, :-1]))
    mass = mean_over_period(np.abs(u) ** 2)
    energy = np.mean(np.abs(slope) ** 2, axis=1) - mean_over_period(np.abs(u) ** 4) / 2
    assert np.ptp(mass) < 1e-9 * mass[0]
    assert np.ptp(energy) < 1e-8 * np.abs(energy[0])


def test_cahn_hilliard_conserves_mass():
    problem = Problem(
        domain=Interval(-1, 1),
        horizon=0.2,
        rhs=lambda u: 1e-2 * (-u.xx - 1e-3 * u.xxxx + (u**3).xx),
        initial=lambda x: 0.2 - 0.6 * jnp.cos(2 * jnp.pi * x) + 0.1 * jnp.sin(jnp.pi * x),
    )
    mass = mean_over_period(solve(problem, points=257).values["u"])
    np.testing.assert_allclose(mass, 0.2, rtol=0, atol=1e-11)


def test_kuramoto_sivashinsky_keeps_its_mean():
    problem = Problem(
        domain=Interval(0, 32 * np.pi),
        horizon=5.0,
        rhs=lambda u: -u.xx - u.xxxx - u * u.x,
        initial=lambda x: jnp.cos(x / 16) * (1 + jnp.sin((x - 1) / 16)),
    )
    mean = mean_over_period(solve(problem, points=513).values["u"])
    np.testing.assert_allclose(mean, mean[0], rtol=0, atol=1e-11)


def test_fields_that_drive_each_other():
    """The wave equation as a system: no field has a linear term of its own, and k = 0 has a Jordan block."""
    problem = Problem(domain=PERIOD, horizon=2.0, rhs=lambda u, v: (v, 4 * u.xx), initial=(jnp.sin, 1.0))
    exact = (lambda t, x: np.cos(2 * t) * np.sin(x) + t, lambda t, x: -2 * np.sin(2 * t) * np.sin(x) + 1)
    assert error(solve(problem), *exact) < 1e-11


def test_one_complex_field_or_two_real_ones():
    domain, start = Interval(-np.pi, np.pi), lambda x: 2 / (2 - np.sqrt(2) * jnp.cos(x)) - 1
    one = Problem(domain=domain, horizon=1.0, rhs=lambda u: 1j * u.xx + 1j * abs(u) ** 2 * u, initial=start)
    two = Problem(
        domain=domain,
        horizon=1.0,
        rhs=lambda u, v: (-v.xx - (u**2 + v**2) * v, u.xx + (u**2 + v**2) * u),
        initial=(start, 0.0),
    )
    u, pair = solve(one).values["u"], solve(two).values
    assert np.linalg.norm(u - (pair["u"] + 1j * pair["v"])) < 2e-9 * np.linalg.norm(u)


def test_coefficients_that_depend_on_time_and_space():
    problem = Problem(
        domain=PERIOD,
        horizon=1.0,
        rhs=lambda u, t, x: (1 + 0.8 * np.sin(x)) * u.xx + 0.8 * np.exp(-t) * np.sin(x) ** 2,
        initial=jnp.sin,
    )
    assert error(solve(problem), lambda t, x: np.exp(-t) * np.sin(x)) < 2e-9


@pytest.mark.parametrize("late", [0.0, 0.5])
def test_time_in_the_equation_is_that_of_the_clock(late):
    """uₜ = t uₓₓ + cos t from t = 0.5 on, written with a start or with shifted time."""
    shift = 0.5 - late
    problem = Problem(
        domain=PERIOD,
        start=late,
        horizon=1.0 + late,
        rhs=lambda u, t: (t + shift) * u.xx + np.cos(t + shift),
        initial=jnp.sin,
    )
    reference = solve(problem)
    np.testing.assert_array_equal(reference.times, np.linspace(late, 1.0 + late, 11))

    def exact(t, x):
        s = t + shift
        return np.exp(-(s**2 - 0.25) / 2) * np.sin(x) + np.sin(s) - np.sin(0.5)

    assert error(reference, exact) < 2e-9
    assert error(reference, exact) < reference.error_estimate


def smooth_problem():
    return Problem(
        domain=PERIOD,
        horizon=1.0,
        rhs=lambda u: 0.05 * u.xx - 3 * (u**3 - u),
        initial=lambda x: jnp.exp(jnp.sin(x)) / 3,
    )


def run(problem, modes, steps):
    galerkin = Galerkin(problem, modes, split(problem))
    axes = [np.linspace(*problem.domain.lower, *problem.domain.upper, 65)]
    initial = project(problem, modes, True)
    times, plan = np.linspace(0, 1, 3), [[(0.0, 0.5, 1)], [(0.5, 1.0, 1)]]
    return galerkin.solve(initial, times, axes, steps=steps, plan=plan, graded=False)[0][0][-1]


def test_steps_converge_with_the_fourth_order():
    problem = smooth_problem()
    finest = run(problem, 24, 512)
    errors = [np.linalg.norm(run(problem, 24, n) - finest) for n in (8, 16, 32)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.all(np.abs(orders - 4) < 0.4)


def test_modes_converge_faster_than_any_power():
    problem = smooth_problem()
    finest = run(problem, 64, 64)
    errors = [np.linalg.norm(run(problem, k, 64) - finest) for k in (6, 12, 24)]
    assert errors[1] < errors[0] / 30
    assert errors[2] < errors[1] / 1000


def test_projection_of_data_that_are_not_smooth():
    """x² on [−1, 1] has c_k = 2(−1)ᵏ/(πk)², however many modes are kept."""
    problem = Problem(domain=Interval(-1, 1), horizon=1.0, rhs=lambda u: u.xx, initial=lambda x: x**2)
    k = np.arange(1, 41)
    # Coefficients count from the lower end, which puts the factor (−1)ᵏ into the wave.
    np.testing.assert_allclose(project(problem, 40, True)[0, 1:], 2 / (np.pi * k) ** 2, rtol=0, atol=1e-15)


def test_rough_data_are_reported_with_their_jump():
    problem = Problem(
        domain=Interval(-1, 1),
        horizon=0.1,
        rhs=lambda u: 1e-2 * u.xx - 5 * (u**3 - u),
        initial=lambda x: x**2 * jnp.cos(jnp.pi * x),
    )
    (note,) = solve(problem).notes
    assert "slope jump of 4 at x = -1" in note
    problem = Problem(
        domain=Interval(-1, 1),
        horizon=0.1,
        rhs=lambda u: 1e-2 * u.xx,
        initial=lambda x: x**2 * jnp.sin(2 * jnp.pi * x),
    )
    (note,) = solve(problem).notes
    assert "jump in the second derivative of 50.27 at x = -1" in note


def test_a_backward_heat_equation_is_refused():
    problem = Problem(
        domain=PERIOD, horizon=1.0, rhs=lambda u: -u.xx + u**2, initial=jnp.sin, name="backward"
    )
    with pytest.raises(NoReferenceError, match="Fourier reference of backward"):
        solve_reference(problem, times=11, cache=False)


def test_a_solution_that_blows_up_is_refused():
    problem = Problem(
        domain=PERIOD, horizon=2.0, rhs=lambda u: 0.1 * u.xx + u**2, initial=lambda x: 1 + 0.1 * jnp.sin(x)
    )
    with pytest.raises(NoReferenceError, match="blow up"):
        solve_reference(problem, times=11, cache=False)


def test_a_conjugate_with_an_imaginary_factor_counts():
    """u' = −0.7i ū, solved by u = cosh 0.7t − i sinh 0.7t."""
    problem = Problem(
        domain=Interval(0, 1),
        horizon=1.0,
        rhs=lambda u: 0.01 * u.xx - 0.7j * np.conj(u),
        initial=lambda x: 1.0 + 0j * x,
    )
    reference = solve_reference(problem, cache=False)
    exact = np.cosh(0.7 * reference.times) - 1j * np.sinh(0.7 * reference.times)
    np.testing.assert_allclose(
        reference.values["u"], np.broadcast_to(exact[:, None], reference.values["u"].shape), atol=1e-9
    )
