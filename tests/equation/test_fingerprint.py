"""Problems with the same content have the same fingerprint, and any change of content changes it."""

import jax.numpy as jnp
import numpy as np
import pytest

from hcpinn.equation import fingerprint
from hcpinn.problem import Dirichlet, Interval, Neumann, Problem, Robin


def declare(**changes):
    settings = {
        "domain": Interval(-1, 1),
        "horizon": 1.0,
        "rhs": lambda u, c: -c * u.xxxx + u**3,
        "initial": lambda x: jnp.sin(jnp.pi * x),
        "parameters": {"c": 1e-6},
    }
    return Problem(**{**settings, **changes})


def test_the_same_content_written_differently():
    other = declare(
        rhs=lambda u, c: u * u * u - c * u.xxxx, initial=lambda x: -np.sin(-np.pi * x), name="other"
    )
    assert fingerprint(other) == fingerprint(declare())
    assert len(fingerprint(other)) == 64


@pytest.mark.parametrize(
    "changes",
    [
        {"domain": Interval(-1, 3)},
        {"horizon": 1.5},
        {"parameters": {"c": 1.0000001e-6}},
        {"rhs": lambda u, c: -c * (1 + 1e-7) * u.xxxx + u**3},
        {"rhs": lambda u, c: -c * u.xxxx + u**3 + 1e-7 * u},
        {"rhs": lambda v, c: -c * v.xxxx + v**3},
        {"rhs": lambda u, c, x: -c * u.xxxx + u**3 + 1e-7 * x},
        {"initial": lambda x: jnp.sin(jnp.pi * x) * (1 + 1e-7)},
        {"initial": lambda x: jnp.sin(jnp.pi * x) + 0j},
        {"boundary": Dirichlet(0.0)},
        {"boundary": Neumann(0.0)},
        {"start": 0.5},
        {"start": -1e-9},
    ],
)
def test_a_change_of_content(changes):
    assert fingerprint(declare(**changes)) != fingerprint(declare())


def test_boundary_data_count():
    data = [
        Dirichlet(0.0),
        Dirichlet(lambda t: 0 * t),
        Dirichlet(lambda t: 1e-3 * t),
        Dirichlet(0.0, lambda t: t),
    ]
    prints = [fingerprint(declare(boundary=g)) for g in data]
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


def test_the_kind_of_boundary_and_its_factors_count():
    kinds = [Dirichlet(0.0), Neumann(0.0), Robin(0.0), Robin(0.0, value=1.001), Robin(0.0, slope=-1.0)]
    prints = [fingerprint(declare(boundary=kind)) for kind in kinds]
    assert len(set(prints)) == len(kinds)
    assert fingerprint(declare(boundary=Robin(lambda t: 0 * t, 0.0, value=1, slope=1))) == prints[2]
    assert fingerprint(declare(start=0.0)) == fingerprint(declare())


def test_values_that_are_not_finite_do_no_harm():
    problem = declare(rhs=lambda u, c: c * np.log(u))
    assert fingerprint(problem) == fingerprint(problem)
