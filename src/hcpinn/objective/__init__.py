"""The loss: the residual, penalties, weights and batches."""

from .batches import Batches, take_batch
from .chunks import chunk_size, jacobian_chunk
from .data import Data, stack
from .devices import Devices, find_devices
from .objective import RESIDUAL, Linearized, Measured, Objective, Rows
from .penalties import (
    BoundaryPenalty,
    DataPenalty,
    InitialPenalty,
    Penalty,
    PeriodicPenalty,
    check_penalties,
    penalty_terms,
)
from .residual import linearized, residual
from .term import Block, Term, residual_block
from .weights.attention import Attention
from .weights.causal import Causal
from .weights.rule import WeightRule
from .weights.self_adaptive import SelfAdaptive

__all__ = [
    "RESIDUAL",
    "Attention",
    "Batches",
    "Block",
    "BoundaryPenalty",
    "Causal",
    "Data",
    "DataPenalty",
    "Devices",
    "InitialPenalty",
    "Linearized",
    "Measured",
    "Objective",
    "Penalty",
    "PeriodicPenalty",
    "Rows",
    "SelfAdaptive",
    "Term",
    "WeightRule",
    "check_penalties",
    "chunk_size",
    "find_devices",
    "jacobian_chunk",
    "linearized",
    "penalty_terms",
    "residual",
    "residual_block",
    "stack",
    "take_batch",
]
