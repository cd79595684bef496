"""How training goes before it is done: tangent kernels, decay, modes of the error and curvature."""

from .curvature import Curvature, curvature
from .decay import Descent, FrozenKernel, descend, freeze
from .kernel import Kernel, Spectrum, kernel, spectrum, trace_shares
from .modes import ErrorProbe, ModeDecay, mode_decay
from .systems import System, Tangent, hard_method, soft_method

__all__ = [
    "Curvature",
    "Descent",
    "ErrorProbe",
    "FrozenKernel",
    "Kernel",
    "ModeDecay",
    "Spectrum",
    "System",
    "Tangent",
    "curvature",
    "descend",
    "freeze",
    "hard_method",
    "kernel",
    "mode_decay",
    "soft_method",
    "spectrum",
    "trace_shares",
]
