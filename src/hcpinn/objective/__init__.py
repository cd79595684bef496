"""The loss: the residual, penalties, weights and batches."""

from .chunks import chunk_size as chunk_size, jacobian_chunk as jacobian_chunk
from .data import (
    Batches as Batches,
    Data as Data,
    Linearized as Linearized,
    Measured as Measured,
    Rows as Rows,
    stack as stack,
    take_batch as take_batch,
)
from .devices import Devices as Devices, find_devices as find_devices
from .objective import Objective as Objective
from .penalties import (
    BoundaryPenalty as BoundaryPenalty,
    DataPenalty as DataPenalty,
    InitialPenalty as InitialPenalty,
    Penalty as Penalty,
    PeriodicPenalty as PeriodicPenalty,
    check_penalties as check_penalties,
    penalty_terms as penalty_terms,
)
from .residual import linearized as linearized, residual as residual
from .term import (
    RESIDUAL as RESIDUAL,
    Block as Block,
    Term as Term,
    make_block as make_block,
    residual_block as residual_block,
)
from .weights.attention import Attention as Attention
from .weights.causal import Causal as Causal
from .weights.rule import WeightRule as WeightRule
from .weights.self_adaptive import SelfAdaptive as SelfAdaptive
