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
        ({"initial": lambda x: jnp.ones((3, *x.shape))}, "function of x that works elementwise"),
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
        ({"boundary": hc.Periodic}, "Check the parentheses"),
        ({"boundary": hc.Dirichlet(0.5)}, r"disagree at x = -1: u\(0, ·\) = -1 but g = 0.5"),
        ({"boundary": hc.Dirichlet(lambda t: -1 / (1 - t))}, "lower end of x are not finite at t = 1"),
        ({"boundary": hc.Dirichlet((-1.0, -1.0))}, r"give 2 value\(s\) for 1 field"),
        (
            {"boundary": hc.Neumann(lambda t: 1 / (1 - t))},
            "Neumann data for 'u' at the lower end of x are not finite at t = 1",
        ),
        (
            {"boundary": hc.Robin(0.0, lambda t: jnp.sqrt(t - 0.5))},
            "Robin data for 'u' at the upper end of x are not finite at t = 0",
        ),
        (
            {"boundary": hc.Neumann((0.0, 1.0))},
            r"Neumann data at the lower end of x give 2 value\(s\) for 1 field",
        ),
        (
            {"boundary": hc.Neumann(lambda s: s)},
            "Neumann data at the lower end of x takes an argument 's' that means nothing here",
        ),
        ({"boundary": hc.Neumann}, "Check the parentheses"),
        ({"boundary": 0.0}, r"Periodic\(\), Dirichlet\(g\), Neumann\(g\) or Robin\(g\)"),
        ({"start": float("inf")}, "start must be a finite time, but is inf"),
        ({"start": float("nan")}, "start must be a finite time, but is nan"),
        ({"start": "now"}, "start must be a finite time, but is 'now'"),
        ({"start": 1.0}, "horizon must be a finite time after the start, t = 1, but is 1.0"),
        ({"start": 0.5, "horizon": 0.25}, "after the start, t = 0.5, but is 0.25"),
        ({"start": 0.5, "initial": lambda x: 1 / x}, r"not finite: u\(0.5, 0\) = inf"),
        (
            {"start": 0.5, "boundary": hc.Dirichlet(lambda t: -t)},
            r"u\(0.5, ·\) = -1 but g = -0.5 there at t = 0.5",
        ),
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
        ({"boundary": {"x": hc.Periodic()}}, "names x, but the problem has the axes x, y"),
        ({"boundary": {"x": hc.Periodic(), "y": 0.0}}, r"along y must be Periodic\(\), Dirichlet\(g\)"),
        ({"boundary": {"x": hc.Periodic(), "y": hc.Dirichlet(0.0)}}, "disagree at x = .*, y = 0"),
        (
            {
                "boundary": {"x": hc.Dirichlet(lambda t: t), "y": hc.Dirichlet(0.0)},
                "initial": lambda x, y: jnp.sin(jnp.pi * x) * jnp.sin(jnp.pi * y),
            },
            "'x.lower' and 'y.lower' meet, at x = 0, y = 0: 1 and 0 at t = 1",
        ),
        ({"rhs": lambda u: u.z}, "only the space axes x, y"),
        (
            {"boundary": {"x": hc.Neumann(lambda t, y: y / t), "y": hc.Periodic()}},
            "Neumann data for 'u' at the lower end of x are not finite at t = 0",
        ),
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


def test_the_horizon_can_be_set_like_a_parameter():
    whole = hc.find_problem("advection")
    half = whole.with_parameters(horizon=0.5)
    assert (half.horizon, dict(half.parameters)) == (0.5, {"c": 60.0, "horizon": 0.5})
    # What is known of it by its parameters leads to it again.
    again = whole.with_parameters(**half.with_parameters(c=30.0).parameters)
    assert (again.horizon, again.parameters["c"]) == (0.5, 30.0)
    with pytest.raises(ProblemError, match="finite time"):
        whole.with_parameters(horizon=-1.0)


def test_a_horizon_among_the_parameters_must_be_the_problems():
    with pytest.raises(ProblemError, match="ends at horizon = 1, but its parameters say 3"):
        declare(horizon=1.0, parameters={"horizon": 3.0})


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
    problem, t = declare_dirichlet(), jnp.asarray([0.0, 0.5])
    (lower,), (upper,) = (problem.boundary_values(side, t) for side in problem.sides)
    np.testing.assert_allclose(lower[0], [1.0, 1.5])
    np.testing.assert_allclose(upper[0], [0.0, np.cos(0.5) - 1])


