"""The table of `hcpinn bench`: the time of various training steps, and how it compares with the floor."""

from __future__ import annotations

import dataclasses
import itertools
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..descent import Adam, Method
from ..descent.runs import Run
from ..machine.commit import source_commit
from ..machine.provenance import provenance
from ..trial import MLP, Decay, Fourier
from .ceilings import Ceilings
from .counts import Work
from .step import Timing, TrainingStep, model_problem

HEADS = ("precision", "runs", "order", "fields", "ms per step", "floor", "over floor", "points per s")


@dataclass(frozen=True)
class BenchCase:
    """A training step to be timed: one step of Adam for a tanh network on a model problem."""

    order: int = 2
    fields: int = 1
    dimensions: int = 1
    width: int = 32
    depth: int = 7
    modes: int = 10
    """Of the Fourier embedding, per axis."""
    points: int = 16_384
    """Per run."""
    runs: int = 1
    precision: str = "float32"

    def step(self) -> TrainingStep:
        """The training step."""
        problem = model_problem(order=self.order, fields=self.fields, dimensions=self.dimensions)
        method = Method(
            lift=Decay(1.0),
            embedding=Fourier(self.modes),
            network=MLP(self.width, self.depth),
            points=self.points,
            stages=(Adam(precision=self.precision),),
        )
        return TrainingStep([Run(problem, method, seed) for seed in range(self.runs)])

    def __str__(self) -> str:
        fields, runs = ("s" * (count > 1) for count in (self.fields, self.runs))
        return (
            f"order {self.order}, {self.fields} field{fields}, {self.points:,} points, {self.precision}, "
            f"{self.runs} run{runs}"
        )


@dataclass(frozen=True)
class BenchRow:
    """What was measured in one case, per step."""

    case: BenchCase
    timing: Timing
    work: Work
    floor: float
    """Seconds at least."""

    @property
    def time(self) -> float:
        """Seconds, the median of the rounds."""
        return self.timing.median

    @property
    def ratio(self) -> float:
        """Time over floor."""
        return self.time / self.floor

    def plain(self) -> dict[str, Any]:
        """A flat mapping, for files."""
        case, timing, work = (dataclasses.asdict(part) for part in (self.case, self.timing, self.work))
        return {**case, "time": timing.pop("median"), **timing, "floor": self.floor, **work}


def cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """A row as `plain` gives it, as text under `HEADS`."""
    took, floor = row["time"], row["floor"]
    case = (row["precision"], str(row["runs"]), str(row["order"]), str(row["fields"]))
    times = (f"{1e3 * took:.3g}", f"{1e3 * floor:.3g}", f"{took / floor:.2g}×")
    return (*case, *times, f"{row['points'] * row['runs'] / took:.3g}")


def standard_cases(points: int, runs: int) -> list[BenchCase]:
    """Second and fourth order, one field and two, both precisions, one run and a batch."""
    return [
        BenchCase(order=order, fields=fields, points=points, runs=count, precision=precision)
        for precision, count, order, fields in itertools.product(
            ("float32", "float64"), (1, runs) if runs > 1 else (1,), (2, 4), (1, 2)
        )
    ]


def measure_case(case: BenchCase, ceilings: Ceilings, *, rounds: int, limit: float = 60.0) -> BenchRow:
    """Time one case.

    Args:
        case: the step to time.
        ceilings: the machine's best rates in its precision.
        rounds: how many times it is timed, at most.
        limit: seconds after which no further round begins.
    """
    step = case.step()
    work = step.work()
    floor = ceilings.floor(work)
    return BenchRow(case, step.time(floor, rounds=rounds, limit=limit), work, floor)


def circumstances(program: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Those of measurements that start now; of paths among the arguments only the last part is kept."""
    where = provenance()
    return {
        "command": " ".join([program, *(Path(argument).name for argument in arguments)]),
        "device": where.device,
        "versions": dict(where.versions),
        "kernels": where.kernels,
        "platform": platform.platform(),
        "commit": source_commit(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "load_average": load_average(),
    }


def load_average() -> list[float] | None:
    """Average numbers of running processes over the last 1, 5 and 15 minutes; None where unknown.

    They should be near zero before a measurement starts.
    """
    try:
        return [round(load, 2) for load in os.getloadavg()]
    except (OSError, AttributeError):
        return None
