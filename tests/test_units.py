"""The unit of length, of time and of the field makes no difference: same features, steps and relative error."""

import numpy as np
import pytest

import hcpinn as hc


def rod(length, duration, size):
    """A reaction and diffusion in units in which the rod, its time and its field have these sizes."""
    return hc.Problem(
        domain=hc.Interval(0, length),
        horizon=duration,
        rhs=lambda u, k, r, a: k * u.xx + r * u * (1 - u / a),
        initial=lambda x: size * (0.5 + 0.3 * np.cos(np.pi * x / length)),
        boundary=hc.Neumann(0.0),
        parameters={"k": 0.05 * length**2 / duration, "r": 5 / duration, "a": float(size)},
    )


def solved(*units):
    return hc.solve(rod(*units), accuracy=1e-4, progress=False)


@pytest.fixture(scope="module")
def plain():
    return solved(1.0, 1.0, 1.0)


@pytest.mark.parametrize("units", [(1e-6, 1.0, 1.0), (1.0, 1e6, 1.0), (1e6, 1e-6, 1e-6)])
def test_units_make_no_difference(plain, units):
    other = solved(*units)
    assert other.history.stages == plain.history.stages
    assert other.estimated_error == pytest.approx(plain.estimated_error, rel=1e-3)
    assert other.rel_l2["u"] == pytest.approx(plain.rel_l2["u"], rel=0.01)
    assert other.verdict.status == plain.verdict.status == "converged"
    length, duration, size = units
    at = np.linspace(0, 1, 7)
    np.testing.assert_allclose(other(0.5 * duration, at * length) / size, plain(0.5, at), rtol=1e-7)


@pytest.mark.parametrize(("length", "duration"), [(1e-6, 1e6), (1e6, 1e-6)])
def test_a_reference_for_waves_has_all_its_digits_in_any_unit(length, duration):
    speed = length / duration
    problem = hc.Problem(
        domain=hc.Interval(0, length),
        horizon=duration,
        order=2,
        rhs=lambda u: speed**2 * u.xx,
        initial=lambda x: np.sin(np.pi * x / length),
        velocity=0.0,
        boundary=hc.Dirichlet(0.0),
    )
    reference = hc.solve_reference(problem, times=5, points=9, cache=False)
    x, t = reference.coordinates[0] / length, reference.times / duration
    exact = np.cos(np.pi * t)[:, None] * np.sin(np.pi * x)
    np.testing.assert_allclose(reference.values["u"], exact, rtol=0, atol=1e-12)
    assert reference.error_estimate < 1e-12
