"""Fourier references in two and three dimensions agree with known solutions."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pytest

from hcpinn.problem import Periodic, Problem
from hcpinn.reference import solve_reference


@dataclass(frozen=True)
class Box:
    """Stands in for a domain of several axes."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    @property
    def axes(self):
        return ("x", "y", "z")[: len(self.lower)]

    @property
    def lengths(self):
        return tuple(b - a for a, b in zip(self.lower, self.upper, strict=True))


def on_box(domain, **settings):
    """A problem as declared, without the checks of a declaration, which know intervals only."""
    problem = object.__new__(Problem)
    known = {
        "domain": domain,
        "horizon": 1.0,
        "boundary": Periodic(),
        "parameters": {},
        "name": "box",
        **settings,
    }
    for name, value in known.items():
        object.__setattr__(problem, name, value)
    return problem


def check(problem, exact, **settings):
    reference = solve_reference(problem, times=6, cache=False, **settings)
    grid = np.meshgrid(reference.times, *reference.coordinates, indexing="ij")
    for values, known in zip(reference.values.values(), exact(*grid), strict=True):
        assert values.shape == grid[0].shape
        assert np.linalg.norm(values - known) <= 1e-9 * np.linalg.norm(known)


def test_two_dimensions_with_unequal_sides():
    def exact(t, x, y):
        drift = np.sin(x - t) * np.cos(np.pi * (y + t / 2))
        return (np.exp(-0.1 * (1 + np.pi**2) * t) * drift,)

    problem = on_box(
        Box((0.0, -1.0), (2 * np.pi, 1.0)),
        rhs=lambda u: -u.x + 0.5 * u.y + 0.1 * u.laplacian,
        initial=lambda x, y: jnp.sin(x) * jnp.cos(jnp.pi * y),
    )
    check(problem, exact, points=(17, 21))


def test_mixed_derivatives():
    problem = on_box(
        Box((0.0, 0.0), (2 * np.pi, 2 * np.pi)),
        rhs=lambda u: 0.1 * u.laplacian + 0.1 * u.xy,
        initial=lambda x, y: jnp.cos(x + 2 * y),
    )
    check(problem, lambda t, x, y: (np.exp(-0.7 * t) * np.cos(x + 2 * y),), points=17)


def test_two_real_fields_in_three_dimensions():
    def exact(t, x, y, z):
        product = np.sin(y) * np.sin(z)
        u = np.exp(-0.1 * t) * np.sin(x) + t * np.exp(-0.3 * t) * np.cos(x) * product
        return u, np.exp(-0.3 * t) * np.sin(x) * product

    problem = on_box(
        Box((0.0,) * 3, (2 * np.pi,) * 3),
        rhs=lambda u, v: (0.1 * u.laplacian + v.x, 0.1 * v.laplacian),
        initial=lambda x, y, z: (jnp.sin(x), jnp.sin(x) * jnp.sin(y) * jnp.sin(z)),
    )
    check(problem, exact, points=9)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_complex_plane_waves(dimensions):
    if dimensions == 2:
        initial = lambda x, y: 0.5 * jnp.exp(1j * (x + 2 * y))
        exact = lambda t, x, y: (0.5 * np.exp(1j * (x + 2 * y - 0.5 * t + 0.25 * t)),)
    else:
        initial = lambda x, y, z: 0.5 * jnp.exp(1j * (x + 2 * y - z))
        exact = lambda t, x, y, z: (0.5 * np.exp(1j * (x + 2 * y - z - 0.6 * t + 0.25 * t)),)
    problem = on_box(
        Box((0.0,) * dimensions, (2 * np.pi,) * dimensions),
        rhs=lambda u: 0.1j * u.laplacian + 1j * abs(u) ** 2 * u,
        initial=initial,
    )
    check(problem, exact, points=9)
