"""Numbers and places as a user gives them, or a sentence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import ProblemError


def number(value: Any, what: str, *, positive: bool = False) -> float:
    """A finite number."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found) or (positive and found <= 0):
        raise ProblemError(
            f"{what} must be a {'positive ' if positive else ''}finite number, but is {value!r}."
        )
    return found


def place(value: Any, what: str, count: int) -> np.ndarray:
    """A row of finite numbers."""
    try:
        found = np.asarray(value, float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (count,) or not np.isfinite(found).all():
        raise ProblemError(f"{what} must be {count} finite numbers, but is {value!r}.")
    return found
