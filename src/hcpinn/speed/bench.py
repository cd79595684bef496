"""The table of `hcpinn bench`: the time of a training step over its floor, for steps of many kinds."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..descent import Adam, Method
from ..descent.runs import Run
from ..trial import MLP, Decay, Fourier
from .ceilings import Ceilings, measure_ceilings
from .problems import model_problem
from .step import TrainingStep


@dataclass(frozen=True)
class Case:
    """A training step to be timed: a model problem, a tanh network, and Adam."""

    order: int = 2
    fields: int = 1
    dimensions: int = 1
    width: int = 32
    depth: int = 7
    modes: int = 10
    """Of the Fourier embedding, per axis."""
    points: int = 16_384
    """Of each run."""
    runs: int = 1
    precision: str = "float32"

    def step(self) -> TrainingStep:
        """The step, ready to be taken."""
        problem = model_problem(order=self.order, fields=self.fields, dimensions=self.dimensions)
        method = Method(
            lift=Decay(1.0),
            embedding=Fourier(self.modes),
            network=MLP(self.width, self.depth),
            points=self.points,
            stages=(Adam(precision=self.precision),),
        )
        return TrainingStep([Run(problem, method, seed) for seed in range(self.runs)])


@dataclass(frozen=True)
class Row:
    """A case and what was found, times in seconds per step."""

    case: Case
    time: float
    fastest: float
    slowest: float
    floor: float
    compiling: float
    rounds: int
    products: float
    """Operations per step within matrix products."""
    arithmetic: float
    functions: float
    bytes: float

    @property
    def ratio(self) -> float:
        """Time over floor."""
        return self.time / self.floor

    @property
    def rate(self) -> float:
        """Points per second, over all runs."""
        return self.case.points * self.case.runs / self.time

    def plain(self) -> dict[str, Any]:
        """As a flat mapping, for a file."""
        rest = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "case"}
        return {**dataclasses.asdict(self.case), **rest}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Row:
        """The row that a file tells of."""
        names = [f.name for f in dataclasses.fields(Case)]
        case = Case(**{name: plain[name] for name in names})
        return cls(case, **{k: v for k, v in plain.items() if k not in names})


def standard_cases(points: int, runs: int) -> list[Case]:
    """Second and fourth order, one field and two, both precisions, one run and a batch."""
    return [
        Case(order=order, fields=fields, points=points, runs=count, precision=precision)
        for precision, count, order, fields in itertools.product(
            ("float32", "float64"), (1, runs) if runs > 1 else (1,), (2, 4), (1, 2)
        )
    ]


def measure(
    cases: Sequence[Case],
    ceilings: dict[str, Ceilings],
    *,
    rounds: int = 7,
    limit: float = 60.0,
    tell: Callable[[str], None] = lambda what: None,
) -> Iterator[Row]:
    """Time each case in turn, for at most about `limit` seconds of steps."""
    for case in cases:
        tell(describe(case))
        yield measure_case(case, ceilings[case.precision], rounds=rounds, limit=limit)


def measure_case(case: Case, ceilings: Ceilings, *, rounds: int, limit: float) -> Row:
    """Time one case."""
    step = case.step()
    work = step.work()
    floor = ceilings.floor(work)
    timing = step.time(floor, rounds=rounds, limit=limit)
    done = work.operations
    return Row(
        case,
        time=timing.median,
        fastest=timing.fastest,
        slowest=timing.slowest,
        floor=floor,
        compiling=timing.compiling,
        rounds=timing.rounds,
        products=done.products,
        arithmetic=done.arithmetic,
        functions=done.functions,
        bytes=work.bytes,
    )


def all_ceilings(*, rounds: int = 5, tell: Callable[[str], None] = lambda what: None) -> dict[str, Ceilings]:
    """The machine's best rates in both precisions."""
    found = {}
    for precision in ("float32", "float64"):
        tell(f"ceilings, {precision}")
        found[precision] = measure_ceilings(precision, rounds=rounds)
    return found


def describe(case: Case) -> str:
    """A case in words."""
    parts = [f"order {case.order}", f"{case.fields} field{'s' * (case.fields > 1)}"]
    parts += [f"{case.points:,} points", case.precision, f"{case.runs} run{'s' * (case.runs > 1)}"]
    return ", ".join(parts)


HEADS = ("precision", "runs", "order", "fields", "ms per step", "floor", "over floor", "points per s")


def cells(row: Row) -> tuple[str, ...]:
    """A row as text, under `HEADS`."""
    case = row.case
    return (
        case.precision,
        str(case.runs),
        str(case.order),
        str(case.fields),
        f"{1e3 * row.time:.3g}",
        f"{1e3 * row.floor:.3g}",
        f"{row.ratio:.2g}×",
        f"{row.rate:.3g}",
    )


def ceiling_words(found: Ceilings) -> str:
    """A machine's rates in words."""
    return (
        f"{found.products / 1e9:,.0f} GFLOP/s in matrix products, {found.arithmetic / 1e9:,.0f} GFLOP/s "
        f"elementwise, {found.functions / 1e9:.3g} G tanh/s, {found.bandwidth / 1e9:,.0f} GB/s"
    )
