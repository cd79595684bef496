"""Right-hand sides mean what they say on paper."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.errors import ProblemError

X = np.linspace(-0.9, 0.8, 7)


def field(x):
    return 0.3 + jnp.sin(1.3 * x) + 0.2 * x**2


def evaluate(rhs, function=field, **parameters):
    """F at points, with the field's derivatives taken from JAX itself."""
    problem = declare(rhs=rhs, parameters=parameters)

    def lookup(number, index):
        derivative = function
        for _ in range(index[1]):
            derivative = (
                jax.grad(derivative) if not jnp.iscomplexobj(function(0.1)) else complex_grad(derivative)
            )
        return jax.vmap(derivative)(X)

    return problem.evaluate_rhs(lookup, [jnp.full(7, 0.5), jnp.asarray(X)])[0]


def complex_grad(f):
    return lambda x: jax.grad(lambda y: f(y).real)(x) + 1j * jax.grad(lambda y: f(y).imag)(x)


def second(f):
    return jax.vmap(jax.grad(jax.grad(f)))(X)


def first(f):
    return jax.vmap(jax.grad(f))(X)


@pytest.mark.parametrize(
    ("rhs", "expected"),
    [
        (lambda u: u.xx, lambda: second(field)),
        (lambda u: (u**3).xx, lambda: second(lambda x: field(x) ** 3)),
        (lambda u: (u * u.x).x, lambda: first(lambda x: field(x) * jax.grad(field)(x))),
        (lambda u: (1 / u).xx, lambda: second(lambda x: 1 / field(x))),
        (lambda u: np.sin(u).xx, lambda: second(lambda x: jnp.sin(field(x)))),
        (lambda u: (u**1.5).x, lambda: first(lambda x: field(x) ** 1.5)),
        (lambda u: (2**u).x, lambda: first(lambda x: 2 ** field(x))),
        (
            lambda u: hc.apply(jnp.logaddexp, u, 2 * u).xx,
            lambda: second(lambda x: jnp.logaddexp(field(x), 2 * field(x))),
        ),
        (lambda u, x: (np.exp(x) * u).xx, lambda: second(lambda x: jnp.exp(x) * field(x))),
        (lambda u, t, x: t * (x - u), lambda: 0.5 * (X - field(X))),
        (lambda u: np.maximum(u, 0.5).x, lambda: first(lambda x: jnp.maximum(field(x), 0.5))),
        (
            lambda u: np.where(u > 0.5, u, 0.0 * u).x,
            lambda: first(lambda x: jnp.where(field(x) > 0.5, field(x), 0.0)),
        ),
        (lambda u: u.laplacian - np.float64(2) * u, lambda: second(field) - 2 * field(X)),
        (lambda u: 3 - u / 2, lambda: 3 - field(X) / 2),
    ],
)
def test_an_expression_is_differentiated_as_on_paper(rhs, expected):
    np.testing.assert_allclose(evaluate(rhs), expected(), rtol=1e-12, atol=1e-13)


def test_parameters_are_constants_by_name():
    np.testing.assert_allclose(evaluate(lambda u, c: (c * u).x, c=3.0), 3 * first(field), rtol=1e-13)


def test_complex_right_hand_sides_read_as_on_paper():
    def wave(x):
        return (1 + 0.5 * x) * jnp.exp(1.7j * x)

    got = evaluate(lambda u: 1j * u.xx + 1j * abs(u) ** 2 * u + (abs(u) ** 2).x + abs(u).x, wave)
    curvature = jax.vmap(complex_grad(complex_grad(wave)))(X)
    u = wave(X)
    growth = first(lambda x: (1 + 0.5 * x) ** 2) + first(lambda x: 1 + 0.5 * x)
    np.testing.assert_allclose(got, 1j * curvature + 1j * jnp.abs(u) ** 2 * u + growth, rtol=1e-12)


