"""Training all weights of a network by descent: methods, optimisers, the schedule and the driver."""

from ..outcome import History as History, PointWeights as PointWeights, Stop as Stop
from .checkpoint import (
    Checkpoint as Checkpoint,
    remove_checkpoints as remove_checkpoints,
    seconds_spent as seconds_spent,
    set_aside as set_aside,
)
from .driver import train as train
from .growth import Grower as Grower, Grown as Grown
from .lessons import (
    Curriculum as Curriculum,
    Growth as Growth,
    Lesson as Lesson,
    Report as Report,
    Resampling as Resampling,
)
from .memory import (
    Extent as Extent,
    available_bytes as available_bytes,
    training_bytes as training_bytes,
)
from .method import Method as Method, with_budget as with_budget
from .optimisers import (
    LBFGS as LBFGS,
    SOAP as SOAP,
    Adam as Adam,
    Broyden as Broyden,
    Constant as Constant,
    Cosine as Cosine,
    Exponential as Exponential,
    LevenbergMarquardt as LevenbergMarquardt,
    Projected as Projected,
    Schedule as Schedule,
    SketchedGaussNewton as SketchedGaussNewton,
    Stage as Stage,
)
from .preparation import Preparation as Preparation, Prepared as Prepared, network_key as network_key
from .progress import Progress as Progress, Status as Status
from .runs import Run as Run
from .segments import Piecewise as Piecewise
from .text import (
    from_dict as from_dict,
    load_method as load_method,
    save_method as save_method,
    to_dict as to_dict,
    to_toml as to_toml,
)
