"""Training all weights of a network by descent: methods, optimisers, the schedule and the driver."""

from .budget import with_budget
from .checkpoint import Checkpoint, remove_checkpoints, seconds_spent, set_aside
from .driver import History, PointWeights, Trained, train
from .lessons import Curriculum, Resampling
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
from .phase import Phase, Plan, Prepared
from .progress import Progress
from .runs import Run, check_alike
from .stop import Stop
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
    "LevenbergMarquardt",
    "Method",
    "Phase",
    "Plan",
    "PointWeights",
    "Prepared",
    "Progress",
    "Resampling",
    "Run",
    "Schedule",
    "Stage",
    "Stop",
    "Trained",
    "available_bytes",
    "check_alike",
    "check_memory",
    "from_dict",
    "from_toml",
    "load_method",
    "needed_bytes",
    "remove_checkpoints",
    "save_method",
    "seconds_spent",
    "set_aside",
    "to_dict",
    "to_toml",
    "train",
    "with_budget",
]