@pytest.mark.parametrize(
    ("value", "slope"), [(1.0, 0.0), (float("nan"), 1.0), (1.0, float("inf")), (float("inf"), 1.0)]
)
def test_robin_factors_are_finite_and_have_a_slope(value, slope):
    with pytest.raises(
        ProblemError, match=r"needs a slope other than 0.*Dirichlet\(…\)|are numbers, but one is (nan|inf)"
    ):
        hc.Robin(0.0, value=value, slope=slope)


@pytest.mark.parametrize(
    "condition",
    [
        lambda: hc.Robin(0.0, value=hc.Unknown(1.0)),  # type: ignore[arg-type]
        lambda: hc.Linear(0.0, factors=(lambda t: t, 1.0)),  # type: ignore[arg-type]
    ],
)
def test_factors_are_numbers(condition):
    with pytest.raises(ProblemError, match=r"are numbers, but one is .*guide on fits"):
        condition()


def test_slopes_need_not_suit_the_initial_data_as_values_must():
    """cos(πx) has no slope at ±1, and its value there is −1."""
    declare(boundary=hc.Neumann(1.0))
    declare(boundary=hc.Robin(lambda t: 3 + t, value=2.0))
    with pytest.raises(ProblemError, match="disagree"):
        declare(boundary=hc.Dirichlet(1.0))


def test_all_conditions_are_sums_of_outward_derivatives():
    conditions = (hc.Dirichlet(0.0), hc.Neumann(0.0), hc.Robin(0.0), hc.Robin(0.0, value=-2, slope=3))
    assert [c.coefficients for c in conditions] == [(1,), (0, 1), (1, 1), (-2, 3)]


@pytest.mark.parametrize("kind", [hc.Neumann, hc.Robin])
def test_slopes_are_data_as_values_are(kind):
    """One function for both ends, parameters and positions along the face, one item per field."""
    problem = plane(
        boundary={"x": kind(lambda t, y, a: a * t * y, (1.0,)), "y": hc.Periodic()}, parameters={"a": 3.0}
    )
    t, y = jnp.asarray([0.5, 1.0]), jnp.asarray([1.0, 2.0])
    (lower,), (upper,) = (problem.boundary_values(side, t, [y]) for side in problem.sides)
    np.testing.assert_allclose(lower[0], [1.5, 6.0])
    np.testing.assert_allclose(upper[0], [1.0, 1.0])
    problem = plane(boundary=kind(lambda t: t))
    for side in problem.sides:
        np.testing.assert_allclose(problem.boundary_values(side, t, [y])[0][0], t)


def test_a_problem_lasts_from_its_start_to_its_horizon():
    problem = declare(start=-1.5, horizon=-0.5)
    assert problem.duration == 1.0
    assert declare(horizon=2.0).duration == 2.0
    assert problem.with_parameters().start == -1.5
    assert problem.with_parameters().duration == 1.0


def test_a_restarted_problem_is_the_same_with_another_start():
    problem = declare(rhs=lambda u, t, c: c * t * u.xx, parameters={"c": 0.5})
    later = problem.restarted(0.25, 0.75, lambda space: [jnp.sin(jnp.pi * space[0])])
    assert (later.start, later.horizon, later.duration) == (0.25, 0.75, 0.5)
    assert (problem.start, problem.horizon) == (0.0, 1.0)
    x = jnp.linspace(-1, 1, 5)
    np.testing.assert_allclose(later.initial_values([x])[0], np.sin(np.pi * x))
    np.testing.assert_allclose(problem.initial_values([x])[0], np.cos(np.pi * x))
    for each in (problem, later):
        (rate,) = each.evaluate_rhs(lambda n, i: x, [0 * x + 0.3, x])
        np.testing.assert_allclose(rate, 0.15 * x)
    assert later.fields == problem.fields
    assert later.derivatives == problem.derivatives


def test_systems_and_complex_fields_have_named_components():
    system = declare(rhs=lambda u, v: (u.xx + v, -v), initial=lambda x: (jnp.cos(jnp.pi * x), 0.0))
    assert system.components == ("u", "v")
    wave = declare(rhs=lambda u: 1j * u.xx)
    assert wave.components == ("real(u)", "imag(u)")
    values = [jnp.asarray([1 + 2j, 3.0])]
    np.testing.assert_allclose(wave.to_fields(wave.to_components(values))[0], values[0])


def test_a_parameter_that_is_zero_may_still_vary():
    problem = hc.Problem(
        domain=hc.Interval(0, 1),
        horizon=1.0,
        rhs=lambda u, v: u.xx - v * u.x,
        initial=lambda x: jnp.sin(2 * jnp.pi * x),
        parameters={"v": 0.0},
    )
    assert problem.derivatives == ((0, 0), (0, 2))
    assert problem.varying(["v"]).derivatives == ((0, 0), (0, 1), (0, 2))
