"""Conditions close a system where as many values are given at each end as waves enter there."""

import inspect
import re

import pytest

import hcpinn as hc
from hcpinn.equation import unclosed

VALUE, SLOPE, NONE = hc.Dirichlet(0.0), hc.Neumann(0.0), []
LOWER, UPPER, BOTH, FREE = (VALUE, NONE), (NONE, VALUE), (VALUE, VALUE), (NONE, NONE)


def said(rhs, boundary, initial=0.0):
    fields = [name for name in inspect.signature(rhs).parameters if name != "x"]
    return unclosed(
        hc.Problem(
            domain=hc.Interval(-1, 1),
            horizon=1.0,
            rhs=rhs,
            boundary=boundary,
            initial=(initial,) * len(fields),
        ),
        0,
    )


WAVE = lambda a, b: (b.x, a.x)


@pytest.mark.parametrize(
    ("rhs", "boundary"),
    [
        (lambda u: u.xx, BOTH),
        (lambda u: u.xx, (VALUE, SLOPE)),
        (lambda u: -u.x, LOWER),
        (lambda u: u.x, UPPER),
        (lambda u, x: -x * u.x, FREE),
        (lambda u, x: x * u.x, BOTH),
        (WAVE, {"a": BOTH, "b": FREE}),
        (WAVE, {"a": LOWER, "b": UPPER}),
        (lambda a, b: (-a.x, b.x), {"a": LOWER, "b": UPPER}),
        (lambda a, b: (1j * a - b.x, -a.x), {"a": BOTH, "b": FREE}),
        (lambda v, w: (v.xx - w, v - w), {"v": (SLOPE, SLOPE), "w": FREE}),
        (lambda v, w: (v.xx - w, v - w), (SLOPE, SLOPE)),
        (lambda u, p: (u.xx - p.x, -u.x), {"u": BOTH, "p": FREE}),
        (lambda u, v: (u.xx, -v.x + u), {"u": (VALUE, SLOPE), "v": LOWER}),
    ],
)
def test_enough_conditions(rhs, boundary):
    assert said(rhs, boundary) is None


@pytest.mark.parametrize(
    ("rhs", "boundary", "sentence"),
    [
        (lambda u: u.xx, LOWER, "takes 2 conditions on 'u' at the two ends together, but it has 1"),
        (lambda u: -u.x, FREE, "at the lower end of x as waves enter there, which are 1, but 0 are given"),
        (lambda u: -u.x, UPPER, "at the lower end of x as waves enter there, which are 1, but 0"),
        (lambda u: -u.x, BOTH, "at the upper end of x as waves enter there, which are 0, but 1"),
        (WAVE, (VALUE, VALUE), "'a' and 'b' take as many values at the lower end .* 1, but 2 are given"),
        (lambda a, b: (-a.x, b.x), {"a": UPPER, "b": LOWER}, "do not tell the waves that enter apart"),
        (lambda a, b: (b.x, -a.x), {"a": BOTH, "b": FREE}, "no real speeds: the equation is ill-posed"),
        (lambda u, v: (u.xx, -v.x), {"u": BOTH, "v": (SLOPE, NONE)}, "only values of 'v' can be given"),
        (lambda u, v: (u.xx, -v.x), {"u": LOWER, "v": LOWER}, "takes 2 conditions on 'u'"),
    ],
)
def test_too_few_or_too_many(rhs, boundary, sentence):
    assert re.search(sentence, said(rhs, boundary))


def test_the_state_at_the_start_decides_where_speeds_depend_on_it():
    burgers = lambda u: -u * u.x
    enters = (hc.Dirichlet(1.0), [])
    assert said(burgers, enters, 1.0) is None
    assert said(burgers, enters, lambda x: 2 + x) is None
    assert "upper end of x as waves enter there, which are 1" in said(burgers, enters, lambda x: -x)


def test_faces_of_a_box_are_judged_one_by_one():
    rhs = lambda p, u, v: (-u.x - v.y, -p.x, -p.y)
    boundary = {
        "p": {"x": FREE, "y": FREE},
        "u": {"x": BOTH, "y": FREE},
        "v": {"x": FREE, "y": BOTH},
    }
    box = hc.Box((0, 1), (0, 1))
    problem = hc.Problem(domain=box, horizon=1.0, rhs=rhs, boundary=boundary, initial=(0.0,) * 3)
    assert [unclosed(problem, axis) for axis in (0, 1)] == [None, None]
    boundary["v"]["y"] = LOWER
    problem = hc.Problem(domain=box, horizon=1.0, rhs=rhs, boundary=boundary, initial=(0.0,) * 3)
    assert unclosed(problem, 0) is None
    assert "upper end of y" in unclosed(problem, 1)
