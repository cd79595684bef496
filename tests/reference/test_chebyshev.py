"""Chebyshev references agree with known solutions: values, slopes and mixtures, systems, complex fields."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

from hcpinn.errors import NoReferenceError
from hcpinn.problem import Dirichlet, Interval, Neumann, Problem, Robin
from hcpinn.reference import solve_reference
from hcpinn.reference.nodes import chebyshev_points, differentiation_matrix, interpolation_matrix
from hcpinn.reference.patches import Patches


def check(problem, *exact, honest=False, tolerance=1e-7):
    """The reference has the exact solution's values at the times and points, field by field.

    If `honest`, the error is also within the reference's own estimate of it, or is rounding.
    """
    reference = solve_reference(problem, times=11, points=65, tolerance=tolerance, cache=False)
    assert reference.error_estimate < 2 * tolerance
    t, x = np.meshgrid(reference.times, *reference.coordinates, indexing="ij")
    bound = max(reference.error_estimate, 1e-11) if honest else 2 * tolerance
    for values, known in zip(reference.values.values(), (f(t, x) for f in exact), strict=True):
        assert np.linalg.norm(values - known) <= bound * np.linalg.norm(known)
    return reference


def travelling(wave, **settings):
    """A problem whose solution is wave(t, x), with the wave's own values as data at both ends."""
    a, b = settings["domain"].lower[0], settings["domain"].upper[0]
    boundary = Dirichlet(lambda t: wave(t, a), lambda t: wave(t, b))
    return Problem(initial=lambda x: wave(0.0, x), boundary=boundary, **settings)


def test_front_of_the_allen_cahn_equation():
    """u = (1 − tanh((x − 3t/√2)/(2√2)))/2 solves uₜ = uₓₓ − (u³ − u): it invades the unstable state."""
    wave = lambda t, x: (1 - jnp.tanh((x - 3 * t / np.sqrt(2)) / (2 * np.sqrt(2)))) / 2
    problem = travelling(wave, domain=Interval(-8, 12), horizon=2.0, rhs=lambda u: u.xx - (u**3 - u))
    reference = check(problem, lambda t, x: np.asarray(wave(t, x)))
    assert not reference.notes


def test_shock_layer_of_burgers_equation():
    """u = 1 − tanh((x − t)/(2ν)) solves uₜ = ν uₓₓ − u uₓ."""
    wave = lambda t, x: 1 - jnp.tanh((x - t) / 0.1)
    problem = travelling(wave, domain=Interval(-1, 2), horizon=0.5, rhs=lambda u: 0.05 * u.xx - u * u.x)
    check(problem, lambda t, x: np.asarray(wave(t, x)))


def test_a_system_with_data_of_its_own_for_each_field():
    first = lambda t, x: jnp.exp(-t) * jnp.sin(x) * jnp.cos(t)
    second = lambda t, x: -jnp.exp(-t) * jnp.sin(x) * jnp.sin(t)
    at = lambda x: (lambda t: first(t, x), lambda t: second(t, x))
    problem = Problem(
        domain=Interval(0.5, 2),
        horizon=1.0,
        rhs=lambda u, v: (u.xx + v, v.xx - u),
        boundary=Dirichlet(at(0.5), at(2.0)),
        initial=lambda x: (first(0.0, x), second(0.0, x)),
    )
    check(problem, *(lambda t, x, f=f: np.asarray(f(t, x)) for f in (first, second)))


def test_a_complex_field():
    wave = lambda t, x: jnp.exp(1j * (2 * x - 4 * t))
    problem = travelling(wave, domain=Interval(0, 1), horizon=0.5, rhs=lambda u: 1j * u.xx)
    check(problem, lambda t, x: np.asarray(wave(t, x)))


def test_coefficients_that_depend_on_time_and_space():
    problem = Problem(
        domain=Interval(0, np.pi),
        horizon=1.0,
        rhs=lambda u, t, x: (1 + x) * u.xx + x * np.exp(-t) * np.sin(x),
        boundary=Dirichlet(0.0),
        initial=jnp.sin,
    )
    check(problem, lambda t, x: np.exp(-t) * np.sin(x))


def test_modes_of_an_insulated_rod_decay_and_its_heat_stays():
    problem = Problem(
        domain=Interval(0, np.pi),
        horizon=1.0,
        rhs=lambda u: 0.3 * u.xx,
        boundary=Neumann(0.0),
        initial=lambda x: 1 + jnp.cos(x) + jnp.cos(4 * x),
    )
    exact = lambda t, x: 1 + np.exp(-0.3 * t) * np.cos(x) + np.exp(-4.8 * t) * np.cos(4 * x)
    reference = check(problem, exact, honest=True, tolerance=1e-9)
    np.testing.assert_allclose(
        np.trapezoid(reference.values["u"], dx=1 / 64, axis=1), 1.0, rtol=0, atol=1e-10
    )