@pytest.mark.parametrize(
    ("rhs", "indices"),
    [
        (lambda u: u.xx - u**3, {(0, 0), (0, 2)}),
        (lambda u: -u.xx - u.xxxx - u * u.x, {(0, 0), (0, 1), (0, 2), (0, 4)}),
        (lambda u: (u**3).xx, {(0, 0), (0, 1), (0, 2)}),
        (lambda u: (2.0 * u).xx, {(0, 0), (0, 2)}),
    ],
)
def test_the_needed_derivatives_are_found_by_looking(rhs, indices):
    assert set(declare(rhs=rhs).derivatives) == indices


def test_float32_fields_stay_float32_beside_numpy_constants():
    problem = declare(rhs=lambda u: np.sqrt(2.0) * u.xx + np.float64(3) * u)
    ones = jnp.ones(4, jnp.float32)
    assert problem.evaluate_rhs(lambda n, i: ones, [ones, ones])[0].dtype == jnp.float32


@pytest.mark.parametrize(
    "function",
    [np.mean, np.max, np.sum, np.std, np.median, np.any, np.flip, np.cumsum, np.argmax, np.trapezoid],
)
def test_functions_that_mix_points_are_refused(function):
    with pytest.raises(ProblemError, match=rf"np\.{function.__name__} .* mixes the values at several points"):
        declare(rhs=lambda u: u.xx - function(u))
    with pytest.raises(ProblemError, match="mixes the values"):
        declare(rhs=lambda u, x: u.xx - u * function(x))


@pytest.mark.parametrize(
    ("numpy", "jax_numpy"),
    [
        (lambda u, k: np.clip(u, 0.2, 0.6), lambda u: jnp.clip(u, 0.2, 0.6)),
        (lambda u, k: np.where(u > 0.4, k, u), lambda u: jnp.where(u > 0.4, 2.0, u)),
        (
            lambda u, k: np.interp(u, [0.0, 1.0, 2.0], [0.0, 3.0, 4.0]),
            lambda u: jnp.where(u < 1, 3 * jnp.maximum(u, 0), u + 2),
        ),
        (lambda u, k: np.sinc(u) + np.nan_to_num(u), lambda u: jnp.sinc(u) + u),
        (lambda u, k: np.array([k * u]), lambda u: 2.0 * u),
        (
            lambda u, k: np.where((u > 0.2) & ~(u > 0.6), k, u),
            lambda u: jnp.where((u > 0.2) & (u <= 0.6), 2.0, u),
        ),
        (lambda u, k: np.where((u < 0.2) | (u == u), 1.0, u), lambda u: jnp.ones_like(u)),
        (lambda u, k: np.where((u != u) ^ (u > 0.4), 1.0, u), lambda u: jnp.where(u > 0.4, 1.0, u)),
        (
            lambda u, k: np.select([u < 0.2, u < 0.6], [k, u], -u),
            lambda u: jnp.where(u < 0.2, 2.0, jnp.where(u < 0.6, u, -u)),
        ),
    ],
)
def test_functions_of_numpy_that_take_each_point_by_itself_are_accepted(numpy, jax_numpy):
    np.testing.assert_allclose(evaluate(lambda u, k: numpy(u, k), k=2.0), jax_numpy(field(X)), rtol=1e-6)


def test_a_quantity_that_is_changed_in_place_is_a_new_one():
    def rhs(u):
        total = u
        total += 1.0
        total *= u
        return total.x - u

    expected = first(lambda x: (field(x) + 1) * field(x)) - field(X)
    np.testing.assert_allclose(evaluate(rhs), expected, rtol=1e-12)


@pytest.mark.parametrize("rhs", [lambda u: u.xx + u @ u, lambda u: u.xx + np.matmul(u, [1.0])])
def test_products_of_matrices_are_refused(rhs):
    with pytest.raises(ProblemError, match="mixes the values at several points"):
        declare(rhs=rhs)
