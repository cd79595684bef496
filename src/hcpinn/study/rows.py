"""Rows of tables: runs that differ only in their seeds, and statistics over them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from .record import Record

Middle = Literal["mean", "median"]
"""The statistic shown for several seeds."""


@dataclass(frozen=True)
class Spread:
    """A figure over several seeds.

    Errors are never negative and often lie decades apart, where a standard deviation says little, so the
    spread is the smallest and the largest value.
    """

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The arithmetic mean."""
        return float(np.mean(self.values))

    @property
    def median(self) -> float:
        """The median, which one bad seed cannot distort as it does the mean."""
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
    """A problem and a method, with the runs of every seed."""

    problem: str
    method: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    """Those that distinguish the row."""
    records: tuple[Record, ...] = ()
    expected: int = 1
    """The number of runs it should have."""
    label: str = ""
    """What the study calls it."""

    @cached_property
    def done(self) -> list[Record]:
        """The runs that finished."""
        return [record for record in self.records if record.done]

    @cached_property
    def failed(self) -> list[Record]:
        """The runs that broke off with an error."""
        return [record for record in self.records if not record.done]

    def found(self, measure: str) -> Spread | None:
        """A figure over the seeds; None if no run has it."""
        values = [measured(record, measure) for record in self.done]
        known = tuple(value for value in values if value is not None)
        return Spread(known) if known else None

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
        """Remarks on its runs: why some failed, which have no error."""
        reasons = [f"seed {record.seed} failed: {record.reason}" for record in self.failed]
        lost = [r.seed for r in self.done if measured(r, "rel_l2") is None]
        if lost:
            reasons.append(f"no error known for seed {', '.join(map(str, lost))}")
        return "; ".join(reasons)


def by_seed(records: Iterable[Record]) -> tuple[Record, ...]:
    """Records in the order of their seeds."""
    return tuple(sorted(records, key=lambda record: record.seed))


def device_seconds(record: Record) -> float:
    """Device seconds of a run; its share if several trained together or side by side."""
    if record.device_s is not None:
        return record.device_s
    return float(record.summary.get("wall_s") or 0.0) / max(record.trained_together, 1)


def measured(record: Record, measure: str) -> float | None:
    """A figure of a record; None if it has none, or none that is finite.

    `measure` is `rel_l2` or `rel_l1`, the largest relative error over all fields; with the name of a field,
    as in `rel_l2_v`, the error of that one; with a time, as in `rel_l2 at t=0.5`, the error then.
    """
    match = re.fullmatch(r"(rel_l[12])(?:_(.+?))?(?: at (t=\S+))?", measure)
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


def components(record: Record) -> tuple[str, ...]:
    """The names under which a record has errors: its fields, or the parts of complex ones."""
    return tuple(record.summary.get("rel_l2") or ())
