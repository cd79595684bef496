"""Solving: from a problem and a method to a checked solution, within the time there is."""

from .calls import settled as settled, solve as solve, solve_batch as solve_batch
from .engines import CHECKPOINT as CHECKPOINT, probe as probe
