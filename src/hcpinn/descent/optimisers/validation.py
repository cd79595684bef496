"""Checks of the settings that all stages share."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ...errors import MethodError
from .rates import Schedule

LARGEST_COUNT = 2**31 - 1
"""Of anything that is counted while a compiled program runs."""


def check_stage(stage: Any) -> None:
    """Raise a `MethodError` for settings no optimiser can work with."""
    name = type(stage).__name__
    if stage.precision not in ("float32", "float64"):
        raise MethodError(f"{name}: precision must be 'float32' or 'float64', but is {stage.precision!r}.")
    for item in dataclasses.fields(stage):
        value = getattr(stage, item.name)
        if item.name == "precision":
            continue
        if item.name == "schedule":
            if not isinstance(value, Schedule):
                raise MethodError(f"{name}: schedule must be one such as Exponential(), but is {value!r}.")
            value.rate(stage.rate, stage.steps)  # says what is wrong, if anything is
            continue
        if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
            raise MethodError(f"{name}: {item.name} must be positive, but is {value!r}.")
        if item.type == "int" and not (isinstance(value, int) and value <= LARGEST_COUNT):
            raise MethodError(
                f"{name}: {item.name} must be a whole number up to {LARGEST_COUNT:,}, but is {value!r}."
            )
