"""Data that only NumPy or plain Python can evaluate are followed to rounding, and can be differentiated."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.interpolate

import hcpinn as hc
from declarations import declare
from hcpinn.errors import ProblemError
from hcpinn.problem.tabulated import Tabulated, knots

X = np.linspace(-1.0, 1.0, 12)
SPLINE = scipy.interpolate.CubicSpline(X, np.cos(2 * X) - math.cos(2))
PLACES = np.linspace(-0.999, 0.999, 101)


def table(function):
    return Tabulated(function, -1.0, 1.0, "initial", knots=knots(function))


@pytest.mark.parametrize(
    ("function", "most"),
    [
        (SPLINE, 11),
        (scipy.interpolate.make_interp_spline(X, np.cos(2 * X)), 11),
        (lambda x: SPLINE(x) + 1.0, 11),
        (lambda x: math.exp(-(x**2)), 4),
        (lambda x: math.exp(-((x / 0.01) ** 2)), 60),
        (lambda x: abs(x - 0.3), 80),
        (lambda x: 1.0 if x < 0.3 else 0.0, 80),
        (lambda x: complex(math.cos(x), x), 4),
    ],
    ids=["spline", "b-spline", "lambda", "smooth", "narrow", "kink", "jump", "complex"],
)
def test_it_follows_the_function_to_rounding(function, most):
    own = table(function)
    exact = np.array([function(x) for x in PLACES])
    assert own.intervals <= most
    assert np.abs(np.asarray(jax.jit(own)(PLACES)) - exact).max() < 1e-12


def test_its_derivatives_are_those_of_the_spline():
    own, at = table(SPLINE), jnp.asarray(PLACES)
    for order in (1, 2):
        derivative = own
        for _ in range(order):
            derivative = jax.grad(derivative)
        assert np.asarray(jax.vmap(derivative)(at)) == pytest.approx(SPLINE(PLACES, order), abs=1e-8)


def test_what_varies_too_much_is_refused():
    with pytest.raises(ProblemError, match="varies too much"):
        table(lambda x: math.sin(1e5 * x))


HELD = {"boundary": hc.Dirichlet(lambda t: 1e-3 * math.sin(t)), "rhs": lambda u: 0.1 * u.xx}


def test_a_problem_takes_them_as_data_and_says_so():
    problem = declare(initial=SPLINE, **HELD)
    assert len(problem.tables) == 2  # both walls share theirs
    assert "interpolated to rounding along x" in problem.notes[0]
    values = jax.jit(lambda x: problem.initial_values([x])[0])(PLACES)
    assert np.asarray(values) == pytest.approx(SPLINE(PLACES), abs=1e-12)


def test_what_jax_can_trace_stays_as_it_is():
    problem = declare(initial=lambda x: np.cos(np.pi * x), rhs=lambda u: u.xx)
    assert problem.tables == ()
    assert problem.notes == ()


def test_a_solution_from_a_spline_says_what_was_made_of_it():
    solution = hc.solve(declare(initial=SPLINE, **HELD), accuracy=1e-2, reference=False, progress=False)
    assert solution(0.0, 0.37) == pytest.approx(SPLINE(0.37), abs=1e-6)
    assert any("interpolated to rounding" in note for note in solution.notes)


def test_a_function_of_a_parameter_has_to_be_written_elementwise():
    with pytest.raises(ProblemError, match="depends on x and nu"):
        declare(initial=lambda x, nu: math.exp(nu * x), parameters={"nu": 1.0})


def test_arguments_with_defaults_may_be_left_out():
    problem = declare(
        initial=lambda x, power=2: np.cos(np.pi * x) ** power, rhs=lambda u, speed=3.0: speed * u.xx
    )
    assert problem.fields == ("u",)
    assert float(problem.initial_values([jnp.asarray(0.5)])[0]) == pytest.approx(0.0, abs=1e-30)
    assert problem.evaluate_rhs(lambda field, index: 2.0, [jnp.zeros(1)] * 2) == [6.0]
