"""Finite elements on curved domains."""

import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from hcpinn.reference import elements
from hcpinn.reference.esdirk import EMBEDDED, MATRIX, NODES
from hcpinn.reference.meshing import triangulate


@pytest.mark.parametrize(
    "domain",
    [
        hc.Disk(),
        hc.Box((0, 3), (0, 2)) - hc.Disk((0.7, 0.7), 0.3) - hc.Disk((2.2, 1.2), 0.4),
        hc.Polygon([(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)]),
        hc.Disk() & hc.Disk((1, 0)),
    ],
)
def test_curved_triangles_fill_the_domain(domain):
    from skfem import CellBasis, ElementTriP4
    from skfem.mapping import MappingIsoparametric

    mesh, parts = triangulate(domain, 0.3 * np.sqrt(domain.area / np.pi))
    mapping = MappingIsoparametric(mesh, ElementTriP4())
    basis = CellBasis(mesh, ElementTriP4(), mapping=mapping, intorder=8)
    assert (basis.dx > 0).all()
    assert basis.dx.sum() == pytest.approx(domain.area, rel=1e-6)
    assert sum(map(len, parts.values())) == len(mesh.boundary_facets())


def test_the_scheme_is_consistent():
    assert np.allclose(MATRIX.sum(1), NODES)
    assert [float(MATRIX[5] @ NODES**k) for k in range(4)] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])
    assert [float(EMBEDDED @ NODES**k) for k in range(3)] == pytest.approx([1, 1 / 2, 1 / 3])


def test_a_system_with_data_of_all_kinds(monkeypatch):
    """u = e^{−t} cos x cos y, v = u²: variable diffusion, coupling, and all conditions on one domain."""
    monkeypatch.setattr(elements, "_LEVELS", 2)

    def u(t, x, y):
        return jnp.exp(-t) * jnp.cos(x) * jnp.cos(y)

    def ux(t, x, y):
        return -jnp.exp(-t) * jnp.sin(x) * jnp.cos(y)

    def uy(t, x, y):
        return -jnp.exp(-t) * jnp.cos(x) * jnp.sin(y)

    def slope(t, x, y):  # outwards on the unit circle
        return x * ux(t, x, y) + y * uy(t, x, y)

    def rhs(u, v, t, x, y):
        # With a = 1 + v: (a uₓ)ₓ + (a u_y)_y, and what makes both fields solutions.
        a = 1 + v
        own = (a * u.x).x + (a * u.y).y
        e = np.exp(-t) * np.cos(x) * np.cos(y)
        ex, ey = -np.exp(-t) * np.sin(x) * np.cos(y), -np.exp(-t) * np.cos(x) * np.sin(y)
        known = (1 + e**2) * (-2 * e) + 2 * e * (ex**2 + ey**2)
        return own - known - e, -2 * v + 0.1 * (v.laplacian - 2 * (ex**2 + ey**2) + 4 * e**2)

    problem = hc.Problem(
        domain=hc.Disk() - hc.Disk((0.2, 0.1), 0.3),
        horizon=0.3,
        boundary={
            "disk": {
                "u": hc.Robin(lambda t, x, y: 2 * u(t, x, y) + slope(t, x, y), value=2.0),
                "v": hc.Neumann(lambda t, x, y: 2 * u(t, x, y) * slope(t, x, y)),
            },
            "disk2": {"u": hc.Dirichlet(u), "v": hc.Dirichlet(lambda t, x, y: u(t, x, y) ** 2)},
        },
        rhs=rhs,
        initial=(lambda x, y: u(0.0, x, y), lambda x, y: u(0.0, x, y) ** 2),
    )
    found = hc.solve_reference(problem, times=4, points=17, cache=False)
    x, y = np.meshgrid(*found.coordinates, indexing="ij")
    inside = np.isfinite(found.values["u"][0])
    for number, t in enumerate(found.times):
        exact = np.asarray(u(t, x, y))
        assert np.abs(found.values["u"][number] - exact)[inside].max() < 2e-4
        assert np.abs(found.values["v"][number] - exact**2)[inside].max() < 2e-4
    assert found.error_estimate < 1e-3


def test_what_elements_do_not_cover_is_said():
    problem = hc.Problem(
        domain=hc.Disk(), horizon=0.1, boundary=hc.Neumann(0.0), rhs=lambda u: u.xx**3 + u.yy, initial=0.0
    )
    with pytest.raises(hc.HcpinnError, match="not linear in its second derivatives"):
        hc.solve_reference(problem)


def test_polynomials_on_a_solid_with_data_of_all_kinds(monkeypatch):
    """u = e^{−3t} cos x cos y cos z + t x on a cylinder, which moves at its side."""
    monkeypatch.setattr(elements, "_DEGREES", (3, 5))

    def u(t, x, y, z):
        return jnp.exp(-3 * t) * jnp.cos(x) * jnp.cos(y) * jnp.cos(z) + t * x

    def at_top(t, x, y):
        return 2 * u(t, x, y, 1.0) - jnp.exp(-3 * t) * jnp.cos(x) * jnp.cos(y) * jnp.sin(1.0)

    problem = hc.Problem(
        domain=hc.Cylinder((0, 0), 0.7),
        horizon=0.1,
        boundary={
            "cylinder.side": hc.Dirichlet(u),
            "cylinder.top": hc.Robin(at_top, value=2.0),
            "cylinder.bottom": hc.Neumann(0.0),
        },
        rhs=lambda u, x: u.laplacian + x,
        initial=lambda x, y, z: u(0.0, x, y, z),
    )
    found = hc.solve_reference(problem, times=3, points=9, cache=False)
    mesh = np.meshgrid(*found.coordinates, indexing="ij")
    inside = np.isfinite(found.values["u"][0])
    for number, t in enumerate(found.times):
        assert np.abs(found.values["u"][number] - np.asarray(u(t, *mesh)))[inside].max() < 1e-3
    assert 1e-4 < found.error_estimate < 1e-2
