"""Where a study's results come from: devices, versions, commits, dates and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .record import Record
from .rows import device_seconds

_DIGITS = 7
"""Digits of a commit that are shown: some records have all forty, some fewer."""


@dataclass(frozen=True)
class Origin:
    """Where, when and with what the runs of a study were computed."""

    devices: Counter[str]
    versions: dict[str, Counter[str]]
    kernels: Counter[str]
    """How the compiler chose among kernels."""
    commits: Counter[str]
    references: dict[str, str]
    """For each problem its reference: the solver and its estimated error."""
    first: str
    last: str
    seconds: float
    """Device time, over all runs."""

    @property
    def dates(self) -> str:
        """When the runs ended."""
        if not self.first:
            return "not recorded"
        first, last = self.first[:10], self.last[:10]
        return first if first == last else f"{first} to {last}"


def origin(records: Sequence[Record]) -> Origin:
    """The origin of some records."""
    done = [record for record in records if record.status == "done"]
    versions: dict[str, Counter[str]] = {}
    references = {}
    for record in done:
        for name, version in (record.summary.get("versions") or {}).items():
            versions.setdefault(name, Counter())[version or "not recorded"] += 1
        reference = record.summary.get("reference")
        if reference:
            error = reference.get("error_estimate")
            good = "" if error is None else f" Good to {error:.0e}."
            references.setdefault(record.problem, f"{reference.get('solver', '')}{good}")
    dates = sorted(record.finished for record in records if record.finished)
    return Origin(
        devices=Counter(record.summary.get("device") or "not recorded" for record in done),
        versions=versions,
        kernels=Counter(record.kernels for record in done),
        commits=Counter(_short(record.commit) for record in records),
        references=dict(sorted(references.items())),
        first=dates[0] if dates else "",
        last=dates[-1] if dates else "",
        seconds=sum(device_seconds(record) for record in done),
    )


def _short(commit: str) -> str:
    """The first digits of a commit, with the '+' of changed files."""
    return commit[:_DIGITS] + "+" * commit.endswith("+") if commit else "not recorded"


def listed(counts: Counter[str]) -> str:
    """Values, each with its number of runs if there are several."""
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{value} ({count} runs)" for value, count in counts.most_common())


def together(records: Iterable[Record]) -> str:
    """How many runs shared a device."""
    counts = Counter(record.trained_together for record in records if record.status == "done")
    return ", ".join(f"{runs} runs in groups of {size}" for size, runs in sorted(counts.items()))
