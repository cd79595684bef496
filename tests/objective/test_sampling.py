"""Points fill the domain evenly, and randomness is split by seed and purpose."""

import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.errors import UnknownNameError
from hcpinn.objective import sampling

PROBLEM = declare(
    domain=hc.Interval(-2, 5),
    horizon=3.0,
    rhs=lambda u: u.xx,
    initial=lambda x: np.cos(2 * np.pi * (x + 2) / 7),
)
LOW, HIGH = np.array([0.0, -2.0]), np.array([3.0, 5.0])


@pytest.mark.parametrize("count", [1, 7, 250])
def test_a_latin_hypercube_has_one_point_in_every_stratum_of_every_axis(count):
    points = sampling.interior(PROBLEM, count, seed=0)
    strata = np.floor((points - LOW) / (HIGH - LOW) * count)
    for axis in range(2):
        assert sorted(strata[:, axis]) == list(range(count))


@pytest.mark.parametrize("sampler", sampling.SAMPLERS)
@pytest.mark.parametrize("count", [1, 100, 129])
def test_points_lie_inside_the_domain(sampler, count):
    points = sampling.interior(PROBLEM, count, seed=3, sampler=sampler)
    assert points.shape == (count, 2)
    assert points.dtype == np.float64
    assert (points >= LOW).all()
    assert (points <= HIGH).all()
    assert len(np.unique(points, axis=0)) == count


def test_points_lie_between_the_start_and_a_share_of_the_duration():
    problem = declare(start=2.0, horizon=6.0)
    whole = sampling.interior(problem, 64, seed=0)
    half = sampling.interior(problem, 64, seed=0, until=0.5)
    assert sorted(np.floor((whole[:, 0] - 2.0) / 4.0 * 64)) == list(range(64))
    assert sorted(np.floor((half[:, 0] - 2.0) / 2.0 * 64)) == list(range(64))
    np.testing.assert_allclose(half[:, 0] - 2.0, (whole[:, 0] - 2.0) / 2, rtol=1e-13)
    np.testing.assert_array_equal(half[:, 1], whole[:, 1])


PLANE = declare(
    domain=hc.Box((0, 1), (-2, 2)),
    start=0.5,
    horizon=2.0,
    rhs=lambda u: u.laplacian,
    initial=lambda x, y: np.cos(2 * np.pi * x),
)


def on_face(part, count, purpose="walls"):
    """Points on a part of the boundary, or at the start."""
    if part == "start":
        return sampling.at_start(PLANE, count, seed=0, purpose=purpose)
    return sampling.on_parts(PLANE, [part], count, seed=0, purpose=purpose)[0]


@pytest.mark.parametrize(
    ("part", "axis", "value"),
    [("start", 0, 0.5), ("x.lower", 1, 0.0), ("x.upper", 1, 1.0), ("y.upper", 2, 2.0)],
)
@pytest.mark.parametrize("count", [1, 30])
def test_points_of_a_face_fill_it(part, axis, value, count):
    low, high = np.array([0.5, 0.0, -2.0]), np.array([2.0, 1.0, 2.0])
    points = on_face(part, count)
    assert points.shape == (count, 3)
    np.testing.assert_array_equal(points[:, axis], value)
    for other in {0, 1, 2} - {axis}:
        strata = np.floor((points[:, other] - low[other]) / (high - low)[other] * count)
        assert sorted(strata) == list(range(count))
    np.testing.assert_array_equal(points, on_face(part, count))
    assert (points != on_face(part, count, "windows")).any()


def test_opposite_faces_get_the_same_points():
    lower, upper = sampling.on_parts(PLANE, ("y.lower", "y.upper"), 9, seed=0, purpose="walls")
    np.testing.assert_array_equal(lower[:, :2], upper[:, :2])


def test_points_by_residual_are_drawn_in_proportion_to_one_plus_its_share_of_the_mean():
    candidates = np.arange(5.0)[:, None] * np.ones(2)
    squares = np.array([0.0, 1.0, 4.0, 1.0, 16.0])
    odds = 1 + np.sqrt(squares) / np.sqrt(squares).mean()
    draws = [sampling.by_residual(candidates, squares, 1, seed=s, purpose="more")[0, 0] for s in range(4000)]
    share = np.bincount(np.int64(draws), minlength=5) / 4000
    np.testing.assert_allclose(share, odds / odds.sum(), atol=4 * np.sqrt(0.25 / 4000))
    assert share[0] > 0.05  # where the residual vanishes, points are still drawn


