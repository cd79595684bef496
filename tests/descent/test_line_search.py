"""The line search: what it accepts, and that runs which need no search cost those that do nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hcpinn.descent.optimisers.line_search import Probe, strong_wolfe
from hcpinn.descent.optimisers.stage import Target
from hcpinn.machine.precision import double
from hcpinn.objective import Measured

asked: list[float] = []


def steep(theta):
    """A valley in which a step of length one is far too long."""
    return jnp.sum(50 * theta**2 + theta**4)


class Steep(Target):
    """A target that keeps account of what it is asked for."""

    def __init__(self):
        pass

    def __call__(self, theta):
        value, gradient = jax.value_and_grad(steep)(theta)
        jax.debug.callback(lambda v: asked.append(float(v)), value)
        return Measured(value, gradient, {}, {})


def search(theta, first):
    value, gradient = jax.value_and_grad(steep)(theta)
    start = Probe(jnp.zeros_like(value), value, -gradient @ gradient, gradient, {})
    return strong_wolfe(Steep(), theta, start, -gradient, first=first, trials=25)


@pytest.fixture(autouse=True)
def _float64():
    asked.clear()
    with double():
        yield


def run(function, *given):
    found = jax.jit(function)(*given)
    jax.block_until_ready(found)
    jax.effects_barrier()
    return found


def test_the_step_that_is_found_meets_both_conditions():
    theta = jnp.asarray([1.0, -0.5])
    found, accepted = run(search, theta, 1.0)
    slope = -float(jnp.sum(jax.grad(steep)(theta) ** 2))
    assert bool(accepted)
    assert float(found.value) <= float(steep(theta)) + 1e-4 * float(found.step) * slope
    assert abs(float(found.slope)) <= 0.9 * abs(slope)


def test_runs_together_find_what_each_finds_alone():
    thetas, firsts = jnp.asarray([[1.0, -0.5], [0.3, 0.2], [2.0, 2.0]]), jnp.asarray([1.0, 1e-2, 1e-6])
    together, accepted = run(jax.vmap(search), thetas, firsts)
    assert accepted.all()
    for number in range(3):
        alone, _ = run(search, thetas[number], firsts[number])
        np.testing.assert_allclose(together.step[number], alone.step, rtol=1e-14)


def test_a_run_that_has_its_step_is_not_evaluated_again():
    run(search, jnp.asarray([1.0, -0.5]), 1.0)
    needed = len(asked)
    assert needed > 2
    asked.clear()
    run(jax.vmap(search), jnp.asarray([[1.0, -0.5], [0.3, 0.2]]), jnp.asarray([1.0, 1e-2]))
    assert np.isfinite(asked).sum() == needed + 1


def test_a_run_that_is_over_does_not_keep_the_others_waiting():
    run(search, jnp.asarray([1.0, -0.5]), 1.0)
    needed = len(asked)
    asked.clear()
    lost = jnp.full(2, jnp.nan)
    _, accepted = run(jax.vmap(search), jnp.stack([jnp.asarray([1.0, -0.5]), lost]), jnp.ones(2))
    assert accepted.tolist() == [True, False]
    assert len(asked) == 2 * needed
