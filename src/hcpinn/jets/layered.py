"""The jet of a layered network, by the fastest way that its use allows.

Two ways give the same jet: layer by layer, which JAX can differentiate as often and in whatever it likes, and
one fused kernel for all layers, whose result is differentiated once. Nobody else chooses between them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar

from ..problem import Index
from . import fused
from .fused import Layer
from .taylor import Activation, Jet, compose, linear, mixture

_ONCE: ContextVar[bool] = ContextVar("differentiated once", default=False)


@contextlib.contextmanager
def differentiated_once() -> Iterator[None]:
    """A promise: network jets traced within are differentiated once, backward, in the parameters alone."""
    token = _ONCE.set(True)
    try:
        yield
    finally:
        _ONCE.reset(token)


def network_jet(
    activation: Activation,
    layers: Sequence[Layer],
    features: Jet,
    indices: Sequence[Index],
    encoders: Sequence[Layer] = (),
) -> Jet:
    """The jet of a network's outputs from the jet of its features.

    Args:
        activation: of the hidden layers, and of the encoders.
        layers: the hidden layers, all of one width, and behind them the linear last one.
        features: may lack derivatives that are zero everywhere.
        indices: with every derivative all lower ones, as `closure` gives them.
        encoders: two layers that encode the features, which every hidden layer z then mixes,
            (1 − z) U + z V; none for a plain network.
    """
    if _ONCE.get() and fused.suits(activation, layers, features, indices, encoders):
        return fused.propagate(activation, layers, features, indices, encoders)

    def through(jet: Jet, layer: Layer) -> Jet:
        return compose(activation, linear(jet, layer["weight"], layer["bias"]), indices)

    encoded = [through(features, encoder) for encoder in encoders]
    jet = features
    for layer in layers[:-1]:
        jet = through(jet, layer)
        if encoded:
            jet = mixture(*encoded, jet, indices)
    return linear(jet, layers[-1]["weight"], layers[-1]["bias"])
