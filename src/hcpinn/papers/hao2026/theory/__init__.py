"""Whether theory explains what exact initial data gain: soft and hard training, compared beforehand."""

from .analysis import (
    Analysis as Analysis,
    KernelState as KernelState,
    TrainingAnalysis as TrainingAnalysis,
    analyse as analyse,
)
from .choices import (
    Choice as Choice,
    compare_choices as compare_choices,
    standard_choices as standard_choices,
)
from .conditioning import (
    Findings as Findings,
    Indicators as Indicators,
    compare_indicators as compare_indicators,
)
from .consistency import (
    Consistency as Consistency,
    check_consistency as check_consistency,
    transformed_residual as transformed_residual,
)
from .hessian import Bounds as Bounds, Matrices as Matrices, bounds as bounds, matrices as matrices
