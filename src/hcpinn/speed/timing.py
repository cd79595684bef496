"""Timing: the median of several rounds and their spread, without compilation."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax


@dataclass(frozen=True)
class Timing:
    """Seconds per step."""

    median: float
    fastest: float
    slowest: float
    rounds: int
    compiling: float
    """Seconds the first call took longer than the second."""


def time_steps(
    advance: Callable[[], Any], *, steps: int, rounds: int = 7, seconds: float = 0.3, limit: float = 60.0
) -> Timing:
    """Time a function that takes some steps whenever it is called.

    Args:
        advance: the function; what it returns is waited for.
        steps: how many steps one call takes.
        rounds: how many rounds to time, at most.
        seconds: about how long each round lasts, with at least one call.
        limit: seconds after which no further round begins.
    """

    def spent(calls: int) -> float:
        began = time.perf_counter()
        jax.block_until_ready([advance() for _ in range(calls)])
        return time.perf_counter() - began

    began = time.perf_counter()
    first, once = spent(1), spent(1)
    calls = max(1, round(seconds / once))
    found: list[float] = []
    while len(found) < rounds and (not found or time.perf_counter() - began < limit):
        found.append(spent(calls) / (calls * steps))
    return Timing(
        median=statistics.median(found),
        fastest=min(found),
        slowest=max(found),
        rounds=len(found),
        compiling=max(first - once, 0.0),
    )
