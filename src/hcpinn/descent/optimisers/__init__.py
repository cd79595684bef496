"""Ways to make an objective small, one file each."""

from .adam import Adam
from .broyden import Broyden
from .lbfgs import LBFGS
from .levenberg_marquardt import LevenbergMarquardt
from .projected import Projected
from .rates import Constant, Cosine, Exponential, Schedule
from .sketched_gauss_newton import SketchedGaussNewton
from .soap import SOAP
from .stage import Stage

__all__ = [
    "LBFGS",
    "SOAP",
    "Adam",
    "Broyden",
    "Constant",
    "Cosine",
    "Exponential",
    "LevenbergMarquardt",
    "Projected",
    "Schedule",
    "SketchedGaussNewton",
    "Stage",
]
