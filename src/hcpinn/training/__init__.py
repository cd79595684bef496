"""Making the objective small."""

from .adam import Adam
from .checkpoint import Checkpoint
from .driver import History, PointWeights, Trained, train
from .lbfgs import LBFGS
from .phase import Phase, Plan, Prepared
from .progress import Progress
from .schedule import Constant, Cosine, Exponential, Schedule
from .stage import Stage
from .stop import Stop

__all__ = [
    "LBFGS",
    "Adam",
    "Checkpoint",
    "Constant",
    "Cosine",
    "Exponential",
    "History",
    "Phase",
    "Plan",
    "PointWeights",
    "Prepared",
    "Progress",
    "Schedule",
    "Stage",
    "Stop",
    "Trained",
    "train",
]
