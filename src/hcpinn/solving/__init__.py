"""Solving: from a problem and a method to a checked solution, within the time there is."""

from .calls import solve, solve_batch
from .engines import CHECKPOINT, probe

__all__ = ["CHECKPOINT", "probe", "solve", "solve_batch"]
