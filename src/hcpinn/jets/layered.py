"""The jet of a layered network, by the fastest way that its use allows.

Two ways give the same jet: layer by layer, which JAX can differentiate as often and in whatever it likes, and
one fused kernel for all layers, whose result is differentiated once. Nobody else chooses between them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar

import jax
from jaxtyping import Array

from ..problem import Index
from . import fused
from .taylor import Activation, Jet, compose, elementwise, linear, mixture, sine, tanh

ACTIVATIONS: dict[str, Callable[[], Activation]] = {
    "tanh": tanh,
    "sin": sine,
    "gelu": lambda: elementwise(lambda z: jax.nn.gelu(z, approximate=False)),
    "swish": lambda: elementwise(jax.nn.swish),
}
"""Activation functions by name."""

_FUSED = ("tanh", "sin")
"""Those that fused kernels know."""

_ONCE: ContextVar[bool] = ContextVar("differentiated once", default=False)

Layer = dict[str, Array]
"""`weight` (inputs × outputs) and `bias`."""


@contextlib.contextmanager
def differentiated_once() -> Iterator[None]:
    """A promise: network jets traced within are differentiated once, backward, in the parameters alone."""
    token = _ONCE.set(True)
    try:
        yield
    finally:
        _ONCE.reset(token)


def network_jet(
    activation: str,
    layers: Sequence[Layer],
    features: Jet,
    indices: Sequence[Index],
    encoders: Sequence[Layer] = (),
) -> Jet:
    """The jet of a network's outputs from the jet of its features.

    Args:
        activation: a name in `ACTIVATIONS`.
        layers: the hidden layers, all of one width, and behind them the linear last one.
        features: may lack derivatives that are zero everywhere.
        indices: with every derivative all lower ones, as `closure` gives them.
        encoders: two layers that encode the features, which every hidden layer z then mixes,
            (1 − z) U + z V; none for a plain network.
    """
    function = ACTIVATIONS[activation]()
    if _ONCE.get() and fusible(activation, layers[0]["weight"].shape[1]):
        given = (function, layers, features, indices, encoders)
        if fused.suits(*given):
            return fused.propagate(*given)

    def through(jet: Jet, layer: Layer) -> Jet:
        return compose(function, linear(jet, layer["weight"], layer["bias"]), indices)

    encoded = [through(features, encoder) for encoder in encoders]
    jet = features
    for layer in layers[:-1]:
        jet = through(jet, layer)
        if encoded:
            jet = mixture(*encoded, jet, indices)
    return linear(jet, layers[-1]["weight"], layers[-1]["bias"])


def fusible(activation: str, width: int) -> bool:
    """Whether there are fused kernels for hidden layers of this kind."""
    return activation in _FUSED and width <= fused.WIDEST


def points_at_once(
    plain: int, activation: str, width: int, *, layers: int, streams: int, itemsize: int
) -> int:
    """How many points to take forward and back at once, given how many it would be layer by layer.

    Args:
        plain: that number.
        activation: a name in `ACTIVATIONS`.
        width: of the hidden layers.
        layers: how many there are, encoders included.
        streams: how many derivatives are carried along, the value included.
        itemsize: bytes of a number.
    """
    return fused.chunk(plain, layers * width * streams, itemsize) if fusible(activation, width) else plain


def start_compiling(
    activation: str,
    sizes: Sequence[int],
    indices: Sequence[Index],
    *,
    points: int,
    precision: str,
    mixed: bool,
) -> None:
    """Start compiling, in the background, what a first call under `differentiated_once` will need.

    Args:
        activation: a name in `ACTIVATIONS`.
        sizes: from the number of features over the widths of the hidden layers to the number of outputs.
        indices: as for `network_jet`.
        points: how many there will be.
        precision: 'float32' or 'float64'.
        mixed: whether there will be encoders.
    """
    if fusible(activation, sizes[1]):
        fused.begin(
            ACTIVATIONS[activation](), sizes, indices, points=points, precision=precision, mixed=mixed
        )
