"""How training goes before it is done: tangent kernels, decay, modes of the error and curvature."""

from .decay import Descent as Descent, FrozenKernel as FrozenKernel, descend as descend, freeze as freeze
from .kernel import (
    Curvature as Curvature,
    Kernel as Kernel,
    Spectrum as Spectrum,
    curvature as curvature,
    kernel as kernel,
    spectrum as spectrum,
    trace_shares as trace_shares,
)
from .modes import ErrorProbe as ErrorProbe, ModeDecay as ModeDecay, mode_decay as mode_decay
from .systems import (
    System as System,
    Tangent as Tangent,
    hard_method as hard_method,
    soft_method as soft_method,
)
