"""Double precision is hcpinn's own, and so are its random numbers."""

import jax
import numpy as np

from hcpinn.machine.precision import double


def drawn():
    with double():
        return np.asarray(jax.random.normal(jax.random.key(3), (5,)))


def test_random_numbers_are_the_same_whatever_the_caller_has_chosen():
    usual = drawn()
    with jax.default_prng_impl("rbg"), jax.threefry_partitionable(False):
        assert np.array_equal(drawn(), usual)
    assert usual.dtype == np.float64
