"""What a comparison on a grid cannot see is found by other means."""

import numpy as np
import pytest

from hcpinn import Reference, find_problem
from hcpinn.checking.resolution import start_error, wiggles

PROBLEM = find_problem("allen-cahn-2")
TIMES, PLACES = np.linspace(0, 1, 11), np.linspace(-1, 1, 201)
SPACING = PLACES[1] - PLACES[0]


def smooth(t, x):
    return np.cos(np.pi * x) * np.exp(-t)


def on_grid(function):
    return lambda times, places: {"u": function(*np.meshgrid(times, places, indexing="ij"))}


def wiggles_of(function):
    values = on_grid(smooth)(TIMES, PLACES)
    reference = Reference(
        problem_name="allen-cahn-2",
        times=TIMES,
        coordinates=(PLACES,),
        values=values,
        error_estimate=1e-9,
        solver="exact",
    )
    return wiggles(on_grid(function), on_grid(function)(TIMES, PLACES), reference)


@pytest.mark.parametrize("power", [0, 1, 2])
def test_a_residual_makes_an_start_error_in_proportion_to_its_mean_over_the_first_moments(power):
    """|r|² = 4 (t / 0.01)ᵖ has the mean 4 / (p + 1) before t = 0.01."""
    seen = []

    def squares(points):
        seen.append(points)
        return 4.0 * (points[:, 0] / 0.01) ** power

    found = start_error(squares, PROBLEM, until=0.01, size=0.5)
    assert found == pytest.approx(0.01 * np.sqrt(4.0 / (power + 1)) / 0.5, rel=0.01)
    [points] = seen
    assert 0 <= points[:, 0].min() < points[:, 0].max() <= 0.01
    assert np.median(points[:, 0]) < 0.004  # they crowd towards the start


def test_a_smooth_solution_has_no_wiggles_and_one_between_the_places_of_the_grid_is_measured():
    assert wiggles_of(smooth) == 0.0
    bent = wiggles_of(lambda t, x: smooth(t, x) + 0.03 * np.sin(np.pi * (x + 1) / SPACING))
    size = np.sqrt(np.mean(smooth(TIMES[:, None], PLACES) ** 2))
    assert bent == pytest.approx(0.03 / size, rel=0.1)
