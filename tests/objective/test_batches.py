"""An epoch of mini-batches visits every point, in an order that key and step number alone decide."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.errors import MethodError
from hcpinn.objective import RESIDUAL, Objective, sampling, take_batch
from hcpinn.trial import Trial

POINTS = 16_384
KEY = jnp.asarray([7, 11], jnp.uint32)


def draw(batches, first, steps, *, points=POINTS, key=KEY):
    return np.asarray(batches.indices(key, points, first, steps))


def test_an_epoch_visits_every_point_and_repeats_as_few_as_it_must():
    batches = hc.Batches(5, 3280)
    batches.check(POINTS)
    for epoch in np.split(draw(batches, 0, 15), 3):
        visits = np.bincount(epoch.ravel(), minlength=POINTS)
        assert len(visits) == POINTS
        assert visits.min() == 1
        assert visits.max() == 2
        assert np.sum(visits == 2) == 16
        for batch in epoch:
            assert len(np.unique(batch)) == 3280


@pytest.mark.parametrize(("count", "size", "points"), [(1, 10, 10), (4, 25, 100), (4, 30, 100), (3, 50, 76)])
def test_no_batch_holds_a_point_twice_and_none_is_left_out(count, size, points):
    batches = hc.Batches(count, size)
    batches.check(points)
    for epoch in draw(batches, 0, 4 * count, points=points).reshape(4, count, size):
        assert set(epoch.ravel()) == set(range(points))
        assert all(len(np.unique(batch)) == size for batch in epoch)
        assert np.bincount(epoch.ravel()).max() <= 2


def test_each_epoch_has_an_order_of_its_own():
    epochs = draw(hc.Batches(5, 3280), 0, 15).reshape(3, -1)
    for one, two in ((0, 1), (0, 2), (1, 2)):
        # Two random orders agree in one place on average.
        assert np.sum(epochs[one] == epochs[two]) < 12
    other = draw(hc.Batches(5, 3280), 0, 5, key=jnp.asarray([7, 12], jnp.uint32))
    assert np.sum(epochs[0] == other.ravel()) < 12
    assert np.sum(epochs[0][1:] > epochs[0][:-1]) < 0.6 * POINTS


def test_batches_depend_on_key_and_step_number_and_not_on_blocks():
    batches = hc.Batches(5, 7)
    whole = draw(batches, 0, 30, points=31)
    compiled = jax.jit(lambda first, steps: batches.indices(KEY, 31, first, steps), static_argnums=1)
    for lengths in ([1] * 23, [5, 5, 5, 5, 3], [3, 1, 12, 1, 5], [12, 12]):
        first = 0
        for steps in lengths:
            got = compiled(jnp.int32(first), steps)
            assert got.shape == (steps, 7)
            np.testing.assert_array_equal(got, whole[first : first + steps])
            first += steps


def test_runs_of_different_seeds_shuffle_differently():
    objective, _ = small()
    keys = [objective.data(objective_points(), seed=seed).key for seed in (0, 0, 1)]
    np.testing.assert_array_equal(keys[0], keys[1])
    assert (np.asarray(keys[0]) != np.asarray(keys[2])).any()


PROBLEM = declare()


def objective_points():
    return sampling.interior(PROBLEM, 31, seed=0)


@functools.cache
def small():
    trial = Trial(
        PROBLEM, lift=hc.Decay(1.0), gate=hc.LinearGate(), embedding=hc.Fourier(2), network=hc.MLP(6, 1)
    )
    objective = Objective(trial, trial.init(jax.random.key(0)), chunk=1000)
    return objective, 0.5 * jax.random.normal(jax.random.key(1), (objective.size,))


def test_the_loss_of_a_batch_is_the_mean_over_the_batch():
    objective, theta = small()
    data = objective.data(objective_points())
    whole = jax.jit(objective.measure)(theta, data)
    at = draw(hc.Batches(5, 7), 3, 4, points=31)
    over = jax.jit(lambda theta, data, at: objective.measure(theta, take_batch(data, at)))
    for some in at:
        batch = over(theta, data, jnp.asarray(some))
        np.testing.assert_allclose(batch.squares[RESIDUAL], whole.squares[RESIDUAL][some], rtol=1e-12)
        np.testing.assert_allclose(batch.loss, np.mean(whole.squares[RESIDUAL][some]), rtol=1e-12)
    # Five batches of 7 visit four of 31 points twice: counted once, they average to the whole gradient.
    total = sum(
        over(theta, data, jnp.asarray(some)).gradient for some in draw(hc.Batches(5, 7), 0, 5, points=31)
    )
    extra = draw(hc.Batches(5, 7), 0, 1, points=31)[0, :4]
    twice = jax.jit(lambda at: objective.measure(theta, take_batch(data, at)).gradient)(jnp.asarray(extra))
    np.testing.assert_allclose((7 * total - 4 * twice) / 31, whole.gradient, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("count", "size", "points"),
    [
        (5, 3276, POINTS),  # misses four points
        (1, 200, 100),  # a batch larger than all points
        (2, 100, 100),  # every point twice
    ],
)
def test_numbers_that_make_no_epoch_are_refused(count, size, points):
    with pytest.raises(
        MethodError, match=f"{count} mini-batches of {size:,} do not make an epoch of {points:,}"
    ):
        hc.Batches(count, size).check(points)
    with pytest.raises(MethodError, match="Take a size of") as error:
        hc.Method(points=points, batches=hc.Batches(count, size))
    advice = int(str(error.value).split("size of ")[1].split(", or")[0].replace(",", ""))
    hc.Batches(count, advice).check(points)


@pytest.mark.parametrize("numbers", [(0, 10), (5, 0), (-1, 10)])
def test_batches_need_a_count_and_a_size(numbers):
    with pytest.raises(MethodError, match=f"at least 1, not {numbers[0]} and {numbers[1]}"):
        hc.Batches(*numbers)
