"""The theory of exact initial data, runnable: tangent kernels, decay, Hessians, hard against soft."""

from .analysis import Analysis, Side, State, analyse
from .choices import Choice, compare_choices, standard_choices
from .comparison import Figures, Findings, judge
from .consistency import Consistency, advection_residual, check_consistency, transformed_residual
from .decay import Descent, Frozen, descend, freeze
from .hessian import Bounds, Curvature, Matrices, bounds, curvature, matrices
from .kernel import Kernel, Spectrum, gram_spectrum, kernel, spectrum, trace_shares
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
    "Figures",
    "Findings",
    "Frozen",
    "Kernel",
    "Matrices",
    "ModeDecay",
    "Side",
    "Spectrum",
    "State",
    "System",
    "Tangent",
    "advection_residual",
    "analyse",
    "bounds",
    "check_consistency",
    "compare_choices",
    "curvature",
    "descend",
    "freeze",
    "gram_spectrum",
    "hard_method",
    "judge",
    "kernel",
    "matrices",
    "mode_decay",
    "soft_method",
    "spectrum",
    "standard_choices",
    "trace_shares",
    "transformed_residual",
]
