"""Networks whose output weights move in time as a stiff ODE."""

from .engine import (
    Density as Density,
    Engine as Engine,
    Evolution as Evolution,
    applies as applies,
    evolve as evolve,
    larger as larger,
)
from .estimate import Solved as Solved, difference as difference, unseen as unseen
from .evolved import Evolved as Evolved, Function as Function, assemble as assemble
from .lift import Carrier as Carrier, walled as walled
from .limits import Limits as Limits
from .motion import fading as fading
from .outcome import Halted as Halted, Pass as Pass
from .pointwise import Pointwise as Pointwise, PointwiseAt as PointwiseAt
from .projection import Projection as Projection
from .radau import Track as Track, lagrange as lagrange, scheme as scheme
from .regions import RegionFunction as RegionFunction
