"""Making the objective small."""

from .adam import Adam
from .checkpoint import Checkpoint
from .driver import History, Trained, train
from .lbfgs import LBFGS
from .progress import Progress
from .stage import Stage
from .stop import Stop

__all__ = ["LBFGS", "Adam", "Checkpoint", "History", "Progress", "Stage", "Stop", "Trained", "train"]
