"""Why exact initial data help, or not: tangent kernels, decay and Hessians of soft and hard training."""

from .analysis import Analysis, KernelState, TrainingAnalysis, analyse
from .choices import Choice, compare_choices, standard_choices
from .comparison import Findings, Indicators, compare_indicators
from .consistency import Consistency, check_consistency, transformed_residual
from .decay import Descent, FrozenKernel, descend, freeze
from .hessian import Bounds, Curvature, Matrices, bounds, curvature, matrices
from .kernel import Kernel, Spectrum, kernel, spectrum, trace_shares
from .modes import ErrorProbe, ModeDecay, mode_decay
from .systems import System, Tangent, hard_method, soft_method

__all__ = [
    "Analysis",
    "Bounds",
    "Choice",
    "Consistency",
    "Curvature",
    "Descent",
    "ErrorProbe",
    "Findings",
    "FrozenKernel",
    "Indicators",
    "Kernel",
    "KernelState",
    "Matrices",
    "ModeDecay",
    "Spectrum",
    "System",
    "Tangent",
    "TrainingAnalysis",
    "analyse",
    "bounds",
    "check_consistency",
    "compare_choices",
    "compare_indicators",
    "curvature",
    "descend",
    "freeze",
    "hard_method",
    "kernel",
    "matrices",
    "mode_decay",
    "soft_method",
    "spectrum",
    "standard_choices",
    "trace_shares",
    "transformed_residual",
]
