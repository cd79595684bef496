"""Networks: the trainable part of a trial function."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .. import fused, jets
from ..errors import MethodError, unknown_name
from ..jets import Jet
from ..problem import Index

Parameters = Any
"""A network's parameters: any tree of arrays."""

ACTIVATIONS: dict[str, Callable[[], jets.Activation]] = {
    "tanh": jets.tanh,
    "sin": jets.sine,
    "gelu": lambda: jets.elementwise(lambda z: jax.nn.gelu(z, approximate=False)),
    "swish": lambda: jets.elementwise(jax.nn.swish),
}
"""Activation functions by name."""

_FUSED = ("tanh", "sin")
"""Those that fused kernels know."""


class Network(abc.ABC):
    """Anything with initial parameters and a value; hcpinn differentiates it by nested forward mode."""

    @abc.abstractmethod
    def init(self, key: PRNGKeyArray, inputs: int, outputs: int) -> Parameters:
        """Random initial parameters."""

    @abc.abstractmethod
    def __call__(self, parameters: Parameters, features: Array) -> Array:
        """Outputs, one row per row of features."""


class JetNetwork(Network):
    """A network that propagates jets itself, which is much faster."""

    def chunk(self, plain: int, streams: int, itemsize: int) -> int:
        """How many points `descend` takes at once, given how many `propagate` does, and derivatives."""
        return plain

    @abc.abstractmethod
    def propagate(self, parameters: Parameters, features: Jet, indices: Sequence[Index]) -> Jet:
        """The jet of the outputs from the jet of the features."""

    def begin(self, inputs: int, outputs: int, indices: Sequence[Index], points: int, dtype: Any) -> None:
        """Have compiled, beside what comes first, whatever `descend` needs that XLA does not make."""

    def descend(self, parameters: Parameters, features: Jet, indices: Sequence[Index]) -> Jet:
        """The same, to be differentiated once, backward, in the parameters alone: quicker where it can be."""
        return self.propagate(parameters, features, indices)


@dataclass(frozen=True)
class MLP(JetNetwork):
    """A fully connected network, `depth` hidden layers of `width`; Glorot-normal initial weights."""

    width: int = 32
    depth: int = 7
    activation: str = "tanh"

    def __post_init__(self) -> None:
        _check_layers(self)

    def init(self, key: PRNGKeyArray, inputs: int, outputs: int) -> Parameters:
        return _layers(key, (inputs, *[self.width] * self.depth, outputs))

    def __call__(
        self, parameters: Parameters, features: Float[Array, "points inputs"]
    ) -> Float[Array, "points outputs"]:
        activation = ACTIVATIONS[self.activation]()
        hidden = features
        for layer in parameters[:-1]:
            hidden = activation(hidden @ layer["weight"] + layer["bias"])
        return hidden @ parameters[-1]["weight"] + parameters[-1]["bias"]

    def propagate(self, parameters: Parameters, features: Jet, indices: Sequence[Index]) -> Jet:
        activation = ACTIVATIONS[self.activation]()
        jet = features
        for layer in parameters[:-1]:
            jet = jets.compose(activation, jets.linear(jet, layer["weight"], layer["bias"]), indices)
        return jets.linear(jet, parameters[-1]["weight"], parameters[-1]["bias"])

    def chunk(self, plain: int, streams: int, itemsize: int) -> int:
        numbers = self.depth * self.width * streams
        return fused.chunk(plain, numbers, itemsize) if self.fusible else plain

    @property
    def fusible(self) -> bool:
        """Whether there are fused kernels for it."""
        return self.activation in _FUSED and self.width <= fused.WIDEST

    def begin(self, inputs: int, outputs: int, indices: Sequence[Index], points: int, dtype: Any) -> None:
        if self.fusible:
            sizes = (inputs, *[self.width] * self.depth, outputs)
            activation = ACTIVATIONS[self.activation]()
            fused.begin(activation, sizes, indices, points=points, precision=jnp.dtype(dtype).name)

    def descend(self, parameters: Parameters, features: Jet, indices: Sequence[Index]) -> Jet:
        activation = ACTIVATIONS[self.activation]()
        if self.fusible and fused.suits(activation, parameters, features, indices):
            return fused.propagate(activation, parameters, features, indices)
        return self.propagate(parameters, features, indices)


