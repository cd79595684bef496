"""Derivatives of functions and networks, carried forward in one pass."""

from ..equation.derivatives import Jet, nested
from .fused import fusible, points_at_once, start_compiling
from .layered import differentiated_once, network_jet
from .taylor import (
    ACTIVATIONS,
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
