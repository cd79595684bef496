"""Points fill the domain evenly, and randomness is split by seed and purpose."""

import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn import sampling
from hcpinn.errors import UnknownNameError

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


def test_an_unknown_sampler_gets_the_nearest_name():
    with pytest.raises(UnknownNameError, match=r"There is no sampler 'sobel'\. Did you mean 'sobol'"):
        sampling.interior(PROBLEM, 4, seed=0, sampler="sobel")
