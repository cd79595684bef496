"""Two problems have the same content only if they compute the same, whatever the values at points say."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.interpolate

import hcpinn as hc
from declarations import declare
from hcpinn.equation import content_of, fingerprint

STRENGTH = 1.0


def push(t):
    return STRENGTH * np.where(np.logical_and(t > 0.41130, t < 0.41131), 3e4, 0.0)


def closed(strength):
    return lambda u, t: 0.1 * u.xx + strength * np.where(np.logical_and(t > 0.41130, t < 0.41131), 3e4, 0.0)


def test_a_patch_between_all_probes_makes_another_problem():
    without, inside = declare(rhs=closed(0.0)), declare(rhs=closed(1.0))
    assert fingerprint(without) == fingerprint(inside)
    assert content_of(without) != content_of(inside)


def test_the_same_code_makes_the_same_problem():
    assert content_of(declare(rhs=closed(1.0))) == content_of(declare(rhs=closed(1.0)))
    assert content_of(hc.find_problem("allen-cahn-1")) == content_of(hc.find_problem("allen-cahn-1"))


def test_globals_and_functions_that_are_called_count(monkeypatch):
    make = lambda: declare(rhs=lambda u, t: 0.1 * u.xx + push(t))
    before = content_of(make())
    assert before is not None
    monkeypatch.setitem(globals(), "STRENGTH", 2.0)
    assert content_of(make()) != before


def test_arrays_data_and_breaks_count():
    def wave(sizes):
        return lambda x: jnp.cos(jnp.pi * x) * sizes[0]

    same = [content_of(declare(initial=wave(np.array([1.0, n])))) for n in (0.0, 0.0, 1.0)]
    assert same[0] == same[1] != same[2]
    assert content_of(declare(breaks={"t": [0.5]})) != content_of(declare())


def test_what_cannot_be_read_has_no_content():
    table = scipy.interpolate.CubicSpline([-1.0, 0.0, 1.0], [0.0, 1.0, 0.0])
    assert content_of(declare(initial=lambda x: table(np.asarray(x)))) is None


@pytest.mark.parametrize("name", ["gray-scott", "schrodinger", "advection", "allen-cahn-2d", "cahn-hilliard"])
def test_the_catalogue_can_be_read(name):
    assert content_of(hc.find_problem(name)) is not None
