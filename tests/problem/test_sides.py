"""Conditions are declared per axis, per end and per field, and every way of writing one thing means the same."""

import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.equation import fingerprint
from hcpinn.errors import ProblemError
from hcpinn.problem.sides import resolve

D, N, P = hc.Dirichlet(0.0), hc.Neumann(1.0), hc.Periodic()


def shape(boundary, axes=("x",), fields=("u",)):
    """For each axis its ends, for each end its fields, for each field the orders of its conditions."""
    return [
        [[[c.order for c in own] for own in side.conditions] for side in ends.sides]
        for ends in resolve(boundary, axes, fields)
    ]


@pytest.mark.parametrize(
    ("boundary", "expected"),
    [
        (D, [[[[0]], [[0]]]]),
        ((D, N), [[[[0]], [[1]]]]),
        ([D, N], [[[[0, 1]], [[0, 1]]]]),
        (([D, N], D), [[[[0, 1]], [[0]]]]),
        ((D, []), [[[[0]], [[]]]]),
        ({"x": (N, D)}, [[[[1]], [[0]]]]),
        (([D, hc.Derivative(0.0)], [N, hc.Linear(0.0, factors=(0, 0, 0, 1))]), [[[[0, 2]], [[1, 3]]]]),
    ],
)
def test_each_end_has_its_own_conditions(boundary, expected):
    assert shape(boundary) == expected


@pytest.mark.parametrize(
    "boundary",
    [
        {"x": ({"u": D, "v": N}, D), "y": P},
        {"x": {"u": D, "v": (N, D)}, "y": P},
        {"u": {"x": D, "y": P}, "v": {"x": (N, D), "y": P}},
    ],
)
def test_axes_ends_and_fields_may_be_named_in_any_order(boundary):
    assert shape(boundary, ("x", "y"), ("u", "v")) == [[[[0], [1]], [[0], [0]]], []]


@pytest.mark.parametrize(
    ("boundary", "message"),
    [
        ((D,), "A tuple is a pair"),
        ((D, D, D), "A tuple is a pair"),
        ((D, (D, N)), "A tuple is a pair"),
        ((D, P), r"at the upper end is Periodic\(\), which joins both ends"),
        (((hc.Dirichlet(0.0, 1.0)), hc.Dirichlet(0.0, 1.0)), "at the lower end has data for two ends"),
        ([D, P], "A list holds conditions that hold together"),
        ([D, hc.Dirichlet(1.0)], "not independent"),
        ([D, (D, N)], "written in round brackets"),
        ({"u": D, "w": D}, "names u, w, but the problem has the axes x and the fields u, v"),
        ({"u": D}, "names u, but the problem has the axes x and the fields u, v"),
        ({"u": {"u": D, "v": D}, "v": D}, "of 'u' is given by field a second time: u, v"),
        ({"x": {"u": D, "v": 3.0}}, "The boundary along x of 'v' must be Periodic"),
        ({"u": D, "v": P}, "Along x some fields are periodic and others are not"),
        ({}, "names nothing"),
        (hc.Linear(0.0, factors=(0.0, 0.0)), "finite factors, not all zero"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(boundary, message):
    with pytest.raises(ProblemError, match=message):
        resolve(boundary, ("x",), ("u", "v"))


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (lambda: hc.Robin(0.0, value=lambda t: t), "factors of a Robin condition are numbers"),
        (lambda: hc.Robin(0.0, slope="1"), "one is '1'"),
        (lambda: hc.Robin(0.0, slope=0.0), "a slope other than 0"),
        (lambda: hc.Linear(0.0, factors=(1.0, "2")), "factors of a Linear condition are numbers"),
        (lambda: hc.Linear(0.0, factors=None), "one is None"),
    ],
)
def test_factors_that_are_no_numbers_are_refused_where_they_are_given(condition, message):
    with pytest.raises(ProblemError, match=message):
        condition()


def test_factors_may_be_numbers_of_numpy_and_jax():
    assert hc.Robin(0.0, value=np.float32(2), slope=jnp.asarray(3.0)).at(0).factors == (2.0, 3.0)
    assert hc.Linear(0.0, factors=np.array([1.0, 0.5])).at(1).factors == (1.0, 0.5)


def pair(boundary, **changes):
    settings = {"rhs": lambda u, v: (u.xx, v.xx - u), "initial": (0.0, 0.0)}
    return declare(boundary=boundary, **{**settings, **changes})


def test_data_belong_to_their_field_and_their_end():
    problem = pair({"u": (hc.Neumann(1.0), hc.Neumann(2.0)), "v": hc.Robin(lambda t: t, 3.0)})
    lower, upper = (problem.boundary_values(side, jnp.asarray([0.5])) for side in problem.sides)
    np.testing.assert_allclose(np.concatenate([*lower, *upper]).ravel(), [1.0, 0.5, 2.0, 3.0])
    together = pair((hc.Neumann((1.0, 4.0)), hc.Neumann(lambda t: (t, 2 * t))))
    lower, upper = (together.boundary_values(side, jnp.asarray([0.5])) for side in together.sides)
    np.testing.assert_allclose(np.concatenate([*lower, *upper]).ravel(), [1.0, 4.0, 0.5, 1.0])
    with pytest.raises(ProblemError, match=r"give 2 values for one field"):
        pair({"u": hc.Neumann((1.0, 2.0)), "v": N})


@pytest.mark.parametrize(
    ("boundary", "message"),
    [
        ((hc.Neumann(0.0), hc.Dirichlet(1.0)), r"disagree at x = 1: u\(0, ·\) = 0 but g = 1"),
        ({"u": N, "v": (N, hc.Dirichlet(1.0))}, r"disagree at x = 1: v\(0, ·\) = 0 but g = 1"),
        ([D, N], "'u' has 4 conditions along x, but F is of order 2"),
        ((hc.Derivative(0.0), D), "uses the derivative of order 2, but F is of order 2"),
    ],
)
def test_conditions_are_checked_side_by_side(boundary, message):
    with pytest.raises(ProblemError, match=message):
        pair(boundary)


def test_complex_data_count_for_both_components():
    wave = declare(rhs=lambda u: 1j * u.xx, initial=lambda x: 0j * x, boundary=(N, hc.Neumann(1 + 2j)))
    assert wave.component_fields == (0, 0)
    upper = wave.boundary_components(wave.sides[1], jnp.zeros(1))
    assert [float(g[0]) for (g,) in upper] == [1.0, 2.0]


def test_equal_statements_have_equal_fingerprints():
    same = [pair(b) for b in ((N, N), N, {"x": N}, {"u": N, "v": N}, hc.Neumann((1.0, 1.0)))]
    same += [pair(hc.Linear(1.0, factors=(0, 1))), pair(hc.Derivative(1.0, order=1))]
    assert len({fingerprint(p) for p in same}) == 1
    others = [pair(b) for b in ((N, D), (D, N), {"u": N, "v": D}, {"u": D, "v": N}, (N, []), [])]
    assert len({fingerprint(p) for p in [*others, same[0]]}) == 7
