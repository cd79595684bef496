"""A solution can be compiled, differentiated and mapped by JAX, in either precision."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np

from solutions import SOLUTION, T, X, make


def in_jax():
    """Value, slope, slopes of a sum and values of a map, taken by JAX."""
    t, x = jnp.asarray(0.4), jnp.asarray(0.3)
    many = jnp.asarray(X[0])
    return [
        jax.jit(SOLUTION)(t, x),
        jax.jit(jax.grad(SOLUTION, argnums=1))(t, x),
        jax.jit(jax.grad(jax.grad(lambda x: SOLUTION(0.4, x))))(x),
        jax.jit(jax.vmap(lambda x: SOLUTION(0.4, x)))(many),
        jax.jit(jax.grad(lambda x: SOLUTION.dx(0.4, x)))(x),
        jax.jit(jax.jacfwd(lambda x: SOLUTION(0.4, x).sum()))(many),
    ]


def expected_in_jax():
    return [
        SOLUTION(0.4, 0.3),
        SOLUTION.dx(0.4, 0.3),
        SOLUTION.dxx(0.4, 0.3),
        SOLUTION(0.4, X[0]),
        SOLUTION.dxx(0.4, 0.3),
        SOLUTION.dx(0.4, X[0]),
    ]


def test_a_solution_can_be_compiled_differentiated_and_mapped():
    for got, exact in zip(in_jax(), expected_in_jax(), strict=True):
        np.testing.assert_allclose(got, exact, rtol=1e-11)


def test_it_can_in_single_precision_too_which_is_jaxs_default():
    with jax.enable_x64(False), warnings.catch_warnings():
        warnings.simplefilter("error")
        single = in_jax()
    for got, exact in zip(single, expected_in_jax(), strict=True):
        assert got.dtype == jnp.float32
        np.testing.assert_allclose(got, exact, rtol=2e-4)


def test_plain_arrays_give_double_precision_whatever_jax_is_set_to():
    with jax.enable_x64(False):
        got = SOLUTION(T, X)
        slope = SOLUTION.dxx(T, X)
    np.testing.assert_array_equal(got, SOLUTION(T, X))
    np.testing.assert_array_equal(slope, SOLUTION.dxx(T, X))
    assert got.dtype == slope.dtype == np.float64


def test_a_solution_can_be_made_and_used_first_inside_a_compiled_function():
    fresh = make(seed=4)
    inside = jax.jit(lambda x: fresh(0.2, x))(jnp.asarray(0.1))
    np.testing.assert_allclose(inside, fresh(0.2, 0.1), rtol=1e-12)
