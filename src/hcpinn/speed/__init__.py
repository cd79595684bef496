"""How fast a training step is, and how fast it could be."""

from .bench import Case, Row, all_ceilings, measure, standard_cases
from .ceilings import Ceilings, measure_ceilings
from .counts import Work, network_operations, step_work
from .operations import Operations, operations
from .problems import model_problem
from .step import TrainingStep
from .timing import Timing, time_steps

__all__ = [
    "Case",
    "Ceilings",
    "Operations",
    "Row",
    "Timing",
    "TrainingStep",
    "Work",
    "all_ceilings",
    "measure",
    "measure_ceilings",
    "model_problem",
    "network_operations",
    "operations",
    "standard_cases",
    "step_work",
    "time_steps",
]
