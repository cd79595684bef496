"""L-BFGS: its directions are those of the textbook's recursion, also once its memory is full."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from hcpinn.descent.optimisers.stage import Target
from hcpinn.machine.precision import double
from hcpinn.objective import Measured

MEMORY, SIZE = 4, 9


def valley(theta):
    """A bent valley that is far longer than wide."""
    scales = jnp.logspace(0, 3, SIZE)
    return jnp.sum(scales * (theta - 0.1 * jnp.roll(theta, 1) ** 2) ** 2)


class Valley(Target):
    def __init__(self):
        pass

    def __call__(self, theta):
        value, gradient = jax.value_and_grad(valley)(theta)
        return Measured(value, gradient, {}, {})


@pytest.fixture(autouse=True)
def _float64():
    with double():
        yield


def walk(steps, theta):
    """Parameters and gradients along the way."""
    stage, target = hc.LBFGS(memory=MEMORY), Valley()
    state, path = stage.init(target, theta), [theta]
    advance = jax.jit(lambda theta, state: stage.step(target, theta, state))
    for _ in range(steps):
        taken = advance(path[-1], state)
        state, path = taken.state, [*path, taken.theta]
    return np.stack(path), np.stack([jax.grad(valley)(theta) for theta in path])


def two_loops(gradient, steps, changes):
    """Nocedal's recursion, from the pairs it is given, oldest first."""
    q, kept = gradient.copy(), []
    for s, y in zip(steps[::-1], changes[::-1], strict=True):
        alpha = (s @ q) / (y @ s)
        q -= alpha * y
        kept.append(alpha)
    q *= (steps[-1] @ changes[-1]) / (changes[-1] @ changes[-1])
    for s, y, alpha in zip(steps, changes, kept[::-1], strict=True):
        q += s * (alpha - (y @ q) / (y @ s))
    return -q


def test_every_step_goes_where_the_recursion_goes():
    path, gradients = walk(3 * MEMORY, jnp.linspace(1.0, 2.0, SIZE))
    steps, changes = np.diff(path, axis=0), np.diff(gradients, axis=0)
    assert (np.sum(steps * changes, axis=1) > 0).all()
    for number in range(1, len(steps)):
        known = slice(max(0, number - MEMORY), number)
        wanted = two_loops(gradients[number], steps[known], changes[known])
        taken = steps[number]
        cosine = taken @ wanted / (np.linalg.norm(taken) * np.linalg.norm(wanted))
        assert cosine == pytest.approx(1.0, abs=1e-10)


def test_a_run_that_is_held_keeps_its_memory_and_one_that_goes_on_does_not_notice():
    stage, target = hc.LBFGS(memory=MEMORY), Valley()
    thetas = jnp.stack([jnp.linspace(1.0, 2.0, SIZE), jnp.linspace(-1.0, 1.0, SIZE)])

    def step(going, theta, state):
        taken = stage.step(target, jnp.where(going, theta, jnp.nan), state)
        return jnp.where(going, taken.theta, theta), stage.hold(going, taken.state, state)

    together = jax.jit(jax.vmap(step))
    both = thetas, jax.vmap(lambda theta: stage.init(target, theta))(thetas)
    for _ in range(6):
        both = together(jnp.asarray([True, True]), *both)
    first, other = both, both
    for _ in range(3):
        first = together(jnp.asarray([True, False]), *first)
        other = together(jnp.asarray([True, True]), *other)
    for ours, theirs, before in zip(*map(jax.tree.leaves, (first, other, both)), strict=True):
        np.testing.assert_array_equal(ours[0], theirs[0])
        np.testing.assert_array_equal(ours[1], before[1])
