"""What a classical solver returns: values on a grid, with an estimate of their error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

HOPELESS = 1e-3
"""Relative error above which a result is no reference at all."""

ROUNDING = 1e-13
"""Relative error below which further refinement only reshuffles rounding errors."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Reference:
    """A trusted solution on a uniform grid that includes both ends of every axis.

    `values[field]` has shape (times, x[, y, z]) and is complex where the field is.
    `error_estimate` is the relative L² error over all times and points of the worst field, as
    refining step and grid suggests it; the values are those of the finer step.
    """

    problem_name: str
    """The name of the problem it solves."""
    times: np.ndarray
    """From the start to the horizon, evenly spaced."""
    coordinates: tuple[np.ndarray, ...]
    """The positions along each space axis."""
    values: Mapping[str, np.ndarray]
    """By field, of shape (times, x[, y, z])."""
    error_estimate: float
    """The estimated relative L² error of the worst field."""
    solver: str
    """How it was computed, in words."""
    notes: tuple[str, ...] = ()
    """Remarks on the data, such as kinks."""
    wall_s: float = 0.0
    """Seconds it took."""

    def to_plain(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The facts as plain data and the arrays by name, for files."""
        facts = {
            "problem_name": self.problem_name,
            "fields": list(self.values),
            "dimensions": len(self.coordinates),
            "error_estimate": self.error_estimate,
            "solver": self.solver,
            "notes": list(self.notes),
            "wall_s": self.wall_s,
        }
        arrays = {"times": self.times}
        arrays |= {f"coordinate.{n}": c for n, c in enumerate(self.coordinates)}
        arrays |= {f"values.{name}": v for name, v in self.values.items()}
        return facts, arrays

    @classmethod
    def from_plain(cls, facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Reference:
        """The reference that `to_plain` took apart."""
        return cls(
            problem_name=facts["problem_name"],
            times=arrays["times"],
            coordinates=tuple(arrays[f"coordinate.{n}"] for n in range(facts["dimensions"])),
            values={name: arrays[f"values.{name}"] for name in facts["fields"]},
            error_estimate=float(facts["error_estimate"]),
            solver=facts["solver"],
            notes=tuple(facts["notes"]),
            wall_s=float(facts["wall_s"]),
        )

    def __repr__(self) -> str:
        shape = " × ".join(str(n) for n in (len(self.times), *map(len, self.coordinates)))
        return (
            f"Reference({self.problem_name}: {', '.join(self.values)} on {shape} points, "
            f"estimated relative error {self.error_estimate:.1e})"
        )


VANISHING = 1e-10
"""A field smaller than the largest by so much counts as zero, and is measured by the largest."""


class SolverResult(NamedTuple):
    """What one solver found: values per field, estimated relative error, the method in words, notes."""

    values: list[np.ndarray]
    error_estimate: float
    solver: str
    notes: tuple[str, ...]


def weighed(
    values: list[np.ndarray],
    in_time: float,
    in_space: float,
    tolerance: float,
    solver: str,
    notes: Sequence[str] = (),
) -> SolverResult:
    """A result from its estimated errors, with a note where one of them is above the tolerance."""
    if max(in_time, in_space) > tolerance:
        missed = (
            f"The tolerance {tolerance:.0e} was not reached: the error is estimated as {in_time:.1e} from "
            f"refining the step and {in_space:.1e} from refining the grid."
        )
        notes = [*notes, missed]
    return SolverResult(values, float(in_time + in_space), solver, tuple(notes))


def relative_change(new: Sequence[np.ndarray], old: Sequence[np.ndarray]) -> float:
    """The largest relative L² difference ‖new − old‖ / ‖new‖ over the fields; infinite if not finite."""
    worst = 0.0
    sizes = [float(np.linalg.norm(a)) for a in new]
    least = VANISHING * max(sizes)
    for size, a, b in zip(sizes, new, old, strict=True):
        scale = max(size, least)
        difference = float(np.linalg.norm(a - b))
        change = difference / scale if scale > 0 else difference
        worst = max(worst, change) if np.isfinite(change) else np.inf
    return worst
