"""What a training step has to compute and to move at least.

With S derivatives carried along (the value among them), layers of sizes n₀, n₁, …, nₖ and N points, the
matrix products of loss and gradient take

    2 N S (3 Σ nᵢ nᵢ₊₁ − n₀ n₁)

operations: forward, for the weights' gradient, and backward except through the first layer. All other
operations are counted by XLA, before it optimises the program. At least the data fixed at the points have to
be read, and the parameters and Adam's two moments read and written; everything else can stay on the chip.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import jets
from ..descent import Adam
from ..errors import MethodError
from ..machine.precision import double
from ..objective import RESIDUAL, Data, Objective
from ..objective.residual import residual
from ..trial import MLP

_POINTS = 64
"""Enough points for the cost per point, and too few for fused kernels, which XLA cannot look into."""


@dataclass(frozen=True)
class Work:
    """The least a step takes."""

    products: float
    """Operations within matrix products."""
    arithmetic: float
    """Elementwise operations."""
    functions: float
    """Evaluations of tanh and the like."""
    bytes: float
    """To and from memory."""


def step_work(objective: Objective, data: Data, *, runs: int = 1) -> Work:
    """The work of one step of Adam.

    Args:
        objective: the loss, with the residual as its only term and an MLP as its network.
        data: its data, as they lie in memory.
        runs: how many runs train together.
    """
    trial, block = objective.trial, data.blocks[RESIDUAL]
    if not isinstance(trial.network, MLP):
        raise MethodError(
            f"Operations can be counted for an MLP, but not for a {type(trial.network).__name__}. "
            "Use network=MLP(width, depth)."
        )
    if len(objective.terms) > 1:
        raise MethodError("Operations can be counted for the residual alone. Leave the penalties out.")
    fixed = block.fixed[0]
    assert fixed.features is not None
    points, size = block.share.shape[-1], objective.size
    inputs = next(iter(fixed.features.values())).shape[-1]
    sizes = (inputs, *[trial.network.width] * trial.network.depth, trial.outputs)
    pairs = [a * b for a, b in itertools.pairwise(sizes)]
    products = 2.0 * len(jets.closure(trial.indices)) * (3 * sum(pairs) - pairs[0])
    with double():
        parameters = {name: _shape() for name in data.parameters}

        def gradient(count: int) -> np.ndarray:
            some = jax.tree.map(lambda leaf: _shape(count, leaf.shape[-1]), fixed)
            loss = lambda theta, *rest: jnp.sum(residual(trial, objective.unravel(theta), *rest) ** 2)
            return _cost(jax.value_and_grad(loss), _shape(size), some, parameters)

        point = (gradient(2 * _POINTS) - gradient(_POINTS)) / _POINTS
        optimiser, theta = Adam().optimiser, _shape(size)
        update = _cost(optimiser.update, theta, jax.eval_shape(optimiser.init, theta))
    operations, functions = (float(count) for count in runs * (points * point + update))
    products *= runs * points
    known = [fixed.lift, fixed.gate, fixed.features, block.share]
    read = sum(leaf.nbytes for leaf in jax.tree.leaves(known))
    moved = read + 6.0 * runs * size * block.share.dtype.itemsize
    return Work(products, operations - products, functions, moved)


def _shape(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float64)


def _cost(function: Callable[..., Any], *arguments: Any) -> np.ndarray:
    """Operations, and evaluations of functions like tanh, in XLA's analysis for a CPU."""
    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        found: Any = jax.jit(function).lower(*arguments).cost_analysis()
    return np.array([found["flops"], found.get("transcendentals", 0.0)])
