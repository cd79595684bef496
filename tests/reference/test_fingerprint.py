"""Problems with the same content have the same fingerprint, and any change of content changes it."""

import jax.numpy as jnp
import numpy as np
import pytest

from hcpinn.problem import Dirichlet, Interval, Problem
from hcpinn.reference import fingerprint


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


def test_values_that_are_not_finite_do_no_harm():
    problem = declare(rhs=lambda u, c: c * np.log(u))
    assert fingerprint(problem) == fingerprint(problem)
