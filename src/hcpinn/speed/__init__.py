"""How fast a training step is, and how fast it could be."""

from .bench import BenchCase, BenchRow, cells, measure_case, standard_cases
from .ceilings import Ceilings, measure_ceilings
from .counts import Work, step_work
from .step import Timing, TrainingStep, model_problem, time_steps

__all__ = [
    "BenchCase",
    "BenchRow",
    "Ceilings",
    "Timing",
    "TrainingStep",
    "Work",
    "cells",
    "measure_case",
    "measure_ceilings",
    "model_problem",
    "standard_cases",
    "step_work",
    "time_steps",
]
