"""Sensitivities: exact derivatives of the discrete solution by parameters, wherever these enter."""

import numpy as np
import pytest

import hcpinn as hc
from hcpinn.evolution.sensitivity import Opened, make_frame
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
    "values and slopes around a ring": hc.Problem(
        domain=hc.Disk((0, 0), 1.0) - hc.Disk((0, 0), 0.5),
        horizon=0.2,
        boundary={
            "disk": hc.Dirichlet(lambda t, x, b: b * x * t),
            "disk2": hc.Neumann(lambda t, x, b, k: k * b * x * t),
        },
        rhs=lambda u, k: k * u.laplacian,
        initial=lambda x, y, a: a * (1 - x**2 - y**2) * (1 - 4 * (x**2 + y**2)) ** 2,
        parameters={"k": 0.3, "b": 0.7, "a": 1.2},
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
    places = problem.domain.inside(rng.random((40, problem.domain.dimension)))
    points = np.column_stack([rng.uniform(0, problem.horizon, len(places)), places])
    still = (0,) * len(problem.space)
    wanted = ((0, *still), (0, 1, *still[1:]), (1, *still))
    with double():
        method = hc.Evolution(features=60)
        frame, _ = make_frame(Opened(problem, named, theta), problem, theta, accuracy=1e-4, method=method)
        places = frame.places(points, wanted)
        along = rng.standard_normal(len(theta))
        slopes = frame.solve(theta, tolerance=1e-7).slopes(places) @ along
        above, below = (
            frame.solve(theta + 1e-3 * sign * along, tolerance=1e-8, slopes=False).at(places)
            for sign in (1, -1)
        )
    difference = (above - below) / 2e-3
    assert np.linalg.norm(difference - slopes) < 1e-4 * np.linalg.norm(difference)