def test_points_by_residual_are_candidates_none_of_them_twice():
    candidates = sampling.interior(PROBLEM, 300, seed=0)
    squares = np.exp(-50 * (candidates[:, 1] - 2) ** 2)
    chosen = sampling.by_residual(candidates, squares, 100, seed=0, purpose="more")
    rows = {tuple(row) for row in chosen}
    assert len(rows) == len(chosen) == 100
    assert rows <= {tuple(row) for row in candidates}
    near = lambda points: np.mean(np.abs(points[:, 1] - 2) < 0.3)
    assert near(chosen) > 2 * near(candidates)
    again, other = (sampling.by_residual(candidates, squares, 100, seed=s, purpose="more") for s in (0, 1))
    np.testing.assert_array_equal(chosen, again)
    assert {tuple(row) for row in other} != rows


@pytest.mark.parametrize("squares", [np.zeros(8), np.array([np.nan, np.inf, 1, 1, 1, 1, 1, 1])])
def test_points_by_residual_survive_residuals_that_vanish_or_overflow(squares):
    candidates = np.arange(8.0)[:, None]
    assert len(sampling.by_residual(candidates, squares, 8, seed=0, purpose="more")) == 8


@pytest.mark.parametrize("sampler", ["latin-hypercube", "sobol"])
def test_space_filling_points_integrate_better_than_chance(sampler):
    def error(points):
        t, x = ((points - LOW) / (HIGH - LOW)).T
        return abs(np.mean(np.exp(t) + x**2) - (np.e - 1 + 1 / 3))

    chance = np.mean([error(sampling.interior(PROBLEM, 256, seed=s, sampler="uniform")) for s in range(20)])
    filling = np.mean([error(sampling.interior(PROBLEM, 256, seed=s, sampler=sampler)) for s in range(20)])
    assert filling < chance / 5


@pytest.mark.parametrize("sampler", sampling.SAMPLERS)
def test_seed_and_purpose_decide_the_points(sampler):
    def draw(**changes):
        return sampling.interior(PROBLEM, 64, **{"seed": 1, "sampler": sampler, **changes})

    assert draw().tobytes() == draw().tobytes()
    others = [draw(seed=2), draw(purpose="check"), draw(seed=2, purpose="check")]
    for i, one in enumerate([draw(), *others]):
        for two in others[i:]:
            assert not np.isin(one, two).any()


def test_named_streams_are_uncorrelated():
    streams = np.stack(
        [
            sampling.generator(seed, name).standard_normal(4000)
            for seed in (0, 1)
            for name in ("network", "interior", "check")
        ]
    )
    correlation = np.corrcoef(streams) - np.eye(len(streams))
    assert np.abs(correlation).max() < 0.08


def test_the_nearest_point_is_found_with_all_axes_of_one_length():
    old, new = (sampling.interior(PROBLEM, 60, seed=seed) for seed in (0, 1))
    one, other = (points / np.ptp(old, axis=0) for points in (old, new))
    distances = np.linalg.norm(other[:, None] - one[None], axis=-1)
    np.testing.assert_array_equal(sampling.nearest(old, new), distances.argmin(axis=1))
    stretched = old * [1.0, 1000.0], new * [1.0, 1000.0]
    np.testing.assert_array_equal(sampling.nearest(*stretched), sampling.nearest(old, new))
    np.testing.assert_array_equal(sampling.nearest(old, old), np.arange(60))


def test_points_of_one_time_are_told_apart_by_place():
    old = np.array([[0.0, 0.1], [0.0, 0.9]])
    np.testing.assert_array_equal(sampling.nearest(old, np.array([[0.0, 0.8], [0.0, 0.2]])), [1, 0])


def test_an_unknown_sampler_gets_the_nearest_name():
    with pytest.raises(UnknownNameError, match=r"There is no sampler 'sobel'\. Did you mean 'sobol'"):
        sampling.interior(PROBLEM, 4, seed=0, sampler="sobel")
