"""Derivatives of functions and networks, carried forward in one pass."""

from ..equation.derivatives import Jet as Jet, nested as nested
from .fused import fusible as fusible, points_at_once as points_at_once, start_compiling as start_compiling
from .layered import differentiated_once as differentiated_once, network_jet as network_jet
from .taylor import (
    ACTIVATIONS as ACTIVATIONS,
    add as add,
    closure as closure,
    compose as compose,
    exponential as exponential,
    linear as linear,
    product as product,
    tanh as tanh,
)
