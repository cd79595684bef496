"""What is linear in a right-hand side is found by reading it."""

import jax.numpy as jnp
import numpy as np

from hcpinn.equation.split import split
from hcpinn.problem import Interval, Problem

U, U_X, U_XX, U_XXXX = ((0, (0, n)) for n in (0, 1, 2, 4))


def parts_of(rhs, initial=jnp.sin, **settings):
    return split(Problem(domain=Interval(0, 2 * np.pi), horizon=1.0, rhs=rhs, initial=initial, **settings))


def test_linear_terms_are_exact_and_the_rest_remains():
    parts = parts_of(lambda u: -u.xx - 1e-6 * u.xxxx - u * u.x)
    assert parts.linear == {(0, U_XX): -1, (0, U_XXXX): -1e-6}
    assert parts.remaining == (U, U_X)
    assert parts.factors == 2


def test_a_conservative_term_makes_its_derivatives_nonlinear():
    parts = parts_of(lambda u: -u.xx - 1e-4 * u.xxxx + (u**3).xx)
    assert parts.linear == {(0, U_XXXX): -1e-4}
    assert parts.remaining == (U, U_X, U_XX)
    assert parts.factors == 3


def test_parameters_count_as_numbers_and_coordinates_do_not():
    parts = parts_of(lambda u, x, t, nu: nu * u.xx + np.sin(x) * u.x + t * u, parameters={"nu": 0.5})
    assert parts.linear == {(0, U_XX): 0.5}
    assert parts.remaining == (U, U_X)
    assert parts.factors == 2


def test_complex_terms_are_linear_and_conjugates_are_not():
    parts = parts_of(lambda u: 1j * u.xx + u.x.conj() + 2 * u, initial=lambda x: jnp.exp(1j * x))
    assert parts.linear == {(0, U_XX): 1j, (0, U): 2}
    assert parts.remaining == (U_X,)


def test_fields_may_enter_each_others_equations():
    parts = parts_of(lambda u, v: (v.xx + 1, -u.xx + v), initial=(jnp.sin, jnp.cos))
    v, v_xx = (1, (0, 0)), (1, (0, 2))
    assert parts.linear == {(0, v_xx): 1, (1, U_XX): -1, (1, v): 1}
    assert parts.remaining == ()
    assert parts.factors == 1


def test_a_switch_is_never_taken_for_a_number():
    parts = parts_of(lambda u: np.where(u > 100, 2.0, 1.0) * u.xx)
    assert U_XX in parts.remaining
