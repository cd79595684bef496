"""hcpinn: stiff, time-dependent PDEs solved by networks that meet initial and boundary data exactly."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .catalog import find_method, find_problem
    from .errors import HcpinnError
    from .method import Curriculum, Method, Resampling, load_method, save_method
    from .objective import (
        Attention,
        Batches,
        BoundaryPenalty,
        Causal,
        DataPenalty,
        InitialPenalty,
        PeriodicPenalty,
        SelfAdaptive,
    )
    from .problem import Box, Dirichlet, Interval, Neumann, Periodic, Problem, Robin, apply
    from .programs import keep_programs
    from .reference import Reference, solve_reference
    from .runs import Run
    from .solution import Solution
    from .solving import solve, solve_batch
    from .storage import load
    from .training import LBFGS, Adam, Broyden, Constant, Cosine, Exponential, LevenbergMarquardt
    from .trial import (
        MLP,
        Characteristic,
        CustomGate,
        CustomLift,
        CustomNetwork,
        Decay,
        ExponentialGate,
        Fourier,
        LinearGate,
        ModifiedMLP,
        NoGate,
        NoLift,
        Plain,
        Semigroup,
    )
    from .verdict import Verdict

_HOME = {
    "catalog": ("find_method", "find_problem"),
    "errors": ("HcpinnError",),
    "method": ("Curriculum", "Method", "Resampling", "load_method", "save_method"),
    "objective": (
        *("Attention", "Batches", "BoundaryPenalty", "Causal", "DataPenalty", "InitialPenalty"),
        *("PeriodicPenalty", "SelfAdaptive"),
    ),
    "problem": ("Box", "Dirichlet", "Interval", "Neumann", "Periodic", "Problem", "Robin", "apply"),
    "programs": ("keep_programs",),
    "reference": ("Reference", "solve_reference"),
    "runs": ("Run",),
    "solution": ("Solution",),
    "solving": ("solve", "solve_batch"),
    "storage": ("load",),
    "training": ("LBFGS", "Adam", "Broyden", "Constant", "Cosine", "Exponential", "LevenbergMarquardt"),
    "trial": (
        *(
            "MLP",
            "Characteristic",
            "CustomGate",
            "CustomLift",
            "CustomNetwork",
            "Decay",
            "ExponentialGate",
            "Fourier",
        ),
        *("LinearGate", "ModifiedMLP", "NoGate", "NoLift", "Plain", "Semigroup"),
    ),
    "verdict": ("Verdict",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__version__ = "0.1.0"
__all__ = [  # noqa: RUF022  (grouped by the order in which one meets them)
    "Problem", "Interval", "Box", "Periodic", "Dirichlet", "Neumann", "Robin", "apply",
    "solve", "solve_batch", "Run", "Solution", "Verdict", "load",
    "Method", "load_method", "save_method",
    "Decay", "Semigroup", "NoLift", "CustomLift", "LinearGate", "ExponentialGate", "NoGate", "CustomGate",
    "Fourier", "Plain", "Characteristic", "MLP", "ModifiedMLP", "CustomNetwork",
    "InitialPenalty", "PeriodicPenalty", "BoundaryPenalty", "DataPenalty",
    "Batches", "SelfAdaptive", "Attention", "Causal", "Resampling", "Curriculum",
    "Adam", "LBFGS", "LevenbergMarquardt", "Broyden", "Constant", "Exponential", "Cosine",
    "Reference", "solve_reference", "find_problem", "find_method", "keep_programs", "HcpinnError",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load public names when they are first used, so that importing hcpinn costs nothing."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'hcpinn' has no attribute '{name}'")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
