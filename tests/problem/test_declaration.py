"""A declaration is checked before any work starts, and refused in a sentence."""

import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare, declare_dirichlet
from hcpinn.errors import ProblemError, UnknownNameError


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizon": 0.0}, "horizon must be a positive, finite time"),
        ({"horizon": float("nan")}, "horizon must be a positive, finite time"),
        (
            {"initial": lambda x: x},
            r"not periodic along x: they are -1 at x = -1 and 1 at the other end, x = 1",
        ),
        ({"initial": lambda x: 1 / x}, r"not finite: u\(0, 0\) = inf"),
        ({"initial": lambda x: (x, x)}, r"initial gives 2 value\(s\), but rhs has 1 field"),
        ({"initial": lambda x: jnp.ones((3, *x.shape))}, "It must work elementwise"),
        ({"initial": lambda q: q}, "an argument 'q' that means nothing here"),
        ({"initial": lambda *x: x}, "Name its arguments"),
        ({"rhs": lambda u, v: u.xx}, r"rhs has 2 field\(s\): u, v"),
        ({"rhs": lambda u: (u, u)}, r"rhs returned 2 value\(s\) for 1 field"),
        ({"rhs": lambda u: u.xxxxxxx}, "order 7; the highest supported order is 6"),
        ({"rhs": lambda u: u.yy}, "only the space axes x"),
        ({"rhs": lambda u: u.t}, "cannot use time derivatives"),
        ({"rhs": lambda u: jnp.sin(u)}, r"np\.sin\(u\) in place of jnp\.sin\(u\)"),
        ({"rhs": lambda u: u if u else 0 * u}, "branches on the value of a field"),
        ({"rhs": lambda u: u.wiggle}, "not a derivative"),
        ({"rhs": lambda u: u.x + 1 / 0}, "ZeroDivisionError"),
        ({"rhs": lambda x: x}, "no field among its arguments"),
        ({"rhs": 3.0}, "rhs must be a function"),
        ({"domain": (-1, 1)}, "domain must be an Interval"),
        ({"boundary": hc.Periodic}, "Mind the parentheses"),
        ({"boundary": hc.Dirichlet(0.5)}, r"disagree at x = -1: u\(0, ·\) = -1 but g = 0.5"),
        ({"boundary": hc.Dirichlet(lambda t: -1 / (1 - t))}, "lower end of x are not finite at t = 1"),
        ({"boundary": hc.Dirichlet((-1.0, -1.0))}, r"give 2 value\(s\) for 1 field"),
        ({"parameters": {"c": float("nan")}}, "'c' must be a finite number"),
        ({"parameters": {"x": 1.0}}, "which names a coordinate"),
    ],
)
def test_bad_declarations_are_refused(changes, message):
    with pytest.raises(ProblemError, match=message):
        declare(**changes)


@pytest.mark.parametrize("ends", [(1, 1), (1, -1), (0, float("inf"))])
def test_intervals_have_a_length(ends):
    with pytest.raises(ProblemError, match="along x"):
        hc.Interval(*ends)


def plane(**changes):
    settings = {
        "domain": hc.Box((0, 1), (0, 2)),
        "rhs": lambda u: u.laplacian,
        "initial": lambda x, y: jnp.sin(2 * jnp.pi * x) * jnp.cos(jnp.pi * y),
    }
    return declare(**{**settings, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"domain": hc.Interval(0, 1)}, "'y' that means nothing here"),
        ({"initial": lambda x, y: jnp.sin(2 * jnp.pi * x) * y}, "not periodic along y"),
        ({"boundary": {"x": hc.Periodic()}}, "names the axes x, but the domain has x, y"),
        ({"boundary": {"x": hc.Periodic(), "y": 0.0}}, r"along y must be Periodic\(\) or Dirichlet"),
        ({"boundary": {"x": hc.Periodic(), "y": hc.Dirichlet(0.0)}}, "disagree at x = .*, y = 0"),
        (
            {
                "boundary": {"x": hc.Dirichlet(lambda t: t), "y": hc.Dirichlet(0.0)},
                "initial": lambda x, y: jnp.sin(jnp.pi * x) * jnp.sin(jnp.pi * y),
            },
            "faces of x and y meet: 1 and 0 at t = 1",
        ),
        ({"rhs": lambda u: u.z}, "only the space axes x, y"),
    ],
)
def test_bad_declarations_in_the_plane_are_refused(changes, message):
    with pytest.raises(ProblemError, match=message):
        plane(**changes)


def test_boxes_have_one_to_three_dimensions():
    for bounds in ((), ((0, 1),) * 4, ((0, 1), 2)):
        with pytest.raises(ProblemError, match="box"):
            hc.Box(*bounds)


def test_mixed_derivatives_are_found():
    assert set(plane(rhs=lambda u: u.xy + u.laplacian).derivatives) == {
        (0, 0, 0),
        (0, 1, 1),
        (0, 2, 0),
        (0, 0, 2),
    }


def test_an_unknown_parameter_gets_the_nearest_name():
    with pytest.raises(UnknownNameError, match="Did you mean 'gamma2'"):
        hc.find_problem("allen-cahn-1").with_parameters(gama2=1.0)


def test_parameters_reach_the_equation():
    problem = hc.find_problem("allen-cahn-1").with_parameters(gamma2=0.0)
    ones = jnp.ones(3)
    np.testing.assert_allclose(problem.evaluate_rhs(lambda n, i: 2 * ones, [ones, ones])[0], 2e-3 * ones)


def test_problems_cannot_be_changed_by_accident():
    problem = hc.find_problem("allen-cahn-1")
    with pytest.raises(TypeError):
        problem.parameters["gamma2"] = 1.0  # type: ignore[index]


def test_data_may_use_numpy_or_jax():
    x = jnp.linspace(-1, 1, 5)
    by_numpy = declare(initial=lambda x: np.cos(np.pi * x)).initial_values([x])[0]
    by_jax = declare(initial=lambda x: jnp.cos(jnp.pi * x)).initial_values([x])[0]
    np.testing.assert_allclose(by_numpy, by_jax, rtol=1e-15)


def test_boundary_data_differ_between_the_ends():
    lower, upper = declare_dirichlet().boundary_values(jnp.asarray([0.0, 0.5]))
    np.testing.assert_allclose(lower[0], [1.0, 1.5])
    np.testing.assert_allclose(upper[0], [0.0, np.cos(0.5) - 1])


def test_systems_and_complex_fields_have_named_components():
    system = declare(rhs=lambda u, v: (u.xx + v, -v), initial=lambda x: (jnp.cos(jnp.pi * x), 0.0))
    assert system.components == ("u", "v")
    wave = declare(rhs=lambda u: 1j * u.xx)
    assert wave.components == ("real(u)", "imag(u)")
    values = [jnp.asarray([1 + 2j, 3.0])]
    np.testing.assert_allclose(wave.to_fields(wave.to_components(values))[0], values[0])
