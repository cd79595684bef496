"""Open parameters: ranges, nominal values, and closing them."""

import jax.numpy as jnp
import pytest

import hcpinn as hc
from hcpinn import Between, Interval, Periodic, Problem, solve_reference
from hcpinn.errors import ProblemError


def reaction(**changes):
    given = {
        "domain": Interval(-1, 1),
        "horizon": 1.0,
        "boundary": Periodic(),
        "rhs": lambda u, nu, c: nu * u.xx - c * u,
        "initial": lambda x, c: c * jnp.sin(jnp.pi * x),
        "parameters": {"nu": Between(1e-3, 1e-1, log=True), "c": 2.0},
    }
    return Problem(**{**given, **changes})


def test_a_range_has_a_middle_of_its_own_kind():
    assert Between(1, 5).nominal == 3.0
    assert Between(1e-3, 1e-1, log=True).nominal == pytest.approx(1e-2)
    assert Between(1e-3, 1e-1, log=True).at(1.0) == 1e-1


def test_an_open_problem_is_the_nominal_one_until_it_is_closed():
    problem = reaction(horizon=Between(0.5, 2))
    assert dict(problem.open) == {"nu": Between(1e-3, 1e-1, log=True), "horizon": Between(0.5, 2)}
    assert problem.fields == ("u",)
    assert problem.nominal.parameters["nu"] == pytest.approx(1e-2)
    assert problem.nominal.horizon == 1.25
    assert problem.derivatives == problem.nominal.derivatives
    closed = problem.with_parameters(nu=0.05, horizon=1.5)
    assert not closed.open
    assert closed.nominal is closed
    assert (closed.parameters["nu"], closed.horizon) == (0.05, 1.5)


def test_a_parameter_is_opened_by_name():
    problem = reaction(parameters={"nu": 0.01, "c": 1.0}).with_parameters(c=Between(1, 3))
    assert list(problem.open) == ["c"]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Between(5, 1), "from a finite number to a larger one, but is 5 to 1"),
        (lambda: Between(0, 1, log=True), "Leave log out"),
        (lambda: Between("a", 1), "low is 'a'"),
        (lambda: reaction(ranges={"nu": (0.0, 0.05)}), "between 0 and 0.05, but may be 0.1"),
        (lambda: reaction(initial=lambda x, c: c * x), "not periodic"),
        (lambda: solve_reference(reaction()), "'nu' of problem is open"),
        (lambda: hc.solve_batch([hc.Run(reaction(), hc.Evolution())]), "is open"),
    ],
)
def test_bad_ranges_get_a_sentence(make, match):
    with pytest.raises(ProblemError, match=match):
        make()
