"""Networks: the trainable part of a trial function."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .. import jets
from ..errors import MethodError, unknown_name
from ..jets import ACTIVATIONS, Jet
from ..problem import Index

Parameters = Any
"""A network's parameters: any tree of arrays."""


class Network(abc.ABC):
    """Anything with initial parameters and values; hcpinn differentiates it by nested forward mode."""

    @abc.abstractmethod
    def init(self, key: PRNGKeyArray, inputs: int, outputs: int) -> Parameters:
        """Random initial parameters."""

    @abc.abstractmethod
    def __call__(self, parameters: Parameters, features: Array) -> Array:
        """Outputs, one row per row of features."""


class JetNetwork(Network):
    """A network that propagates jets itself, which is much faster."""

    @abc.abstractmethod
    def propagate(self, parameters: Parameters, features: Jet, indices: Sequence[Index]) -> Jet:
        """The jet of the outputs from the jet of the features."""

    def points_at_once(self, plain: int, streams: int, itemsize: int) -> int:
        """How many points to take forward and back at once, given how many only forward, and derivatives."""
        return plain

    def begin(self, inputs: int, outputs: int, indices: Sequence[Index], points: int, dtype: Any) -> None:
        """Start compiling kernels that XLA does not compile, in the background."""


class LayeredNetwork(JetNetwork):
    """A network of `depth` hidden layers of one `width`."""

    width: int
    depth: int
    activation: str

    mixed: ClassVar[bool] = False
    """Whether the layers mix two encodings of the features."""

    def __post_init__(self) -> None:
        if not all(isinstance(n, int) and n >= 1 for n in (self.width, self.depth)):
            raise MethodError(
                f"A network needs whole numbers of at least 1 as width and depth, not {self.width!r} and "
                f"{self.depth!r}."
            )
        if self.activation not in ACTIVATIONS:
            raise unknown_name("activation", self.activation, ACTIVATIONS)

    def points_at_once(self, plain: int, streams: int, itemsize: int) -> int:
        numbers, activation = (
            (self.depth + 2 * self.mixed) * self.width * streams,
            ACTIVATIONS[self.activation](),
        )
        return jets.points_at_once(plain, activation, self.width, numbers=numbers, itemsize=itemsize)

    def begin(self, inputs: int, outputs: int, indices: Sequence[Index], points: int, dtype: Any) -> None:
        sizes, precision = (inputs, *[self.width] * self.depth, outputs), jnp.dtype(dtype).name
        activation = ACTIVATIONS[self.activation]()
        jets.start_compiling(activation, sizes, indices, points=points, precision=precision, mixed=self.mixed)


@dataclass(frozen=True)
class MLP(LayeredNetwork):
    """A fully connected network, `depth` hidden layers of `width`; Glorot-normal initial weights."""

    width: int = 32
    """Neurons per hidden layer."""
    depth: int = 7
    """Hidden layers."""
    activation: str = "tanh"
    """'tanh', 'sin', 'gelu' or 'swish'."""

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
        return jets.network_jet(ACTIVATIONS[self.activation](), parameters, features, indices)


@dataclass(frozen=True)
class ModifiedMLP(LayeredNetwork):
    """An MLP whose layers z mix two encodings of the input, (1 − z) U + z V (Wang, Teng and Perdikaris)."""

    width: int = 128
    """Neurons per hidden layer."""
    depth: int = 4
    """Hidden layers."""
    activation: str = "tanh"
    """'tanh', 'sin', 'gelu' or 'swish'."""

    mixed: ClassVar[bool] = True

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
        return jets.network_jet(activation, parameters["layers"], features, indices, parameters["encoders"])


@partial(jax.jit, static_argnums=1)
def _layers(key: PRNGKeyArray, sizes: tuple[int, ...]) -> list[dict[str, Array]]:
    keys = jax.random.split(key, len(sizes) - 1)
    return [_glorot(k, a, b) for k, a, b in zip(keys, sizes[:-1], sizes[1:], strict=True)]


def _glorot(key: PRNGKeyArray, inputs: int, outputs: int) -> dict[str, Array]:
    weight = jax.nn.initializers.glorot_normal()(key, (inputs, outputs), jnp.float64)
    return {"weight": weight, "bias": jnp.zeros(outputs, jnp.float64)}


@dataclass(frozen=True)
class CustomNetwork(Network):
    """A custom network: `init_function(key, inputs, outputs)` and `function(parameters, features)`.

    `function` takes one row of features per point and returns one row of outputs per point.
    """

    init_function: Callable[..., Any]
    """Returns random parameters, as any tree of arrays."""
    function: Callable[..., Any]
    """Maps parameters and rows of features to rows of outputs."""

    def init(self, key: PRNGKeyArray, inputs: int, outputs: int) -> Parameters:
        return self.init_function(key, inputs, outputs)

    def __call__(self, parameters: Parameters, features: Array) -> Array:
        return self.function(parameters, features)
