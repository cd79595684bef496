"""Rows of a study's tables: what was published, what was found over the seeds, and their ratio."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .record import Record

MEASURES = {
    "rel_l2": "L2",
    "rel_l1": "L1",
    "rel_l2_u": "L2 of u",
    "rel_l2_v": "L2 of v",
    "rel_l2_real": "L2 of real(u)",
    "rel_l2_imag": "L2 of imag(u)",
    "rel_l2 at t=0.5": "L2 at t = 0.5",
    "rel_l2 at t=1": "L2 at t = 1",
}
"""What is measured, by the names of the published figures: relative errors."""


@dataclass(frozen=True)
class Spread:
    """A figure over several seeds.

    The mean is what the study averages its repetitions to, so published figures are compared with it. Errors
    are never negative and often lie decades apart, where a standard deviation says little, so the spread is
    the smallest and the largest value. The median tells when one bad seed makes the mean.
    """

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The arithmetic mean."""
        return float(np.mean(self.values))

    @property
    def median(self) -> float:
        """The median."""
        return float(np.median(self.values))

    @property
    def low(self) -> float:
        """The smallest value."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The largest value."""
        return max(self.values)


@dataclass(frozen=True)
class Row:
    """One row: a problem and a method, the published figures, and the runs of every seed."""

    problem: str
    method: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    """Those that tell the row from others."""
    published: Mapping[str, float] = field(default_factory=dict)
    records: tuple[Record, ...] = ()
    expected: int = 1
    """The number of runs it should have."""
    deviations: tuple[str, ...] = ()
    """In what the runs differ from the published settings."""
    modes: int | None = None
    """The number of Fourier modes, where that is what varies."""

    @cached_property
    def done(self) -> list[Record]:
        """The runs that ended."""
        return [record for record in self.records if record.status == "done"]

    @cached_property
    def failed(self) -> list[Record]:
        """The runs that broke off with an error."""
        return [record for record in self.records if record.status == "failed"]

    def found(self, measure: str) -> Spread | None:
        """A figure over the seeds; None if no run has it."""
        values = [measured(record, measure) for record in self.done]
        known = tuple(value for value in values if value is not None)
        return Spread(known) if known else None

    def ratio(self, measure: str) -> float | None:
        """Ours over published."""
        found, published = self.found(measure), self.published.get(measure)
        return None if found is None or not published else found.mean / published

    @cached_property
    def published_error(self) -> float | None:
        """The published relative L2 error, of several fields the largest."""
        known = [value for name, value in self.published.items() if name.startswith("rel_l2")]
        return max(known, default=None)

    @property
    def runs(self) -> str:
        """How many runs there are, of how many, and how many failed."""
        if not self.records:
            return f"0 of {self.expected}"
        text = (
            str(len(self.done)) if len(self.done) >= self.expected else f"{len(self.done)} of {self.expected}"
        )
        return f"{text}, {len(self.failed)} failed" if self.failed else text

    @property
    def verdict(self) -> str:
        """The verdict of the runs, or how many have which."""
        if not self.records:
            return "not yet run"
        counts = Counter(record.summary.get("verdict", "unknown") for record in self.done)
        counts.update({"failed": len(self.failed)} if self.failed else {})
        if len(counts) == 1:
            return next(iter(counts))
        return ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())

    @property
    def seconds(self) -> float | None:
        """Device seconds for a run; runs that trained together share theirs."""
        known = [device_seconds(record) for record in self.done]
        return float(np.mean(known)) if known else None

    @property
    def size(self) -> int | None:
        """How many parameters are trained."""
        return next(
            (r.summary["parameters_trained"] for r in self.done if "parameters_trained" in r.summary), None
        )

    @property
    def notes(self) -> str:
        """What a reader has to know: other settings, reasons of failure."""
        reasons = [f"seed {record.seed} failed: {record.reason}" for record in self.failed]
        lost = [r.seed for r in self.done if measured(r, "rel_l2") is None]
        if lost:
            reasons.append(f"no error known for seed {', '.join(map(str, lost))}")
        return "; ".join([*self.deviations, *reasons])


def device_seconds(record: Record) -> float:
    """The time a run took on its device, its share where several trained together or side by side."""
    if record.device_s is not None:
        return record.device_s
    return float(record.summary.get("wall_s") or 0.0) / max(record.trained_together, 1)


def measured(record: Record, measure: str) -> float | None:
    """A figure of a record by the name of the published one; None if it has none, or none that is finite."""
    match = re.fullmatch(r"(rel_l[12])(?:_(\w+))?(?: at (t=\S+))?", measure)
    if match is None:
        return None
    norm, part, time = match.groups()
    values: Any = record.summary.get(norm)
    if time is not None:
        values = (record.summary.get(f"{norm}_at") or {}).get(time)
    if not isinstance(values, Mapping):
        return None
    chosen = [v for name, v in values.items() if part is None or name == part or name.startswith(f"{part}(")]
    if not chosen or any(value is None or not math.isfinite(value) for value in chosen):
        return None
    return float(max(chosen))


def without_error(record: Record) -> bool:
    """Whether a run was compared with its reference and its error is not finite."""
    errors = record.summary.get("rel_l2")
    return isinstance(errors, Mapping) and any(
        value is None or not math.isfinite(value) for value in errors.values()
    )