@dataclass(frozen=True)
class ModifiedMLP(JetNetwork):
    """An MLP whose layers z mix two encodings of the input, (1 − z) U + z V (Wang, Teng and Perdikaris)."""

    width: int = 128
    depth: int = 4
    activation: str = "tanh"

    def __post_init__(self) -> None:
        _check_layers(self)

    def init(self, key: PRNGKeyArray, inputs: int, outputs: int) -> Parameters:
        keys = jax.random.split(key, 2)
        encoders = [_glorot(k, inputs, self.width) for k in jax.random.split(keys[0])]
        sizes = [inputs, *[self.width] * self.depth, outputs]
        return {"encoders": encoders, "layers": _layers(keys[1], tuple(sizes))}

    def __call__(
        self, parameters: Parameters, features: Float[Array, "points inputs"]
    ) -> Float[Array, "points outputs"]:
        activation = ACTIVATIONS[self.activation]()
        first, second = (activation(features @ e["weight"] + e["bias"]) for e in parameters["encoders"])
        hidden = features
        for layer in parameters["layers"][:-1]:
            z = activation(hidden @ layer["weight"] + layer["bias"])
            hidden = first + z * (second - first)
        return hidden @ parameters["layers"][-1]["weight"] + parameters["layers"][-1]["bias"]

    def propagate(self, parameters: Parameters, features: Jet, indices: Sequence[Index]) -> Jet:
        activation = ACTIVATIONS[self.activation]()

        def layer(jet: Jet, weights: Parameters) -> Jet:
            return jets.compose(activation, jets.linear(jet, weights["weight"], weights["bias"]), indices)

        first, second = (layer(features, e) for e in parameters["encoders"])
        between = jets.add(second, {index: -value for index, value in first.items()})
        jet = features
        for weights in parameters["layers"][:-1]:
            jet = jets.add(first, jets.product(layer(jet, weights), between, indices))
        return jets.linear(jet, parameters["layers"][-1]["weight"], parameters["layers"][-1]["bias"])


def _check_layers(network: MLP | ModifiedMLP) -> None:
    if not all(isinstance(n, int) and n >= 1 for n in (network.width, network.depth)):
        raise MethodError(
            f"A network needs whole numbers of at least 1 as width and depth, not {network.width!r} and "
            f"{network.depth!r}."
        )
    if network.activation not in ACTIVATIONS:
        raise unknown_name("activation", network.activation, ACTIVATIONS)


@partial(jax.jit, static_argnums=1)
def _layers(key: PRNGKeyArray, sizes: tuple[int, ...]) -> list[dict[str, Array]]:
    keys = jax.random.split(key, len(sizes) - 1)
    return [_glorot(k, a, b) for k, a, b in zip(keys, sizes[:-1], sizes[1:], strict=True)]


def _glorot(key: PRNGKeyArray, inputs: int, outputs: int) -> dict[str, Array]:
    weight = jax.nn.initializers.glorot_normal()(key, (inputs, outputs), jnp.float64)
    return {"weight": weight, "bias": jnp.zeros(outputs, jnp.float64)}


@dataclass(frozen=True)
class CustomNetwork(Network):
    """A network of your own: `init_function(key, inputs, outputs)` and `function(parameters, features)`.

    `function` takes one row of features per point and returns one row of outputs per point.
    """

    init_function: Callable[..., Any]
    function: Callable[..., Any]

    def init(self, key: PRNGKeyArray, inputs: int, outputs: int) -> Parameters:
        return self.init_function(key, inputs, outputs)

    def __call__(self, parameters: Parameters, features: Array) -> Array:
        return self.function(parameters, features)
