"""Training all weights of a network by descent: methods, optimisers, the schedule and the driver."""

from ..outcome import History, Outcome, PointWeights, Stop
from .budget import with_budget
from .checkpoint import Checkpoint, remove_checkpoints, seconds_spent, set_aside
from .driver import train
from .lessons import Curriculum, Lesson, Report, Resampling
from .memory import available_bytes, check_memory, needed_bytes
from .method import Method
from .optimisers import (
    LBFGS,
    Adam,
    Broyden,
    Constant,
    Cosine,
    Exponential,
    LevenbergMarquardt,
    Schedule,
    Stage,
)
from .preparation import Preparation, Prepared, network_key
from .progress import Progress
from .runs import Run, check_alike
from .segments import Piecewise, Segment
from .text import from_dict, from_toml, load_method, save_method, to_dict, to_toml

__all__ = [
    "LBFGS",
    "Adam",
    "Broyden",
    "Checkpoint",
    "Constant",
    "Cosine",
    "Curriculum",
    "Exponential",
    "History",
    "Lesson",
    "LevenbergMarquardt",
    "Method",
    "Outcome",
    "Piecewise",
    "PointWeights",
    "Preparation",
    "Prepared",
    "Progress",
    "Report",
    "Resampling",
    "Run",
    "Schedule",
    "Segment",
    "Stage",
    "Stop",
    "available_bytes",
    "check_alike",
    "check_memory",
    "from_dict",
    "from_toml",
    "load_method",
    "needed_bytes",
    "network_key",
    "remove_checkpoints",
    "save_method",
    "seconds_spent",
    "set_aside",
    "to_dict",
    "to_toml",
    "train",
    "with_budget",
]
