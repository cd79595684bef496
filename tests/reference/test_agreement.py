"""References of the paper's hardest data agree with a second method that shares no code with the first.

Legendre spectral elements with the seam of the period at an element's edge, small elements
near it, and SciPy's Radau in time: other unknowns, other quadrature, other stepping.
"""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.sparse
from numpy.polynomial import legendre

from hcpinn.problem import Interval, Problem
from hcpinn.reference import solve_reference

DEGREE = 20


def lobatto():
    """Points, weights and differentiation matrix of Gauss–Lobatto–Legendre quadrature."""
    p = np.zeros(DEGREE + 1)
    p[-1] = 1
    x = np.concatenate([[-1.0], np.sort(legendre.legroots(legendre.legder(p)).real), [1.0]])
    value = legendre.legval(x, p)
    gaps = x[:, None] - x[None, :] + np.eye(DEGREE + 1)
    matrix = value[:, None] / value[None, :] / gaps
    np.fill_diagonal(matrix, 0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return x, 2 / (DEGREE * (DEGREE + 1) * value**2), matrix


def elements(gamma1, gamma2, initial, times, targets):
    """uₜ = γ₁uₓₓ − γ₂(u³ − u) on [−1, 1], periodic: values at times and targets."""
    near = 1 / 12 * 0.5 ** np.arange(6, 0, -1)
    edges = np.concatenate([[-1], near - 1, np.linspace(-1, 1, 25)[1:-1], (1 - near)[::-1], [1]])
    x, weights, matrix = lobatto()
    count = (len(edges) - 1) * DEGREE
    at = (np.arange(len(edges) - 1)[:, None] * DEGREE + np.arange(DEGREE + 1)) % count
    half = np.diff(edges) / 2
    mass = np.zeros(count)
    np.add.at(mass, at, weights * half[:, None])
    stiffness = matrix.T @ np.diag(weights) @ matrix / half[:, None, None]
    rows, columns = np.broadcast_arrays(at[:, :, None], at[:, None, :])
    stiffness = scipy.sparse.coo_array((stiffness.ravel(), (rows.ravel(), columns.ravel()))).tocsr()
    second = -scipy.sparse.diags_array(1 / mass) @ stiffness
    points = np.empty(count)
    points[at] = edges[:-1, None] + half[:, None] * (x + 1)
    points[0] = -1
    result = scipy.integrate.solve_ivp(
        lambda t, u: gamma1 * (second @ u) - gamma2 * (u**3 - u),
        (0, times[-1]),
        initial(points),
        method="Radau",
        t_eval=times,
        jac=lambda t, u: (gamma1 * second - scipy.sparse.diags_array(gamma2 * (3 * u**2 - 1))).tocsc(),
        rtol=1e-10,
        atol=1e-11,
    )
    values = np.empty((len(times), len(targets)))
    owner = np.clip(np.searchsorted(edges, targets, side="right") - 1, 0, len(edges) - 2)
    to_series = np.linalg.inv(legendre.legvander(x, DEGREE))
    for number in range(len(edges) - 1):
        mine = owner == number
        local = (targets[mine] - edges[number]) / half[number] - 1
        values[:, mine] = (legendre.legvander(local, DEGREE) @ to_series @ result.y[at[number]]).T
    return values


@pytest.mark.parametrize(
    ("gamma2", "wave"), [(5.0, lambda np, x: np.cos(np.pi * x)), (4.0, lambda np, x: np.sin(2 * np.pi * x))]
)
def test_allen_cahn_from_data_with_a_kink_at_the_seam(gamma2, wave):
    problem = Problem(
        domain=Interval(-1, 1),
        horizon=1.0,
        rhs=lambda u: 1e-3 * u.xx - gamma2 * (u**3 - u),
        initial=lambda x: x**2 * wave(jnp, x),
    )
    reference = solve_reference(problem, cache=False)
    (x,) = reference.coordinates
    other = elements(1e-3, gamma2, lambda x: x**2 * wave(np, x), reference.times, x)
    assert reference.error_estimate < 1e-9
    assert np.linalg.norm(reference.values["u"] - other) < 1e-9 * np.linalg.norm(other)
