"""Fourier references in two and three dimensions agree with known solutions."""

import jax.numpy as jnp
import numpy as np
import pytest

from hcpinn.equation import fingerprint
from hcpinn.problem import Box, Dirichlet, Interval, Neumann, Periodic, Problem
from hcpinn.reference import solve_reference

PERIOD = (0, 2 * np.pi)


def check(problem, exact, *, tolerance=1e-9, **settings):
    reference = solve_reference(problem, times=6, tolerance=tolerance, cache=False, **settings)
    grid = np.meshgrid(reference.times, *reference.coordinates, indexing="ij")
    for values, known in zip(reference.values.values(), exact(*grid), strict=True):
        assert values.shape == grid[0].shape
        assert np.linalg.norm(values - known) <= tolerance * np.linalg.norm(known)


def test_two_dimensions_with_unequal_sides():
    def exact(t, x, y):
        drift = np.sin(x - t) * np.cos(np.pi * (y + t / 2))
        return (np.exp(-0.1 * (1 + np.pi**2) * t) * drift,)

    problem = Problem(
        domain=Box(PERIOD, (-1, 1)),
        horizon=1.0,
        rhs=lambda u: -u.x + 0.5 * u.y + 0.1 * u.laplacian,
        initial=lambda x, y: jnp.sin(x) * jnp.cos(jnp.pi * y),
    )
    check(problem, exact, points=(17, 21))


def test_mixed_derivatives():
    problem = Problem(
        domain=Box(PERIOD, PERIOD),
        horizon=1.0,
        rhs=lambda u: 0.1 * u.laplacian + 0.1 * u.xy,
        initial=lambda x, y: jnp.cos(x + 2 * y),
    )
    check(problem, lambda t, x, y: (np.exp(-0.7 * t) * np.cos(x + 2 * y),), points=17)


def test_two_real_fields_in_three_dimensions():
    def exact(t, x, y, z):
        product = np.sin(y) * np.sin(z)
        u = np.exp(-0.1 * t) * np.sin(x) + t * np.exp(-0.3 * t) * np.cos(x) * product
        return u, np.exp(-0.3 * t) * np.sin(x) * product

    problem = Problem(
        domain=Box(PERIOD, PERIOD, PERIOD),
        horizon=1.0,
        rhs=lambda u, v: (0.1 * u.laplacian + v.x, 0.1 * v.laplacian),
        initial=lambda x, y, z: (jnp.sin(x), jnp.sin(x) * jnp.sin(y) * jnp.sin(z)),
    )
    check(problem, exact, points=9, tolerance=1e-6)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_complex_plane_waves(dimensions):
    if dimensions == 2:
        initial = lambda x, y: 0.5 * jnp.exp(1j * (x + 2 * y))
        exact = lambda t, x, y: (0.5 * np.exp(1j * (x + 2 * y - 0.5 * t + 0.25 * t)),)
    else:
        initial = lambda x, y, z: 0.5 * jnp.exp(1j * (x + 2 * y - z))
        exact = lambda t, x, y, z: (0.5 * np.exp(1j * (x + 2 * y - z - 0.6 * t + 0.25 * t)),)
    problem = Problem(
        domain=Box(*[PERIOD] * dimensions),
        horizon=1.0,
        rhs=lambda u: 0.1j * u.laplacian + 1j * abs(u) ** 2 * u,
        initial=initial,
    )
    check(problem, exact, points=9, tolerance=1e-9 if dimensions == 2 else 1e-6)


def on_square(boundary):
    return Problem(
        domain=Box(PERIOD, PERIOD),
        horizon=1.0,
        boundary=boundary,
        rhs=lambda u: u.laplacian,
        initial=lambda x, y: jnp.sin(x) * jnp.sin(y),
        name="square",
    )


def test_waves_in_a_cavity_whose_walls_hold_one_of_two_fields():
    cavity = Problem(
        domain=Interval(0, 1),
        horizon=2.0,
        boundary={"E": Dirichlet(0.0), "H": ([], [])},
        rhs=lambda E, H: (H.x, E.x),
        initial=(lambda x: jnp.sin(3 * jnp.pi * x), 0.0),
    )
    k = 3 * np.pi
    check(cavity, lambda t, x: (np.sin(k * x) * np.cos(k * t), np.cos(k * x) * np.sin(k * t)))


def test_what_diffuses_drives_what_is_carried_along():
    """vₜ = −vₓ + u with vₓ = 0 where it enters: u is cos πx, which decays."""
    rate = 0.1 * np.pi**2
    exact = lambda t, x: np.exp(-rate * t) * np.cos(np.pi * x)
    driven = Problem(
        domain=Interval(0, 1),
        horizon=1.0,
        boundary={"u": Neumann(0.0), "v": (Dirichlet(lambda t: jnp.exp(-rate * t)), [])},
        rhs=lambda u, v, t, x: (
            0.1 * u.xx,
            -v.x + u - (1 + rate) * np.exp(-rate * t) * np.cos(np.pi * x)
            - np.pi * np.exp(-rate * t) * np.sin(np.pi * x),
        ),
        initial=(lambda x: jnp.cos(jnp.pi * x),) * 2,
    )  # fmt: skip
    check(driven, lambda t, x: (exact(t, x),) * 2)


def test_sound_in_a_box():
    k, w = np.pi, np.sqrt(2) * np.pi
    box = Problem(
        domain=Box((0, 1), (0, 1)),
        horizon=1.0,
        boundary={
            "p": {"x": ([], []), "y": ([], [])},
            "u": {"x": Dirichlet(0.0), "y": ([], [])},
            "v": {"x": ([], []), "y": Dirichlet(0.0)},
        },
        rhs=lambda p, u, v: (-u.x - v.y, -p.x, -p.y),
        initial=(lambda x, y: jnp.cos(k * x) * jnp.cos(k * y), 0.0, 0.0),
    )

    def exact(t, x, y):
        speed = k / w * np.sin(w * t)
        return (
            np.cos(k * x) * np.cos(k * y) * np.cos(w * t),
            np.sin(k * x) * np.cos(k * y) * speed,
            np.cos(k * x) * np.sin(k * y) * speed,
        )

    check(box, exact, points=17)


def test_fingerprints_know_the_conditions_of_each_axis():
    each = {"x": Periodic(), "y": Periodic()}
    assert fingerprint(on_square(Periodic())) == fingerprint(on_square(each))
    walls = [Dirichlet(0.0), Dirichlet(lambda t, x: 1e-3 * t * np.sin(x))]
    prints = {fingerprint(on_square({"x": Periodic(), "y": wall})) for wall in walls}
    assert len(prints | {fingerprint(on_square(Periodic()))}) == 3


def test_a_blow_of_a_millionth_at_an_output_time_is_counted_once():
    width = 1e-6

    def blow(t):
        return np.exp(-(((t - 0.5) / width) ** 2)) / (width * np.sqrt(np.pi))

    ring = Problem(
        domain=Interval(0, 1),
        horizon=1.0,
        boundary=Periodic(),
        order=2,
        rhs=lambda u, t: u.xx + 0.6 * blow(t),
        initial=lambda x: jnp.cos(2 * np.pi * x),
        velocity=0.0,
    )
    reference = solve_reference(ring, cache=False)
    t, (x,) = reference.times[:, None], reference.coordinates
    exact = np.cos(2 * np.pi * x) * np.cos(2 * np.pi * t) + 0.6 * np.maximum(t - 0.5, 0.0)
    away = np.abs(reference.times - 0.5) > 1e-3  # within the blow the velocity is still rising
    np.testing.assert_allclose(reference.values["u"][away], exact[away], atol=1e-8)
