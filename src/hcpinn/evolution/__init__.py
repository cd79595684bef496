"""Networks whose output weights move in time as a stiff ODE."""

from .engine import Evolution as Evolution, applies as applies, evolve as evolve
from .evolved import Evolved as Evolved, Function as Function
from .outcome import Pass as Pass
from .regions import RegionFunction as RegionFunction
