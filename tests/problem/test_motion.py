"""Equations of second order in time: what is declared, and what is refused."""

import jax.numpy as jnp
import numpy as np
import pytest

from hcpinn.equation import fingerprint, growth_rate
from hcpinn.errors import ProblemError
from hcpinn.problem import Dirichlet, Interval, Periodic, Problem

STRING = {
    "domain": Interval(0, 1),
    "horizon": 1.0,
    "boundary": Dirichlet(0.0),
    "initial": lambda x: jnp.sin(np.pi * x),
}


def string(rhs=lambda u: 4 * u.xx, **changes):
    return Problem(**{**STRING, "rhs": rhs, "order": 2, "velocity": 0.0, **changes})


def test_first_derivatives_in_time_may_stand_on_the_right():
    problem = string(lambda u: 4 * u.xx - u.t * u + 0.1 * u.txx)
    assert problem.derivatives == ((0, 0), (1, 0), (0, 2), (1, 2))
    assert problem.leading == (2, 0)
    assert string().derivatives == ((0, 0), (0, 2))


def test_time_is_differentiated_through_products():
    seen = {(0, 0): 2.0, (1, 0): 3.0}
    problem = string(lambda u, t: (t * u**2).t)
    (value,) = problem.evaluate_rhs(
        lambda _, index: jnp.asarray(seen[index]), [jnp.asarray(5.0), jnp.asarray(0.1)]
    )
    assert value == 2.0**2 + 5.0 * 2 * 2.0 * 3.0


def test_a_complex_velocity_makes_a_complex_field():
    problem = string(velocity=lambda x: 1j * jnp.sin(np.pi * x))
    assert problem.complex_fields == (True,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"velocity": None}, "needs the initial velocity"),
        ({"order": 1, "velocity": 0.0}, "A velocity is given"),
        ({"order": 3}, "order is the order in time"),
        ({"order": True}, "order is the order in time"),
        ({"rhs": lambda u: u.xx - u.tt}, r"derivative '\.tt'"),
        ({"rhs": lambda u: u.xx - u.t, "order": 1, "velocity": None}, "declared with order=2"),
        ({"velocity": 1.0}, "disagree at the lower end of x"),
        ({"velocity": lambda x: x * (1 - x) / (x - x)}, "not finite"),
        ({"velocity": (0.0, 0.0)}, "velocity gives 2 value"),
        ({"boundary": Periodic(), "velocity": lambda x: x}, "velocities for 'u' are not periodic"),
    ],
)
def test_what_is_refused(changes, message):
    with pytest.raises(ProblemError, match=message):
        string(**changes)


def test_walls_may_move_with_the_velocity():
    wall = Dirichlet(lambda t: t, 0.0)
    problem = string(boundary=wall, velocity=lambda x: 1 - x)
    assert problem.order == 2


def test_fingerprints_know_order_and_velocity():
    found = {fingerprint(p) for p in (string(), string(velocity=lambda x: jnp.sin(np.pi * x)))}
    found.add(fingerprint(Problem(**STRING, rhs=lambda u: 4 * u.xx)))
    assert len(found) == 3


def test_a_wave_does_not_grow_and_a_saddle_does():
    assert growth_rate(string()) < 1e-6
    np.testing.assert_allclose(growth_rate(string(lambda u: 9.0 * u)), 3.0, rtol=1e-9)


def test_where_data_have_a_kink_its_slopes_are_left_out_of_the_growth():
    problem = Problem(
        domain=Interval(-1, 1),
        horizon=1.0,
        boundary=Dirichlet(0.0),
        rhs=lambda u: u.xx + 3 * u,
        initial=lambda x: jnp.sqrt(jnp.maximum(0.25 - x**2, 0.0)),
    )
    np.testing.assert_allclose(growth_rate(problem), 3.0)
