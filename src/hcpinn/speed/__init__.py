"""How fast a training step is, and how fast it could be."""

from .bench import (
    BenchCase as BenchCase,
    BenchRow as BenchRow,
    cells as cells,
    measure_case as measure_case,
    standard_cases as standard_cases,
)
from .ceilings import Ceilings as Ceilings, measure_ceilings as measure_ceilings
from .counts import Work as Work, step_work as step_work
from .step import (
    Timing as Timing,
    TrainingStep as TrainingStep,
    model_problem as model_problem,
    time_steps as time_steps,
)
