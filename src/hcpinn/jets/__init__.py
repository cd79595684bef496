"""Derivatives of functions and networks, carried forward in one pass."""

from ..equation.derivatives import Jet, nested
from .layered import (
    ACTIVATIONS,
    differentiated_once,
    fusible,
    network_jet,
    points_at_once,
    start_compiling,
)
from .taylor import (
    Activation,
    add,
    closure,
    combine,
    compose,
    elementwise,
    linear,
    mixture,
    product,
    sine,
    tanh,
)

__all__ = [
    "ACTIVATIONS",
    "Activation",
    "Jet",
    "add",
    "closure",
    "combine",
    "compose",
    "differentiated_once",
    "elementwise",
    "fusible",
    "linear",
    "mixture",
    "nested",
    "network_jet",
    "points_at_once",
    "product",
    "sine",
    "start_compiling",
    "tanh",
]
