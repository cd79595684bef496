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

from ..errors import MethodError, unknown_name
from ..jets import fused
from ..jets import taylor as jets
from ..jets.taylor import Jet
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


class LayeredNetwork(JetNetwork):
    """A network of `depth` hidden layers of one `width`, for which there may be fused kernels."""

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

    @property
    def fusible(self) -> bool:
        """Whether there are fused kernels for it."""
        return self.activation in _FUSED and self.width <= fused.WIDEST

    def chunk(self, plain: int, streams: int, itemsize: int) -> int:
        numbers = (self.depth + 2 * self.mixed) * self.width * streams
        return fused.chunk(plain, numbers, itemsize) if self.fusible else plain

    def begin(self, inputs: int, outputs: int, indices: Sequence[Index], points: int, dtype: Any) -> None:
        if self.fusible:
            sizes, precision = (inputs, *[self.width] * self.depth, outputs), jnp.dtype(dtype).name
            activation = ACTIVATIONS[self.activation]()
            fused.begin(activation, sizes, indices, points=points, precision=precision, mixed=self.mixed)

    def descend(self, parameters: Parameters, features: Jet, indices: Sequence[Index]) -> Jet:
        given = (ACTIVATIONS[self.activation](), *self.parts(parameters, features, indices))
        if self.fusible and fused.suits(*given):
            return fused.propagate(*given)
        return self.propagate(parameters, features, indices)

    @abc.abstractmethod
    def parts(self, parameters: Parameters, features: Jet, indices: Sequence[Index]) -> tuple[Any, ...]:
        """What the fused kernels take: layers, features, indices, and encoders if there are any."""


@dataclass(frozen=True)
class MLP(LayeredNetwork):
    """A fully connected network, `depth` hidden layers of `width`; Glorot-normal initial weights."""

    width: int = 32
    depth: int = 7
    activation: str = "tanh"

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

    def parts(self, parameters: Parameters, features: Jet, indices: Sequence[Index]) -> tuple[Any, ...]:
        return parameters, features, indices


@dataclass(frozen=True)
class ModifiedMLP(LayeredNetwork):
    """An MLP whose layers z mix two encodings of the input, (1 − z) U + z V (Wang, Teng and Perdikaris)."""

    width: int = 128
    depth: int = 4
    activation: str = "tanh"

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

        def layer(jet: Jet, weights: Parameters) -> Jet:
            return jets.compose(activation, jets.linear(jet, weights["weight"], weights["bias"]), indices)

        first, second = (layer(features, e) for e in parameters["encoders"])
        jet = features
        for weights in parameters["layers"][:-1]:
            jet = jets.mixture(first, second, layer(jet, weights), indices)
        return jets.linear(jet, parameters["layers"][-1]["weight"], parameters["layers"][-1]["bias"])

    def parts(self, parameters: Parameters, features: Jet, indices: Sequence[Index]) -> tuple[Any, ...]:
        return parameters["layers"], features, indices, parameters["encoders"]


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
