"""Making the objective small."""

from .adam import Adam
from .broyden import Broyden
from .checkpoint import Checkpoint, seconds_spent
from .driver import History, PointWeights, Trained, train
from .interrupt import patient_interrupt
from .lbfgs import LBFGS
from .levenberg_marquardt import LevenbergMarquardt
from .memory import available_bytes, check_memory, needed_bytes
from .phase import Phase, Plan, Prepared
from .progress import Progress
from .schedule import Constant, Cosine, Exponential, Schedule
from .stage import Stage
from .stop import Stop

__all__ = [
    "LBFGS",
    "Adam",
    "Broyden",
    "Checkpoint",
    "Constant",
    "Cosine",
    "Exponential",
    "History",
    "LevenbergMarquardt",
    "Phase",
    "Plan",
    "PointWeights",
    "Prepared",
    "Progress",
    "Schedule",
    "Stage",
    "Stop",
    "Trained",
    "available_bytes",
    "check_memory",
    "needed_bytes",
    "patient_interrupt",
    "seconds_spent",
    "train",
]
