"""Networks whose output weights move in time as a stiff ODE."""

from .engine import Evolution, applies, evolve
from .evolved import Evolved, Function
from .outcome import Pass, Stop

__all__ = ["Evolution", "Evolved", "Function", "Pass", "Stop", "applies", "evolve"]