def test_the_slowest_mode_of_a_rod_that_loses_heat_at_both_ends():
    """∂u/∂n + h u = 0 at x = ±1 has the mode cos kx with k tan k = h; only the ratio of the factors counts."""
    h = 2.0
    k = scipy.optimize.brentq(lambda k: k * np.tan(k) - h, 1e-6, np.pi / 2 - 1e-9)
    problem = Problem(
        domain=Interval(-1, 1),
        horizon=1.0,
        rhs=lambda u: 0.3 * u.xx,
        boundary=Robin(0.0, value=3 * h, slope=3.0),
        initial=lambda x: jnp.cos(k * x),
    )
    check(problem, lambda t, x: np.exp(-0.3 * k**2 * t) * np.cos(k * x), honest=True)


SHIFTED = lambda t, x: 2 + np.exp(-t) * np.sin(x + t)
"""Solves uₜ = uₓₓ + uₓ."""
SLOPE = lambda t, x: np.exp(-t) * np.cos(x + t)


@pytest.mark.parametrize(
    "boundary",
    [
        Neumann(lambda t: -SLOPE(t, 0.5), lambda t: SLOPE(t, 2.0)),
        Robin(
            lambda t: 3 * SHIFTED(t, 0.5) - 0.5 * SLOPE(t, 0.5),
            lambda t: 3 * SHIFTED(t, 2.0) + 0.5 * SLOPE(t, 2.0),
            value=3.0,
            slope=0.5,
        ),
    ],
    ids=["slopes", "mixtures"],
)
def test_moving_data_with_outward_slopes(boundary):
    problem = Problem(
        domain=Interval(0.5, 2),
        horizon=1.0,
        rhs=lambda u: u.xx + u.x,
        boundary=boundary,
        initial=lambda x: 2 + jnp.sin(x),
    )
    check(problem, SHIFTED, honest=True, tolerance=1e-9)


def test_a_nonlinear_system_with_mixtures_of_its_own_for_each_field():
    """u = e^{x−t}, v = e^{−x} solve uₜ = uₓₓ − 2u²v eᵗ and vₜ = vₓₓ − u v² eᵗ."""
    u, v = lambda t, x: np.exp(x - t), lambda t, x: np.exp(-x) + 0 * t
    problem = Problem(
        domain=Interval(0, 1),
        horizon=1.0,
        rhs=lambda u, v, t, x: (u.xx - 2 * u**2 * v * np.exp(t), v.xx - u * v**2 * np.exp(t)),
        boundary=Robin(
            (lambda t: 2 * u(t, 0.0) - u(t, 0.0), lambda t: 2 * v(t, 0.0) + v(t, 0.0)),
            (lambda t: 2 * u(t, 1.0) + u(t, 1.0), lambda t: 2 * v(t, 1.0) - v(t, 1.0)),
            value=2.0,
        ),
        initial=lambda x: (jnp.exp(x), jnp.exp(-x)),
    )
    check(problem, u, v, honest=True)


def test_slopes_that_do_not_suit_the_initial_data():
    """x² in an insulated rod: u = 1/3 + Σ 4(−1)ᵐ/(πm)² e^{−(πm)²t/10} cos πmx."""
    problem = Problem(
        domain=Interval(-1, 1),
        horizon=1.0,
        rhs=lambda u: 0.1 * u.xx,
        boundary=Neumann(0.0),
        initial=lambda x: x**2,
    )

    def exact(t, x):
        m = np.arange(1, 60).reshape(-1, 1, 1)  # enough for t ≥ 0.1
        modes = 4 * (-1.0) ** m / (np.pi * m) ** 2 * np.exp(-0.1 * (np.pi * m) ** 2 * t)
        return np.where(t == 0, x**2, 1 / 3 + np.sum(modes * np.cos(np.pi * m * x), axis=0))

    check(problem, exact, honest=True)


@pytest.mark.parametrize(("kind", "late"), [("values", 0.0), ("values", 0.5), ("slopes", 0.5)])
def test_time_in_the_equation_and_in_the_data_is_that_of_the_clock(kind, late):
    """u = (1 + t²) e^{−x} from t = 0.5 on, written with a start or with shifted time."""
    values, slopes = lambda t, x: (1 + t**2) * np.exp(-x), lambda t, x: -(1 + t**2) * np.exp(-x)
    shift = 0.5 - late
    at = lambda f, x, sign=1: lambda t: sign * f(t + shift, x)
    boundary = Dirichlet(at(values, 0.0), at(values, 1.0))
    if kind == "slopes":
        boundary = Neumann(at(slopes, 0.0, -1), at(slopes, 1.0))

    def rhs(u, t, x):
        s = t + shift
        return 0.3 * u.xx + (2 * s - 0.3 * (1 + s**2)) * np.exp(-x)

    problem = Problem(
        domain=Interval(0, 1),
        start=late,
        horizon=1.0 + late,
        rhs=rhs,
        boundary=boundary,
        initial=lambda x: 1.25 * jnp.exp(-x),
    )
    reference = check(problem, lambda t, x: values(t + shift, x), honest=True)
    np.testing.assert_array_equal(reference.times, np.linspace(late, 1.0 + late, 11))


