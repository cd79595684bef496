"""What the paper claims, each claim with the comparisons that decide it.

A claim is a list of cases, and a case is a comparison of errors that holds, does not hold, is left open
because the seeds overlap (`seeds` says when), or has not been run. The same cases are put to the published
figures, which are of one training or one mean each, so a reader sees what a claim rests on.

    for claim in CLAIMS:
        finding = weigh(claim, evidence)
        print(claim.title, finding.status.value, finding.holding, "of", finding.run)
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

from ...study import Record
from ...study.numbers import number
from ...study.record import recorded_settings
from ...study.rows import measured
from .reproduced import MEASURES, ReproducedRow, ReproducedTable
from .seeds import Sample, at_most, contrary, every, lies_below

MARGIN = 0.1
"""One error counts as lower than another if it is lower by this share of it."""


class Status(enum.Enum):
    """What became of a claim."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"
    OVERLAP = "seeds overlap"
    NOT_RUN = "not yet run"


@dataclass(frozen=True)
class ClaimCase:
    """One comparison: what was compared, with the numbers, and how it came out."""

    text: str
    holds: bool | None
    """None if a run it needs is missing, or if the seeds do not agree."""
    overlap: bool = False
    """Whether the seeds do not agree."""


def compared(text: str, holds: bool | None) -> ClaimCase:
    """The case of a comparison whose runs are all there."""
    return ClaimCase(text if holds is not None else f"{text}: seeds overlap", holds, overlap=holds is None)


def relation(outcome: bool | None, yes: str, no: str) -> str:
    """The sign between two errors; '≶' where seeds overlap."""
    return "≶" if outcome is None else yes if outcome else no


Key = tuple[str, str, tuple[tuple[str, float], ...]]


class Evidence:
    """Errors by problem and method: ours or the published ones."""

    def __init__(
        self,
        rows: Mapping[Key, ReproducedRow],
        figure: Callable[[ReproducedRow, str], Sample | None],
        records: Sequence[Record] = (),
        theory: Mapping[str, Mapping[str, Any]] | None = None,
    ):
        self._rows = rows
        self.figure = figure
        """A figure of a row by its name, over the seeds."""
        self.records = records
        self.theory = theory or {}
        """Summaries of `hcpinn theory`, by problem."""
        self.used: dict[Key, ReproducedRow] = {}
        """The rows that were asked for and found."""

    def __call__(self, problem: str, method: str, /, **parameters: float) -> Sample | None:
        """The relative L2 errors, of several fields the largest; None if it was not run."""
        row = self.row(problem, method, **parameters)
        return None if row is None else self.figure(row, "error")

    def row(self, problem: str, method: str, /, **parameters: float) -> ReproducedRow | None:
        """The row of this problem and method."""
        key = (problem, method, tuple(sorted(parameters.items())))
        if key in self._rows:
            self.used[key] = self._rows[key]
        return self._rows.get(key)

    def modes(self, problem: str) -> dict[int, Sample]:
        """Errors by number of Fourier modes."""
        found = {}
        for key, row in self._rows.items():
            error = self.figure(row, "error")
            if row.problem == problem and row.modes is not None and error is not None:
                found[row.modes] = error
                self.used[key] = row
        return dict(sorted(found.items()))


def our_evidence(
    tables: Iterable[ReproducedTable], theory: Mapping[str, Mapping[str, Any]] | None = None
) -> Evidence:
    """The errors found here. Where a row was run at several budgets, the published one counts."""
    rows: dict[Key, ReproducedRow] = {}
    records: dict[str, Record] = {}
    for table in _evident(tables):
        for row in table.rows:
            records.update({record.key: record for record in row.done})
            name = row.method if row.modes is None else f"m = {row.modes}"
            key = (row.problem, name, tuple(sorted(row.parameters.items())))
            if row.done and (key not in rows or (rows[key].deviations and not row.deviations)):
                rows[key] = row
    return Evidence(rows, _our_figure, list(records.values()), theory)


