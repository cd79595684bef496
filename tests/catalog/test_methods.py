"""A method is chosen by what a problem is, never by what it is called."""

import dataclasses

import jax.numpy as jnp
import pytest

import hcpinn as hc
from hcpinn.catalog import ENTRIES, METHODS

NAMES = [*METHODS, "pbc+ic1+sa", "pbc+ic2", "ic1"]


def settings(name, problem):
    """The method of this name, or the sentence with which it is refused, without the problem's name."""
    try:
        return hc.find_method(name, problem)
    except hc.HcpinnError as error:
        return str(error).replace(problem.name, "it")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("own", ["cahn-hilliard", "advection", "schrodinger", "allen-cahn-dirichlet"])
def test_a_problem_under_another_name_gets_the_same_method(own, name):
    problem = ENTRIES[own].problem
    for other in ("mine", "gray-scott"):
        assert settings(name, dataclasses.replace(problem, name=other)) == settings(name, problem)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("taken", ENTRIES)
def test_another_problem_under_a_name_of_the_catalogue_gets_its_own_method(taken, name):
    def heat(name):
        return hc.Problem(
            name=name,
            domain=hc.Interval(-1, 1),
            horizon=1.0,
            rhs=lambda u: 0.1 * u.xx,
            initial=lambda x: jnp.sin(jnp.pi * x),
        )

    assert settings(name, heat(taken)) == settings(name, heat("heat"))


@pytest.mark.parametrize("name", NAMES)
def test_a_problem_written_out_again_gets_the_method_of_the_catalogue(name):
    """Also with other parameters and another horizon."""
    again = hc.Problem(
        name="written out again",
        domain=hc.Interval(-1, 1),
        horizon=0.5,
        rhs=lambda u, epsilon1, epsilon2: (epsilon1 * (u**3 - u - epsilon2 * u.xx)).xx,
        initial=lambda x: -jnp.cos(2 * jnp.pi * x),
        parameters={"epsilon1": 2e-2, "epsilon2": 1e-4},
    )
    known = hc.find_problem("cahn-hilliard").with_parameters(epsilon1=2e-2, horizon=0.5)
    assert settings(name, again) == settings(name, known)
