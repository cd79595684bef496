"""Training all weights of a network by descent: methods, optimisers, the schedule and the driver."""

from ..outcome import History, Outcome, PointWeights, Stop
from .budget import with_budget
from .checkpoint import Checkpoint, remove_checkpoints, seconds_spent, set_aside
from .driver import train
from .lessons import Curriculum, Growth, Lesson, Report, Resampling
from .memory import available_bytes, check_memory, needed_bytes
from .method import Method
from .optimisers import (
    LBFGS,
    SOAP,
    Adam,
    Broyden,
    Constant,
    Cosine,
    Exponential,
    LevenbergMarquardt,
    Projected,
    Schedule,
    SketchedGaussNewton,
    Stage,
)
from .preparation import Preparation, Prepared, network_key
from .progress import Progress
from .runs import Run, check_alike
from .segments import Found, Piecewise, Segment
from .text import from_dict, from_toml, load_method, save_method, to_dict, to_toml

__all__ = [
    "LBFGS",
    "SOAP",
    "Adam",
    "Broyden",
    "Checkpoint",
    "Constant",
    "Cosine",
    "Curriculum",
    "Exponential",
    "Found",
    "Growth",
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
    "Projected",
    "Report",
    "Resampling",
    "Run",
    "Schedule",
    "Segment",
    "SketchedGaussNewton",
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
