"""Ways to make an objective small, one file each."""

from .adam import Adam as Adam
from .broyden import Broyden as Broyden
from .lbfgs import LBFGS as LBFGS
from .levenberg_marquardt import LevenbergMarquardt as LevenbergMarquardt
from .projected import Projected as Projected
from .rates import Constant as Constant, Cosine as Cosine, Exponential as Exponential, Schedule as Schedule
from .sketched_gauss_newton import SketchedGaussNewton as SketchedGaussNewton
from .soap import SOAP as SOAP
from .stage import Stage as Stage
