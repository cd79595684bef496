"""Evolution on curved domains, against solutions in closed form."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import jn_zeros, jnp_zeros

import hcpinn as hc
from hcpinn.evolution import evolve
from hcpinn.evolution.lift import Carrier
from hcpinn.evolution.limits import Limits
from hcpinn.evolution.pointwise import Pointwise
from hcpinn.evolution.regions import RegionFunction, RegionSpace
from hcpinn.machine.precision import double

L = [(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)]


def eigenvalues(domain, boundary, features, count):
    """The smallest eigenvalues of −∇² in the basis of one pass."""
    problem = hc.Problem(
        domain=domain, horizon=1.0, boundary=boundary, rhs=lambda u: u.laplacian, initial=0.0
    )
    with double():
        space = RegionSpace(problem, Carrier(problem), Pointwise(problem), Limits())
        system = space.projection(features, 0)
        found = np.linalg.eigvals(system.jacobian(0.0, system.start()))
    found = found[np.argsort(-found.real)][:count]
    assert np.abs(found.imag).max() < 1e-6 * np.abs(found).max()
    return -found.real


def test_eigenvalues_of_a_disk_with_values_prescribed():
    zeros = np.concatenate([jn_zeros(0, 4), *(np.repeat(jn_zeros(n, 4), 2) for n in range(1, 7))])
    exact = np.sort(zeros**2)[:10]
    assert np.allclose(eigenvalues(hc.Disk(), hc.Dirichlet(0.0), 400, 10), exact, rtol=1e-7)


def test_eigenvalues_of_a_disk_with_slopes_prescribed():
    zeros = np.concatenate([[0.0], jnp_zeros(0, 4), *(np.repeat(jnp_zeros(n, 4), 2) for n in range(1, 7))])
    exact = np.sort(zeros**2)[:10]
    found = eigenvalues(hc.Disk(), hc.Neumann(0.0), 400, 10)
    assert np.allclose(found, exact, rtol=1e-7, atol=1e-6)


def test_the_first_eigenvalue_of_an_L_in_spite_of_its_corner():
    (found,) = eigenvalues(hc.Polygon(L), hc.Dirichlet(0.0), 600, 1)
    assert found == pytest.approx(9.6397238440219, rel=1e-9)


def test_eigenvalues_of_a_ball():
    inner = np.pi**2, 20.190728556426629
    found = eigenvalues(hc.Ball(), hc.Dirichlet(0.0), 400, 4)
    assert np.allclose(found, [inner[0], *[inner[1]] * 3], rtol=1e-6)


def heat(**more):
    """u = e^{−2t} cos x cos y + t on an ellipse with a hole, as data of all kinds see it."""

    def u(t, x, y):
        return jnp.exp(-2 * t) * jnp.cos(x) * jnp.cos(y) + t

    def normal_slope(t, x, y):  # on the ellipse x²/4 + y² = 1
        size = jnp.sqrt(x**2 / 4 + 4 * y**2)
        ux, uy = -jnp.exp(-2 * t) * jnp.sin(x) * jnp.cos(y), -jnp.exp(-2 * t) * jnp.cos(x) * jnp.sin(y)
        return (ux * x / 2 + uy * 2 * y) / size

    settings = {
        "domain": hc.Ellipse((0, 0), (2, 1)) - hc.Disk((0.3, 0.1), 0.4),
        "boundary": {"disk": hc.Dirichlet(u), "ellipse": hc.Neumann(normal_slope)},
        "rhs": lambda u: u.laplacian + 1.0,
        "initial": lambda x, y: u(0.0, x, y),
        "horizon": 0.2,
    }
    return hc.Problem(**(settings | more)), u


@pytest.fixture(scope="module")
def solved():
    problem, u = heat()
    return problem, u, evolve(problem, accuracy=1e-5)


def test_data_of_both_kinds_that_depend_on_time(solved):
    problem, u, evolved = solved
    points = problem.domain.inside(np.random.default_rng(0).random((500, 2)))
    times = np.linspace(0, 0.2, 5)
    found = evolved.function.on_points(times, points, (0, 0, 0))[0]
    exact = np.array([u(t, *points.T) for t in times])
    error = np.linalg.norm(found - exact) / np.linalg.norm(exact)
    assert error < 1e-5
    assert error < 3 * evolved.estimated_error


def test_values_hold_to_rounding_and_slopes_to_the_accuracy(solved):
    problem, u, evolved = solved
    unit = np.random.default_rng(1).random((10_000, 1))
    rim = problem.domain.on("disk", unit)
    found = evolved.function.on_points(np.array([0.07]), rim, (0, 0, 0))[0, 0]
    assert np.abs(found - np.asarray(u(0.07, *rim.T))).max() < 1e-12
    wall = problem.domain.on("ellipse", unit[:500])
    normal = np.stack(problem.domain.normal("ellipse", wall))
    slopes = np.stack(
        [evolved.function.on_points(np.array([0.07]), wall, i)[0, 0] for i in ((0, 1, 0), (0, 0, 1))]
    )
    wanted = problem.pieces[0].conditions[0][0].data(0.07, *wall.T)
    assert np.abs((slopes * normal).sum(0) - np.asarray(wanted)).max() < 1e-4


def test_the_function_is_the_same_everywhere_and_after_a_file(solved):
    problem, _, evolved = solved
    function = evolved.function
    points = problem.domain.inside(np.random.default_rng(2).random((5, 2)))
    rows = jnp.asarray(np.column_stack([np.full(5, 0.11), points]))
    with double():
        for index in ((0, 0, 0), (0, 2, 0), (1, 0, 0)):
            one = np.asarray(function.derivative(rows, index))[:, 0]
            assert np.allclose(one, function.on_points(np.array([0.11]), points, index)[0, 0], rtol=1e-9)
    again = RegionFunction.from_arrays(problem, function.to_arrays())
    axes = np.linspace(-2, 2, 9), np.linspace(-1, 1, 9)
    grid = function.on_grid(np.array([0.0, 0.2]), *axes)
    assert np.array_equal(grid, again.on_grid(np.array([0.0, 0.2]), *axes), equal_nan=True)
    assert np.isnan(grid[0, 0, 0, 0])
    assert np.isfinite(grid[0, :, 2, 4]).all()


def test_what_an_evolution_cannot_do_is_said():
    fourth, _ = heat(rhs=lambda u: -u.xxxx, boundary=hc.Neumann(0.0), initial=0.0)
    with pytest.raises(hc.HcpinnError, match="curved domains an evolution takes at most 2"):
        evolve(fourth)


def test_data_on_slopes_are_carried_by_smooth_functions():
    problem = hc.Problem(
        domain=hc.Disk(), horizon=1.0, boundary=hc.Neumann(0.0), rhs=lambda u: u.laplacian, initial=0.0
    )
    with double():
        space = RegionSpace(problem, Carrier(problem), Pointwise(problem), Limits())
        (basis,) = space.projection(400, 0).bases
    (held,) = basis.held
    x, y = held.points.T
    data = held.root * (x**2 - y**2)  # the slope of (x² − y²) / 2, which is harmonic
    found = {index: table @ data for index, table in basis.carried.items()}
    x, y = basis.points.T
    assert np.abs(found[2, 0] + found[0, 2]).max() < 100
    assert np.abs(found[0, 0]).max() < 10
    across = basis.layer.at(held.points, [(1, 0), (0, 1)])
    slope = sum(
        n * (f @ basis.layer.mix @ (basis.reach @ data)) for n, f in zip(held.points.T, across, strict=True)
    )
    assert np.allclose(slope, held.points[:, 0] ** 2 - held.points[:, 1] ** 2, atol=1e-8)
