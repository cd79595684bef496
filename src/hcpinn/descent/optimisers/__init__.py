"""Ways to make an objective small, one file each."""

from .adam import Adam
from .broyden import Broyden
from .lbfgs import LBFGS
from .levenberg_marquardt import LevenbergMarquardt
from .rates import Constant, Cosine, Exponential, Schedule
from .stage import Stage

__all__ = [
    "LBFGS",
    "Adam",
    "Broyden",
    "Constant",
    "Cosine",
    "Exponential",
    "LevenbergMarquardt",
    "Schedule",
    "Stage",
]
