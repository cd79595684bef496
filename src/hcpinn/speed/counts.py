"""What a training step has to compute and to move, counted from network, derivatives and points.

With S derivatives carried along (the value among them), layers of sizes n₀, n₁, …, nₖ and N points, the
matrix products of loss and gradient take

    2 N S (3 Σ nᵢ nᵢ₊₁ − n₀ n₁)

operations: forward, for the weights' gradient, and backward, where the first layer has nothing to send
back. Elementwise work is read off the traces of Faà di Bruno's formula, of the residual and of the update,
each with its derivative, counting every distinct operation once. The least that has to move is what is
fixed at the points, read once, and the parameters with Adam's two moments, read and written: everything
else can stay on the chip.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp

from .. import jets
from ..descent import Adam
from ..errors import MethodError
from ..machine.precision import double
from ..objective import RESIDUAL, Data, Objective
from ..objective.residual import residual
from ..problem import Index
from ..trial import MLP, JetNetwork, Trial
from ..trial.network import ACTIVATIONS
from .operations import Operations, operations


@dataclass(frozen=True)
class Work:
    """What a step takes at least."""

    operations: Operations
    bytes: float


def step_work(objective: Objective, data: Data, *, runs: int = 1) -> Work:
    """The work of one step of Adam for runs that train together, on the data as they lie in memory."""
    trial, block = objective.trial, data.blocks[RESIDUAL]
    if not isinstance(trial.network, MLP):
        raise MethodError(
            f"Operations can be counted for an MLP, not for a {type(trial.network).__name__}. "
            "Take network=MLP(width, depth)."
        )
    if len(objective.terms) > 1:
        raise MethodError("Operations can be counted for the residual alone. Leave the penalties out.")
    fixed = block.fixed[0]
    assert fixed.features is not None
    inputs = next(iter(fixed.features.values())).shape[-1]
    indices = jets.closure(trial.indices)
    point = network_operations(trial.network, inputs, trial.outputs, indices)
    point += _residual_operations(trial, data)
    points = block.share.shape[-1]
    total = point.times(points) + _update_operations(objective.size)
    known = [fixed.lift, fixed.gate, fixed.features, block.share]
    item = block.share.dtype.itemsize
    read = sum(leaf.nbytes for leaf in jax.tree.leaves(known))
    return Work(total.times(runs), read + 6.0 * runs * objective.size * item)


def network_operations(network: MLP, inputs: int, outputs: int, indices: Sequence[Index]) -> Operations:
    """A network's part in loss and gradient, per point."""
    sizes = (inputs, *[network.width] * network.depth, outputs)
    pairs = [a * b for a, b in itertools.pairwise(sizes)]
    products = 2.0 * len(indices) * (3 * sum(pairs) - pairs[0])
    units = network.width * network.depth
    biases = Operations(arithmetic=2.0 * (units + outputs))  # added, and summed up for their gradient
    activation = _activation_operations(network.activation, tuple(indices))
    return Operations(products) + activation.times(units) + biases


@cache
def _activation_operations(name: str, indices: tuple[Index, ...]) -> Operations:
    """One unit of one layer: the jet of its activation, and back."""
    activation = ACTIVATIONS[name]()

    def there_and_back(jet: jets.Jet, slopes: jets.Jet) -> Any:
        result, back = jax.vjp(lambda j: jets.compose(activation, j, indices), jet)
        return result, back(slopes)

    with double():
        jet = {index: jax.ShapeDtypeStruct((), jnp.float64) for index in indices}
        return operations(there_and_back, jet, jet)


class _Given(JetNetwork):
    """Stands in for a network whose jet is known: it is passed in place of parameters."""

    def init(self, key: Any, inputs: int, outputs: int) -> Any:
        raise NotImplementedError

    def __call__(self, parameters: Any, features: Any) -> Any:
        raise NotImplementedError

    def propagate(self, parameters: Any, features: Any, indices: Any) -> Any:
        return parameters


def _residual_operations(trial: Trial, data: Data) -> Operations:
    """From the network's jet at a point to the squared residual, and back."""
    bare = copy(trial)
    bare.network = _Given()

    def at_a_point(leaf: Any) -> Any:
        return jax.ShapeDtypeStruct((1, leaf.shape[-1]), jnp.float64)

    def there_and_back(inner: jets.Jet, fixed: Any, parameters: Any) -> Any:
        return jax.value_and_grad(lambda j: jnp.sum(residual(bare, j, fixed, parameters) ** 2))(inner)

    with double():
        values = jax.ShapeDtypeStruct((1, trial.outputs), jnp.float64)
        fixed = jax.tree.map(at_a_point, data.blocks[RESIDUAL].fixed[0])
        parameters = {name: jax.ShapeDtypeStruct((), jnp.float64) for name in data.parameters}
        inner = dict.fromkeys(jets.closure(trial.indices), values)
        return operations(there_and_back, inner, fixed, parameters)


@cache
def _update_operations(size: int) -> Operations:
    """Adam's update of so many parameters, once their gradient is known."""
    optimiser = Adam().optimiser

    def update(theta: Any, gradient: Any, state: Any) -> Any:
        change, after = optimiser.update(gradient, state)
        return theta + change, after

    with double():
        theta = jax.ShapeDtypeStruct((size,), jnp.float64)
        return operations(update, theta, theta, jax.eval_shape(optimiser.init, theta))
