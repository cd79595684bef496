"""How fast a training step is, and how fast it could be."""

from .bench import BenchCase, BenchRow, measure, measure_case, standard_cases
from .ceilings import Ceilings, all_ceilings, measure_ceilings
from .counts import Work, step_work
from .models import model_problem
from .step import TrainingStep
from .timing import Timing, time_steps

__all__ = [
    "BenchCase",
    "BenchRow",
    "Ceilings",
    "Timing",
    "TrainingStep",
    "Work",
    "all_ceilings",
    "measure",
    "measure_case",
    "measure_ceilings",
    "model_problem",
    "standard_cases",
    "step_work",
    "time_steps",
]
