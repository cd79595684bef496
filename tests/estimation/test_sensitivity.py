"""Sensitivities: exact derivatives of the discrete solution by parameters, wherever these enter."""

import numpy as np
import pytest

import hcpinn as hc
from hcpinn.evolution.sensitivity import Opened, Places, make_frame
from hcpinn.machine.precision import double

PROBLEMS = {
    "source and walls": hc.Problem(
        domain=hc.Interval(0, 1),
        horizon=0.5,
        boundary=(hc.Dirichlet(lambda t, b: b * np.sin(t)), hc.Neumann(lambda t, b: b * t)),
        rhs=lambda u, x, k, b: k * u.xx - u**2 + b * np.sin(3 * x),
        initial=lambda x, a: a * x * (1 - x / 2) ** 2 * (2 - x),
        parameters={"k": 0.1, "b": 0.7, "a": 0.0},
    ),
    "second order in time": hc.Problem(
        domain=hc.Interval(-1, 1),
        horizon=0.5,
        order=2,
        rhs=lambda u, k, b: k * u.xx - b * u.t,
        initial=lambda x, a: a * np.cos(np.pi * x),
        velocity=lambda x, a: a**2 * np.sin(np.pi * x),
        parameters={"k": 1.0, "b": 0.7, "a": 1.2},
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_slopes_are_those_of_differences(name):
    problem = PROBLEMS[name]
    names = list(problem.parameters)
    theta = np.array(list(problem.parameters.values()), float)

    def named(z):
        return dict(zip(names, z, strict=True))

    rng = np.random.default_rng(0)
    low, high = problem.domain.bounds[0]
    points = np.column_stack([rng.uniform(0, problem.horizon, 40), rng.uniform(low, high, 40)])
    with double():
        frame, _ = make_frame(Opened(problem, named, theta), problem, theta, accuracy=1e-4)
        places = Places(frame, points, ((0, 0), (0, 1)))
        along = rng.standard_normal(len(theta))
        slopes = frame.solve(theta, tolerance=1e-7).slopes(places) @ along
        above, below = (
            frame.solve(theta + 1e-3 * sign * along, tolerance=1e-8, slopes=False).at(places)
            for sign in (1, -1)
        )
    difference = (above - below) / 2e-3
    assert np.linalg.norm(difference - slopes) < 1e-4 * np.linalg.norm(difference)
