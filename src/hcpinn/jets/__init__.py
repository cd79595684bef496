"""Derivatives of functions and networks, carried forward in one pass."""

from ..equation.derivatives import Jet, nested
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
    "Activation",
    "Jet",
    "add",
    "closure",
    "combine",
    "compose",
    "elementwise",
    "linear",
    "mixture",
    "nested",
    "product",
    "sine",
    "tanh",
]
