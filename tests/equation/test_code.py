"""Two problems have the same content only if they compute the same, whatever the values at points say."""

import functools
import pathlib
import sys
import types

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


def test_a_patch_in_the_initial_velocity_counts():
    def problem(size):
        return declare(
            rhs=lambda u: u.xx, order=2, velocity=lambda x: jnp.where(abs(x - 0.41131) < 1e-7, size, 0.0)
        )

    assert fingerprint(problem(1.0)) == fingerprint(problem(2.0))
    assert content_of(problem(1.0)) != content_of(problem(2.0))


CONSTANTS = types.ModuleType("constants")


def by_name():
    return declare(rhs=lambda u: getattr(CONSTANTS, "kappa") * u.xx)  # noqa: B009


@functools.wraps(np.array)
def in_disguise(x):
    return CONSTANTS.kappa * x


def test_what_a_module_or_a_file_holds_is_not_taken_for_known(monkeypatch):
    monkeypatch.setattr(CONSTANTS, "kappa", 0.1, raising=False)
    assert content_of(by_name()) is None

    def disguised():
        return content_of(declare(rhs=lambda u: in_disguise(u.xx)))

    before = disguised()
    assert before is not None
    monkeypatch.setattr(CONSTANTS, "kappa", 0.2)
    assert disguised() != before

    def table(x):
        return jnp.interp(x, *np.loadtxt(pathlib.Path(__file__).with_name("table.txt")))

    def imported(u):
        import constants  # pyright: ignore[reportMissingImports]

        return constants.kappa * u.xx

    monkeypatch.setattr(np, "loadtxt", lambda _: np.array([[-1.0, 1.0], [0.0, 0.0]]))
    monkeypatch.setitem(sys.modules, "constants", CONSTANTS)
    assert content_of(declare(initial=table)) is None
    assert content_of(declare(rhs=imported)) is None


@pytest.mark.parametrize("name", ["gray-scott", "schrodinger", "advection", "allen-cahn-2d", "cahn-hilliard"])
def test_the_catalogue_can_be_read(name):
    assert content_of(hc.find_problem(name)) is not None
