"""References agree with second methods that share no code with the first.

For the paper's hardest data, Legendre spectral elements with the seam of the period at an
element's edge, small elements near it, and SciPy's Radau in time: other unknowns, other
quadrature, other stepping. For smooth data, sampled derivatives with SciPy's steppers, and
exponax.
"""

import exponax
import jax
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


def derivative(u, order, length):
    """A derivative along the last axis, by the transform of samples."""
    k = 2 * np.pi / length * np.fft.fftfreq(u.shape[-1], d=1 / u.shape[-1])
    k = np.where(np.abs(k) == np.abs(k).max(), 0, k) if order % 2 else k
    values = np.fft.ifft((1j * k) ** order * np.fft.fft(u))
    return values if np.iscomplexobj(u) else values.real


def method_of_lines(rate, initial, interval, horizon, samples, method, jacobian=None):
    """Samples of a periodic solution at eleven times, integrated by SciPy: one array per field."""
    x = np.linspace(*interval, samples, endpoint=False)
    start = np.stack([np.broadcast_to(v, x.shape) for v in initial(np, x)])
    result = scipy.integrate.solve_ivp(
        lambda t, y: np.stack(rate(*y.reshape(start.shape))).ravel(),
        (0, horizon),
        start.ravel(),
        method=method,
        t_eval=np.linspace(0, horizon, 11),
        **({} if jacobian is None else {"jac": jacobian}),
        rtol=1e-9,
        atol=1e-10,
    )
    return np.moveaxis(result.y.reshape(*start.shape, 11), -1, 1)


CASES = {
    "kuramoto-sivashinsky": {
        "interval": (0.0, 32 * np.pi),
        "horizon": 5.0,
        "samples": 320,
        "method": "Radau",
        "rhs": lambda u: -u.xx - u.xxxx - u * u.x,
        "rate": lambda d, u: (-d(u, 2) - d(u, 4) - u * d(u, 1),),
        "initial": lambda np, x: (np.cos(x / 16) * (1 + np.sin((x - 1) / 16)),),
    },
    "cahn-hilliard": {
        "interval": (-1.0, 1.0),
        "horizon": 0.5,
        "samples": 240,
        "method": "Radau",
        "rhs": lambda u: 1e-2 * (-u.xx - 1e-3 * u.xxxx + (u**3).xx),
        "rate": lambda d, u: (1e-2 * (-d(u, 2) - 1e-3 * d(u, 4) + d(u**3, 2)),),
        "jacobian": lambda d2, d4, u: 1e-2 * (-d2 - 1e-3 * d4 + d2 * (3 * u**2)),
        "initial": lambda np, x: (-np.cos(2 * np.pi * x),),
    },
    "gray-scott": {
        "interval": (-50.0, 50.0),
        "horizon": 20.0,
        "samples": 200,
        "method": "Radau",
        "rhs": lambda u, v: (u.xx + 0.02 * (1 - u) - u * v**2, 0.01 * v.xx - 0.0762 * v + u * v**2),
        "rate": lambda d, u, v: (
            d(u, 2) + 0.02 * (1 - u) - u * v**2,
            0.01 * d(v, 2) - 0.0762 * v + u * v**2,
        ),
        "initial": lambda np, x: (
            1 - np.sin(np.pi * (x - 50) / 100) ** 4 / 2,
            np.sin(np.pi * (x - 50) / 100) ** 4 / 4,
        ),
    },
    "schrodinger": {
        "interval": (-np.pi, np.pi),
        "horizon": 2.0,
        "samples": 80,
        "method": "DOP853",
        "rhs": lambda u: 1j * u.xx + 1j * abs(u) ** 2 * u,
        "rate": lambda d, u: (1j * d(u, 2) + 1j * np.abs(u) ** 2 * u,),
        "initial": lambda np, x: (2 / (2 - 2**0.5 * np.cos(x)) - 1 + 0j,),
    },
}


@pytest.mark.parametrize("name", CASES)
def test_smooth_problems_of_the_paper(name):
    case = CASES[name]
    a, b = case["interval"]
    problem = Problem(
        domain=Interval(a, b),
        horizon=case["horizon"],
        rhs=case["rhs"],
        initial=lambda x: case["initial"](jnp, x),
    )
    reference = solve_reference(problem, times=11, points=case["samples"] + 1, cache=False)
    jacobian = None
    if "jacobian" in case:  # by differences, the large fourth derivatives would leave it too rough
        matrices = [derivative(np.eye(case["samples"]), n, b - a).T for n in (2, 4)]
        jacobian = lambda t, u: case["jacobian"](*matrices, u)
    others = method_of_lines(
        lambda *u: case["rate"](lambda v, n: derivative(v, n, b - a), *u),
        case["initial"],
        case["interval"],
        case["horizon"],
        case["samples"],
        case["method"],
        jacobian,
    )
    assert reference.error_estimate < 2e-9
    for values, other in zip(reference.values.values(), others, strict=True):
        assert np.linalg.norm(values[:, :-1] - other) < 2e-7 * np.linalg.norm(other)


STEPPERS = {
    "allen-cahn": {
        "length": 2 * np.pi,
        "horizon": 2.0,
        "samples": 128,
        "rhs": lambda u: 0.05 * u.xx + u - u**3,
        "initial": lambda x: jnp.exp(jnp.sin(x)) / 3 - 0.5,
        "stepper": lambda *grid: exponax.stepper.reaction.AllenCahn(1, *grid, diffusivity=0.05, order=4),
    },
    "kuramoto-sivashinsky": {
        "length": 32 * np.pi,
        "horizon": 5.0,
        "samples": 256,
        "rhs": lambda u: -u.xx - u.xxxx - u * u.x,
        "initial": lambda x: jnp.cos(x / 16) * (1 + jnp.sin(x / 16)),
        "stepper": lambda *grid: exponax.stepper.KuramotoSivashinskyConservative(1, *grid, order=4),
    },
}


@pytest.mark.parametrize("name", STEPPERS)
def test_exponax_finds_the_same_within_the_estimated_error(name):
    """Its steps here are short enough for rounding to be all that is left of their fourth order."""
    case = STEPPERS[name]
    length, horizon, samples = case["length"], case["horizon"], case["samples"]
    problem = Problem(
        domain=Interval(0, length), horizon=horizon, rhs=case["rhs"], initial=case["initial"], name=name
    )
    reference = solve_reference(problem, times=11, points=samples + 1, cache=False)
    steps = 100
    stepper = case["stepper"](length, samples, horizon / 10 / steps)
    advance = jax.jit(lambda u: jax.lax.fori_loop(0, steps, lambda _, v: stepper(v), u))
    states = [case["initial"](jnp.linspace(0, length, samples, endpoint=False))[None]]
    for _ in range(10):
        states.append(advance(states[-1]))
    other = np.concatenate(states)
    assert reference.error_estimate < 1e-9
    difference = np.linalg.norm(reference.values["u"][:, :-1] - other) / np.linalg.norm(other)
    assert difference < 1.5 * reference.error_estimate
