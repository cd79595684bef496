"""What a comparison on a grid cannot see is found by other means."""

import numpy as np
import pytest

from hcpinn import Reference, find_problem
from hcpinn.checking.resolution import early_error, early_points, wiggles

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


def test_early_points_lie_before_the_given_time_and_their_shares_give_means_over_it():
    drawn = np.random.default_rng(0).random((200_000, 2))
    points, shares = early_points(drawn, PROBLEM, until=0.01)
    assert points[:, 0].min() >= 0
    assert points[:, 0].max() <= 0.01
    np.testing.assert_array_equal(points[:, 1], drawn[:, 1])
    for power in (0, 1, 2):
        assert np.sum(shares * points[:, 0] ** power) == pytest.approx(0.01**power / (power + 1), rel=0.01)


def test_a_residual_that_lasts_for_a_while_makes_an_error_in_proportion():
    squares, shares = np.full(100, 4.0), np.full(100, 0.01)
    assert early_error(squares, shares, length=0.01, size=0.5) == pytest.approx(2.0 * 0.01 / 0.5)


def test_a_smooth_solution_has_no_wiggles_and_one_between_the_places_of_the_grid_is_measured():
    assert wiggles_of(smooth) == 0.0
    bent = wiggles_of(lambda t, x: smooth(t, x) + 0.03 * np.sin(np.pi * (x + 1) / SPACING))
    size = np.sqrt(np.mean(smooth(TIMES[:, None], PLACES) ** 2))
    assert bent == pytest.approx(0.03 / size, rel=0.1)
