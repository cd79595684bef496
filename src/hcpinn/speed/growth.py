"""How the cost of a step grows, with one thing at a time: points, width, depth, order and so on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .bench import Case, Row, describe, measure_case
from .ceilings import Ceilings

BASE = Case(points=8192, modes=2)
"""Where all sweeps start: second order, one field, one dimension, 7×32, one run, few features."""

SWEEPS: Mapping[str, tuple[int, ...]] = {
    "points": (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
    "width": (8, 16, 32, 64, 128, 256),
    "depth": (1, 2, 4, 8, 16),
    "order": (1, 2, 3, 4, 5, 6),
    "fields": (1, 2, 3, 4),
    "dimensions": (1, 2, 3),
    "runs": (1, 2, 4, 8, 16, 32, 64),
}


@dataclass(frozen=True)
class Left:
    """A case that was left out, and why."""

    case: Case
    why: str


def sweep(
    what: str,
    ceilings: Ceilings,
    *,
    base: Case = BASE,
    values: Sequence[int] | None = None,
    rounds: int = 5,
    limit: float = 60.0,
    tell: Callable[[str], None] = lambda text: None,
) -> Iterator[Row | Left]:
    """Time steps that differ in one thing, from the smallest on.

    A case whose calls, forecast from the case before, would take longer than `limit` seconds is left out.
    """
    last: Row | None = None
    for value in SWEEPS[what] if values is None else values:
        case = dataclasses.replace(base, **{what: value})
        if last is not None:
            # The first call, which compiles, a second one and one round: three steps at the least.
            expected = 3 * last.time * value / getattr(last.case, what)
            if expected > limit:
                yield Left(case, f"it would take about {expected:.0f} s, more than {limit:.0f} s")
                continue
        tell(f"{what}: {describe(case)}")
        last = measure_case(case, ceilings, rounds=rounds, limit=limit)
        yield last


def slope(values: Sequence[float], times: Sequence[float]) -> float:
    """The power p in time ∝ valueᵖ, by least squares over the larger half of the values, or all of a few."""
    half = len(values) // 2 if len(values) > 6 else 0
    return float(np.polyfit(np.log(values[half:]), np.log(times[half:]), 1)[0])