def published_evidence(tables: Iterable[ReproducedTable]) -> Evidence:
    """The errors that were published."""
    rows: dict[Key, ReproducedRow] = {}
    for table in _evident(tables):
        for row in table.rows:
            if row.published:
                rows.setdefault((row.problem, row.method, tuple(sorted(row.parameters.items()))), row)
    return Evidence(rows, _published_figure)


def _evident(tables: Iterable[ReproducedTable]) -> list[ReproducedTable]:
    """All tables but that of `expert`, which repeats rows of the others in its own measure."""
    return [table for table in tables if table.name != "expert"]


def _our_figure(row: ReproducedRow, name: str) -> Sample | None:
    found = {}
    for record in row.done:
        error = measured(record, "rel_l2" if name == "error" else name)
        if error is not None or without_error(record):
            found[record.seed] = math.inf if error is None else error
    return Sample(found) if found else None


def _published_figure(row: ReproducedRow, name: str) -> Sample | None:
    found = row.published_error if name == "error" else row.published.get(name)
    return None if found is None else Sample({0: found})


@dataclass(frozen=True)
class Claim:
    """A statement of the paper and what decides it."""

    name: str
    topic: str
    title: str
    statement: str
    """What the paper says, in our words."""
    criterion: str
    """What has to come out for it to hold."""
    cases: Callable[[Evidence], list[ClaimCase]]


@dataclass(frozen=True)
class Finding:
    """What came out for a claim."""

    cases: tuple[ClaimCase, ...]
    other_settings: bool = False
    """Whether runs took part whose settings are not the paper's, such as a smaller budget."""

    @cached_property
    def decided(self) -> int:
        """How many comparisons came out one way or the other."""
        return sum(case.holds is not None for case in self.cases)

    @cached_property
    def overlapping(self) -> int:
        """How many were made, but left open by seeds that overlap."""
        return sum(case.overlap for case in self.cases)

    @property
    def run(self) -> int:
        """How many comparisons could be made."""
        return self.decided + self.overlapping

    @cached_property
    def holding(self) -> int:
        """How many of these came out as claimed."""
        return sum(case.holds is True for case in self.cases)

    @property
    def complete(self) -> bool:
        """Whether every comparison could be made."""
        return self.run == len(self.cases)

    @property
    def status(self) -> Status:
        """Holds if every comparison that was made does; seeds that overlap bear nothing out."""
        if not self.run:
            return Status.NOT_RUN
        if not self.decided:
            return Status.OVERLAP
        if self.holding == self.run:
            return Status.HOLDS
        return Status.IN_PART if self.holding else Status.FAILS

    @property
    def label(self) -> str:
        """The status in words, and whether more is to come."""
        return self.status.value + (" so far" if self.run and not self.complete else "")

    @property
    def reservations(self) -> str:
        """What follows after how many comparisons hold: those that are open, and why."""
        text = f"; in {self.overlapping} the seeds overlap" if self.overlapping else ""
        more = len(self.cases) - self.run
        return f"{text}; {more} more {'is' if more == 1 else 'are'} not yet run" if more else text


def weigh(claim: Claim, evidence: Evidence) -> Finding:
    """What the evidence says of a claim."""
    evidence.used.clear()
    cases = tuple(claim.cases(evidence))
    return Finding(cases, any(row.deviations for row in evidence.used.values()))


def lower(errors: Evidence, problem: str, better: str, worse: str, **parameters: float) -> ClaimCase:
    """Whether one method's error is lower than another's, by more than the margin."""
    a, b = errors(problem, better, **parameters), errors(problem, worse, **parameters)
    where = _where(problem, parameters)
    if a is None or b is None:
        return ClaimCase(f"{where}: {better} against {worse}", None)
    holds = lies_below(a, b.times(1 - MARGIN))
    between = relation(holds, "<", "≈" if a.median <= (1 + MARGIN) * b.median else ">")
    return compared(f"{where}: {better} {a} {between} {worse} {b}", holds)


