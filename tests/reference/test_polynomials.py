"""Bases along an axis: eigenfunctions that meet their conditions, and what differentiates and projects."""

import numpy as np
import pytest

from hcpinn.reference.polynomials import polynomials, waves

VALUE, SLOPE, BEND = (1.0,), (0.0, 1.0), (0.0, 0.0, 1.0)


def both(*conditions):
    return [(end, factors) for end in (0, 1) for factors in conditions]


@pytest.mark.parametrize(
    ("conditions", "operator", "roots"),
    [
        (both(VALUE), {2: 1.0}, np.arange(1, 5) * np.pi),
        (both(SLOPE), {2: 1.0}, np.arange(1, 5) * np.pi),
        ([(0, VALUE), (1, SLOPE)], {2: 1.0}, (np.arange(1, 5) - 0.5) * np.pi),
        (both(VALUE, BEND), {4: -1.0}, np.arange(1, 5) * np.pi),
        (both(VALUE, SLOPE), {4: -1.0}, [4.730040744862704, 7.853204624095838, 10.995607838001671]),
    ],
)
def test_eigenvalues_are_those_of_the_walls(conditions, operator, roots):
    (order,) = operator
    basis = polynomials(0.0, 1.0, degree=40, conditions=conditions, operator=operator, order=order)
    roots = np.asarray(roots)
    wanted = -(roots**order)
    found = basis.rates[np.abs(basis.rates) > 1e-6][: len(roots)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert basis.exact == {0, order}
    np.testing.assert_allclose(basis.test @ basis.functions[0], np.eye(basis.count), atol=1e-10)
    np.testing.assert_allclose(basis.ends @ basis.functions[0][:, :4], 0.0, atol=1e-8)


def test_robin_conditions_make_a_symmetric_operator():
    basis = polynomials(
        0.0, 2.0, degree=30, conditions=[(0, (1.0, 2.0)), (1, (3.0, 1.0))], operator={2: 1.0}, order=2
    )
    assert 2 in basis.exact
    np.testing.assert_allclose(basis.ends @ basis.blends[0], np.eye(2), atol=1e-9)
    # u″ = λ u with the two conditions: u = a cos ωx + b sin ωx, of which the determinant vanishes
    omega = np.sqrt(-basis.rates[np.abs(basis.rates) > 1e-6][:3])
    c, s = np.cos(2 * omega), np.sin(2 * omega)
    rows = np.array([[1 + 0 * omega, -2 * omega], [3 * c - omega * s, 3 * s + omega * c]])
    determinant = rows[0, 0] * rows[1, 1] - rows[0, 1] * rows[1, 0]
    np.testing.assert_allclose(determinant / omega**2, 0.0, atol=1e-9)


@pytest.mark.parametrize(
    "basis",
    [
        polynomials(-1.0, 2.0, degree=20, conditions=both(VALUE), operator={2: 1.0}, order=2),
        waves(-1.0, 2.0, modes=10, operator={2: 1.0}, order=2),
    ],
)
def test_nodes_differentiate_and_interpolate(basis):
    turn = 2 * np.pi / 3
    f = lambda x, k: turn**k * np.cos(turn * (x + 1) + k * np.pi / 2)
    x, targets = basis.points, np.linspace(-1, 2, 17)
    for k in range(3):
        np.testing.assert_allclose(basis.derivatives[k] @ f(x, 0), f(x, k), atol=1e-6)
    np.testing.assert_allclose(basis.interpolation(targets, x) @ f(x, 0), f(targets, 0), atol=1e-9)
    coefficients = basis.test @ np.asarray(basis.functions[0][:, 3])
    for k in range(3):
        np.testing.assert_allclose(basis.functions[k] @ coefficients, basis.functions[k][:, 3], atol=1e-6)