def test_agreement_with_one_chebyshev_grid_over_the_whole_interval():
    n = 160
    x = chebyshev_points(-1.0, 1.0, n)
    first = differentiation_matrix(-1.0, 1.0, n)
    second = (first @ first)[1:-1]
    whole = lambda u: np.concatenate([[-1.0], u, [-1.0]])
    result = scipy.integrate.solve_ivp(
        lambda t, u: 1e-2 * second @ whole(u) - 5 * (u**3 - u),
        (0, 1),
        (x**2 * np.cos(np.pi * x))[1:-1],
        method="Radau",
        t_eval=np.linspace(0, 1, 11),
        jac=lambda t, u: 1e-2 * second[:, 1:-1] - np.diag(5 * (3 * u**2 - 1)),
        rtol=1e-10,
        atol=1e-11,
    )
    problem = Problem(
        domain=Interval(-1, 1),
        horizon=1.0,
        rhs=lambda u: 1e-2 * u.xx - 5 * (u**3 - u),
        boundary=Dirichlet(-1.0),
        initial=lambda x: x**2 * jnp.cos(jnp.pi * x),
    )
    reference = solve_reference(problem, times=11, points=65, cache=False)
    other = interpolation_matrix(x, reference.coordinates[0]) @ np.stack(
        [whole(u) for u in result.y.T], axis=1
    )
    difference = reference.values["u"][1:] - other.T[1:]
    assert np.linalg.norm(difference) < 1e-8 * np.linalg.norm(other)
    assert "In the corner t = 0, x = -1" in reference.notes[0]


def test_a_corner_at_a_later_start_is_named_by_its_time():
    problem = Problem(
        domain=Interval(-1, 1),
        start=0.5,
        horizon=1.0,
        rhs=lambda u: 0.1 * u.xx,
        boundary=Dirichlet(0.0),
        initial=lambda x: 1 - x**2,
    )
    notes = solve_reference(problem, times=3, points=9, tolerance=1e-4, cache=False).notes
    assert (
        "In the corner t = 0.5, x = -1 the equation asks for u_t = -0.2 and the boundary data for 0"
        in notes[0]
    )


def test_ends_and_start_are_the_data():
    problem = Problem(
        domain=Interval(0, 1),
        horizon=1.0,
        rhs=lambda u: 0.1 * u.xx,
        boundary=Dirichlet(lambda t: np.sin(t), 1.0),
        initial=lambda x: x**2,
    )
    reference = solve_reference(problem, times=5, points=9, tolerance=1e-5, cache=False)
    u, (x,) = reference.values["u"], reference.coordinates
    np.testing.assert_array_equal(u[0], x**2)
    np.testing.assert_allclose(u[:, 0], np.sin(reference.times), rtol=0, atol=1e-15)
    np.testing.assert_allclose(u[:, -1], 1.0, rtol=0, atol=1e-15)


def test_patched_derivatives_are_exact_for_polynomials():
    patches = Patches(np.linspace(-1.0, 2.0, 5), degree=8)
    x = patches.points
    np.testing.assert_allclose(patches.derivatives[1] @ x**5, 5 * x**4, atol=1e-10)
    np.testing.assert_allclose(patches.derivatives[2] @ x**5, 20 * x**3, atol=1e-8)
    targets = np.linspace(-1, 2, 31)
    np.testing.assert_allclose(patches.interpolation(targets) @ x**5, targets**5, atol=1e-12)


@pytest.mark.parametrize(("elements", "degree"), [(1, 16), (2, 12), (7, 16), (12, 24)])
def test_the_patched_second_derivative_has_the_spectrum_of_diffusion(elements, degree):
    patches = Patches(np.linspace(0.0, np.pi, elements + 1), degree=degree)
    values = np.linalg.eigvals(patches.derivatives[2].toarray()[1:-1, 1:-1])
    assert np.all(values.real < 0)
    assert np.all(np.abs(values.imag) <= 1e-6 * np.abs(values.real))
    np.testing.assert_allclose(np.sort(-values.real)[:3], [1, 4, 9], rtol=1e-6)


def test_equations_that_dirichlet_data_do_not_close():
    settings = {
        "domain": Interval(-1, 1),
        "horizon": 1.0,
        "boundary": Dirichlet(0.0),
        "initial": lambda x: 1 - x**2,
    }
    with pytest.raises(NoReferenceError, match="takes 4 conditions on 'u'"):
        solve_reference(Problem(rhs=lambda u: -u.xxxx, **settings), cache=False)
    with pytest.raises(NoReferenceError, match="as waves enter there, which are 0, but 1 are given"):
        solve_reference(Problem(rhs=lambda u: -u.x, **settings), cache=False)


def test_a_solution_that_blows_up_is_refused():
    problem = Problem(
        domain=Interval(0, np.pi),
        horizon=2.0,
        rhs=lambda u: 0.1 * u.xx + 3 * u**2,
        boundary=Dirichlet(0.0),
        initial=jnp.sin,
    )
    with pytest.raises(NoReferenceError, match="blow up"):
        solve_reference(problem, cache=False)