def within(errors: Evidence, problem: str, first: str, second: str, factor: float) -> ClaimCase:
    """Whether two methods' errors differ by no more than a factor."""
    a, b = errors(problem, first), errors(problem, second)
    if a is None or b is None:
        return ClaimCase(f"{problem}: {first} against {second}", None)
    low, high = sorted((a.median, b.median))
    apart = high / low if math.isfinite(high) else math.inf
    text = f"{problem}: {first} {a}, {second} {b}: a factor of {apart:.2g}"
    return compared(text, similar(a, b, factor))


def similar(first: Sample, second: Sample, factor: float) -> bool | None:
    """Whether neither of two samples lies above the other by more than a factor."""
    return every(contrary(lies_below(a.times(factor), b)) for a, b in ((first, second), (second, first)))


def below(errors: Evidence, problem: str, method: str, limit: float, **parameters: float) -> ClaimCase:
    """Whether an error is at most a limit."""
    found = errors(problem, method, **parameters)
    where = _where(problem, parameters)
    if found is None:
        return ClaimCase(f"{where}: {method} at most {limit:g}", None)
    return _against(f"{where}: {method} {found}", f"{limit:g}", at_most(found, limit), claimed=True)


def above(errors: Evidence, problem: str, method: str, limit: float, **parameters: float) -> ClaimCase:
    """Whether an error is above a limit."""
    found = errors(problem, method, **parameters)
    where = _where(problem, parameters)
    if found is None:
        return ClaimCase(f"{where}: {method} above {limit:g}", None)
    return _against(f"{where}: {method} {found}", f"{limit:g}", at_most(found, limit), claimed=False)


def reproduced(errors: Evidence, problem: str, method: str, measure: str, factor: float = 2.0) -> ClaimCase:
    """Whether a figure is within a factor of the published one, or better."""
    row = errors.row(problem, method)
    found = None if row is None else errors.figure(row, measure)
    if row is None or found is None or measure not in row.published:
        return ClaimCase(f"{problem}: {MEASURES[measure]} of {method} against the published figure", None)
    published = row.published[measure]
    return _against(
        f"{problem}: {MEASURES[measure]} {found}",
        f"{factor:g} × {number(published)}",
        at_most(found, factor * published),
        claimed=True,
    )


def _against(what: str, limit: str, outcome: bool | None, *, claimed: bool) -> ClaimCase:
    """The case of a figure and a limit that it was claimed to keep, or to break."""
    text = f"{what} {relation(outcome, '≤', '>')} {limit}"
    return compared(text, outcome if claimed else contrary(outcome))


def fine_tuned(errors: Evidence) -> list[ClaimCase]:
    """For each problem: whether the second stage lowered the loss that the first left, in every run."""
    falls: dict[str, list[float]] = {}
    for record in sorted(errors.records, key=lambda r: r.problem):
        stages = recorded_settings(record)["stages"]
        step, loss = record.history.get("step"), record.history.get("loss")
        if [s["kind"] for s in stages] != ["Adam", "LBFGS"] or step is None or loss is None or not len(loss):
            continue
        first = loss[step <= stages[0]["steps"]]
        if len(first) and len(first) < len(loss):
            falls.setdefault(record.problem, []).append(float(first[-1] / loss[-1]))
    cases = []
    for problem, factors in falls.items():
        lower = sum(f > 1 for f in factors)
        cases.append(
            ClaimCase(
                f"{problem}: the loss after L-BFGS is below the one after Adam in {lower} of {len(factors)} "
                f"runs, by a factor of {median(factors):.3g} ({min(factors):.3g} to {max(factors):.3g})",
                lower == len(factors),
            )
        )
    return cases or [ClaimCase("the loss before and after L-BFGS, from histories", None)]


def _where(problem: str, parameters: Mapping[str, float]) -> str:
    return problem + "".join(f", {name} = {value:g}" for name, value in parameters.items())


def without_error(record: Record) -> bool:
    """Whether a run was compared with its reference and its error is not finite."""
    errors = record.summary.get("rel_l2")
    return isinstance(errors, Mapping) and any(
        value is None or not math.isfinite(value) for value in errors.values()
    )
