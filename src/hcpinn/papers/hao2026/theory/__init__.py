"""Whether theory explains what exact initial data gain: soft and hard training, compared beforehand."""

from .analysis import Analysis, KernelState, TrainingAnalysis, analyse
from .choices import Choice, compare_choices, standard_choices
from .conditioning import Findings, Indicators, compare_indicators
from .consistency import Consistency, check_consistency, transformed_residual
from .hessian import Bounds, Matrices, bounds, matrices

__all__ = [
    "Analysis",
    "Bounds",
    "Choice",
    "Consistency",
    "Findings",
    "Indicators",
    "KernelState",
    "Matrices",
    "TrainingAnalysis",
    "analyse",
    "bounds",
    "check_consistency",
    "compare_choices",
    "compare_indicators",
    "matrices",
    "standard_choices",
    "transformed_residual",
]
