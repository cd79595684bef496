"""hcpinn: stiff, time-dependent PDEs solved by networks that meet initial and boundary data exactly."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .catalog import find_method, find_problem
    from .errors import HcpinnError
    from .method import Method
    from .problem import Box, Dirichlet, Interval, Periodic, Problem, apply
    from .reference import Reference, solve_reference
    from .solution import Solution
    from .solving import Run, solve, solve_batch
    from .storage import load
    from .training import LBFGS, Adam
    from .trial import MLP, CustomGate, CustomLift, CustomNetwork, Decay, Fourier, LinearGate, Plain
    from .verdict import Verdict

_HOME = {
    "catalog": ("find_method", "find_problem"),
    "errors": ("HcpinnError",),
    "method": ("Method",),
    "problem": ("Box", "Dirichlet", "Interval", "Periodic", "Problem", "apply"),
    "reference": ("Reference", "solve_reference"),
    "solution": ("Solution",),
    "solving": ("Run", "solve", "solve_batch"),
    "storage": ("load",),
    "training": ("LBFGS", "Adam"),
    "trial": ("MLP", "CustomGate", "CustomLift", "CustomNetwork", "Decay", "Fourier", "LinearGate", "Plain"),
    "verdict": ("Verdict",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__version__ = "0.1.0"
__all__ = [  # noqa: RUF022  (grouped by the order in which one meets them)
    "Problem", "Interval", "Box", "Periodic", "Dirichlet", "apply",
    "solve", "solve_batch", "Run", "Solution", "Verdict", "load",
    "Method", "Decay", "CustomLift", "LinearGate", "CustomGate", "Fourier", "Plain", "MLP", "CustomNetwork",
    "Adam", "LBFGS",
    "Reference", "solve_reference", "find_problem", "find_method", "HcpinnError",
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
