"""References on boxes with boundary data, with several conditions at an end, and of second order in time."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from hcpinn.errors import NoReferenceError
from hcpinn.machine.precision import double
from hcpinn.problem import Box, Derivative, Dirichlet, Interval, Neumann, Periodic, Problem, Robin
from hcpinn.reference import solve_reference

FINE = 1e-9


def check(problem, *exact, points=33, times=11):
    reference = solve_reference(problem, times=times, points=points, cache=False)
    grid = np.meshgrid(reference.times, *reference.coordinates, indexing="ij")
    for values, known in zip(reference.values.values(), exact, strict=True):
        with double():
            true = np.asarray(known(*map(jnp.asarray, grid)))
        assert np.linalg.norm(values - true) <= FINE * np.linalg.norm(true)
    assert reference.error_estimate <= FINE
    return reference


def slope(u, position):
    """∂u by one of its arguments."""

    def along(*at):
        tangents = tuple(jnp.ones_like(a) if i == position else jnp.zeros_like(a) for i, a in enumerate(at))
        return jax.jvp(u, at, tangents)[1]

    return along


def u(t, x, y):
    return jnp.exp(-t) * jnp.cos(2 * x + y) + jnp.sin(t) * x * y**2


def source(rhs):
    """uₜ − F for the solution u."""

    def at(t, x, y):
        return slope(u, 0)(t, x, y) - rhs(t, x, y)

    return at


def test_a_face_of_each_kind_with_data_that_vary_along_it_and_in_time():
    ux, uy = slope(u, 1), slope(u, 2)
    added = source(lambda t, x, y: slope(ux, 1)(t, x, y) + slope(uy, 2)(t, x, y) - u(t, x, y) ** 3)
    problem = Problem(
        domain=Box((0, 1), (-1, 1.5)),
        horizon=0.5,
        rhs=lambda u, t, x, y: u.laplacian - u**3 + hc.apply(added, t, x, y),
        initial=lambda x, y: u(0.0 * x, x, y),
        boundary={
            "x": (Dirichlet(lambda t, y: u(t, 0 * y, y)), Neumann(lambda t, y: ux(t, 1 + 0 * y, y))),
            "y": (
                Robin(lambda t, x: 2 * u(t, x, -1 + 0 * x) - uy(t, x, -1 + 0 * x), value=2.0),
                Dirichlet(lambda t, x: u(t, x, 1.5 + 0 * x)),
            ),
        },
    )
    check(problem, u, points=17)


def test_heat_between_walls_and_periodic():
    problem = Problem(
        domain=Box((0, 1), (0, 1)),
        horizon=0.1,
        rhs=lambda u: u.laplacian,
        initial=lambda x, y: jnp.sin(2 * np.pi * x) * jnp.sin(np.pi * y),
        boundary={"x": Periodic(), "y": Dirichlet(0.0)},
    )
    rate = 5 * np.pi**2
    check(problem, lambda t, x, y: jnp.exp(-rate * t) * jnp.sin(2 * np.pi * x) * jnp.sin(np.pi * y))


def test_three_dimensions_with_unlike_fields():
    problem = Problem(
        domain=Box((0, 1), (0, 2), (0, 1)),
        horizon=0.1,
        rhs=lambda u, v: (u.laplacian + v - v, 0.5 * v.laplacian + u - u),
        initial=lambda x, y, z: (
            jnp.sin(np.pi * x) * jnp.cos(np.pi * y / 2) * jnp.sin(np.pi * z),
            jnp.cos(np.pi * x) * jnp.cos(np.pi * y / 2) * jnp.cos(np.pi * z),
        ),
        boundary={
            "u": {"x": Dirichlet(0.0), "y": Neumann(0.0), "z": Dirichlet(0.0)},
            "v": Neumann(0.0),
        },
    )
    rate = np.pi**2 * 2.25
    check(
        problem,
        lambda t, x, y, z: (
            jnp.exp(-rate * t) * jnp.sin(np.pi * x) * jnp.cos(np.pi * y / 2) * jnp.sin(np.pi * z)
        ),
        lambda t, x, y, z: (
            jnp.exp(-rate / 2 * t) * jnp.cos(np.pi * x) * jnp.cos(np.pi * y / 2) * jnp.cos(np.pi * z)
        ),
        points=9,
        times=5,
    )


def test_variable_coefficients_mixed_derivatives_and_convection():
    ux, uy = slope(u, 1), slope(u, 2)
    added = source(
        lambda t, x, y: (
            (1 + 0.3 * x) * slope(ux, 1)(t, x, y)
            + 0.2 * slope(ux, 2)(t, x, y)
            + slope(uy, 2)(t, x, y)
            - u(t, x, y) * ux(t, x, y)
        )
    )
    wall = {
        "x": Dirichlet(lambda t, y: u(t, 0 * y, y), lambda t, y: u(t, 1 + 0 * y, y)),
        "y": Dirichlet(lambda t, x: u(t, x, 0 * x), lambda t, x: u(t, x, 1 + 0 * x)),
    }
    problem = Problem(
        domain=Box((0, 1), (0, 1)),
        horizon=0.3,
        rhs=lambda u, t, x, y: (1 + 0.3 * x) * u.xx + 0.2 * u.xy + u.yy - u * u.x + hc.apply(added, t, x, y),
        initial=lambda x, y: u(0.0 * x, x, y),
        boundary=wall,
    )
    check(problem, u, points=17)


BEAM = {
    "domain": Interval(0, 1),
    "horizon": 0.5,
    "order": 2,
    "velocity": 0.0,
    "rhs": lambda u: -u.xxxx,
}
ROOT = 4.730040744862704
RATIO = (np.cosh(ROOT) - np.cos(ROOT)) / (np.sinh(ROOT) - np.sin(ROOT))


def clamped(x):
    return jnp.cosh(ROOT * x) - jnp.cos(ROOT * x) - RATIO * (jnp.sinh(ROOT * x) - jnp.sin(ROOT * x))


def test_beams():
    supported = Problem(
        **BEAM,
        initial=lambda x: jnp.sin(np.pi * x),
        boundary=[Dirichlet(0.0), Derivative(0.0)],
    )
    check(supported, lambda t, x: jnp.sin(np.pi * x) * jnp.cos(np.pi**2 * t))
    held = Problem(**BEAM, initial=clamped, boundary=[Dirichlet(0.0), Neumann(0.0)])
    check(held, lambda t, x: clamped(x) * jnp.cos(ROOT**2 * t))


def test_waves_keep_their_phase_over_long_times():
    problem = Problem(
        domain=Interval(0, 1),
        horizon=100.0,
        order=2,
        rhs=lambda u: 4 * u.xx,
        initial=lambda x: jnp.sin(np.pi * x) + jnp.sin(4 * np.pi * x) / 2,
        velocity=0.0,
        boundary=Dirichlet(0.0),
    )
    wave = lambda k: lambda t, x: jnp.sin(k * np.pi * x) * jnp.cos(2 * k * np.pi * t)
    check(problem, lambda t, x: wave(1)(t, x) + wave(4)(t, x) / 2)


def test_damping_and_modes_at_rest():
    problem = Problem(
        domain=Interval(0, 2 * np.pi),
        horizon=3.0,
        order=2,
        rhs=lambda u: u.xx - 2 * u.t - u + 1.0,
        initial=lambda x: 1 + jnp.sin(x),
        velocity=0.0,
    )
    check(problem, lambda t, x: 1 + jnp.sin(x) * jnp.exp(-t) * (jnp.cos(t) + jnp.sin(t)))
    drifting = Problem(
        domain=Interval(0, 1),
        horizon=2.0,
        order=2,
        rhs=lambda u: u.xx,
        initial=lambda x: jnp.cos(np.pi * x),
        velocity=1.0,
        boundary=Neumann(0.0),
    )
    check(drifting, lambda t, x: t + jnp.cos(np.pi * x) * jnp.cos(np.pi * t))


def test_sine_gordon_and_a_complex_field():
    width = np.sqrt(1 - 0.36)
    breather = lambda t, x: 4 * jnp.arctan(width / 0.6 * jnp.cos(0.6 * t) / jnp.cosh(width * x))
    problem = Problem(
        domain=Interval(-35, 35),
        horizon=2.0,
        order=2,
        rhs=lambda u: u.xx - np.sin(u),
        initial=lambda x: breather(0.0, x),
        velocity=0.0,
    )
    check(problem, breather)
    complex_wave = Problem(
        domain=Interval(0, 1),
        horizon=1.0,
        rhs=lambda u: 1j * u.xx,
        initial=lambda x: jnp.sin(np.pi * x) + 0j,
        boundary=Dirichlet(0.0),
    )
    check(complex_wave, lambda t, x: jnp.sin(np.pi * x) * jnp.exp(-1j * np.pi**2 * t))


def test_what_has_no_reference():
    few = Problem(**BEAM, initial=lambda x: x * (1 - x), boundary=Dirichlet(0.0))
    with pytest.raises(NoReferenceError, match="takes 4 conditions on 'u'"):
        solve_reference(few, cache=False)
    unstable = Problem(
        domain=Box((0, 1), (0, 1)),
        horizon=1.0,
        rhs=lambda u: -u.laplacian,
        initial=lambda x, y: x * (1 - x) * y * (1 - y),
        boundary=Dirichlet(0.0),
    )
    with pytest.raises(NoReferenceError, match="ill-posed"):
        solve_reference(unstable, points=9, times=5, cache=False)
