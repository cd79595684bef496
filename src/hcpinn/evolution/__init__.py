"""Networks whose output weights move in time as a stiff ODE."""

from .engine import Density, Engine, Evolution, applies, evolve, larger
from .estimate import Solved, difference, unseen
from .evolved import Evolved, Function, assemble
from .lift import Carrier, walled
from .limits import Limits
from .motion import fading
from .outcome import Halted, Pass
from .pointwise import Pointwise, PointwiseAt
from .projection import Projection
from .radau import Track, lagrange, scheme

__all__ = [
    "Carrier",
    "Density",
    "Engine",
    "Evolution",
    "Evolved",
    "Function",
    "Halted",
    "Limits",
    "Pass",
    "Pointwise",
    "PointwiseAt",
    "Projection",
    "Solved",
    "Track",
    "applies",
    "assemble",
    "difference",
    "evolve",
    "fading",
    "lagrange",
    "larger",
    "scheme",
    "unseen",
    "walled",
]
