"""What a study still has to train, and what that is likely to cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .cost import H200, LARGEST, Machine, cost, largest_group, this_machine
from .declaration import Study
from .groups import grouped
from .store import Store


@dataclass(frozen=True)
class Share:
    """The share of one section, without what earlier sections train."""

    section: str
    runs: int
    kept: int
    """Those in the store."""
    groups: int
    """Groups whose first run is of this section."""
    seconds: tuple[float, ...]
    """Of those groups, by machine."""
    bytes: int
    """What the largest of them takes."""


@dataclass(frozen=True)
class Forecast:
    """What is left to train."""

    machines: tuple[Machine, ...]
    lines: tuple[Share, ...]
    runs: int
    """Different runs: sections may share some."""
    kept: int
    largest: int

    @property
    def groups(self) -> int:
        """Groups to train."""
        return sum(line.groups for line in self.lines)

    @property
    def seconds(self) -> tuple[float, ...]:
        """How long everything takes, by machine."""
        return tuple(sum(times) for times in zip(*(line.seconds for line in self.lines), strict=True))


def forecast(
    study: Study, out: str | Path | None = None, *, together: int | None = None, processes: int = 1
) -> Forecast:
    """What a study has to train, and how long that takes here and on an H200.

    Args:
        study: the study.
        out: the folder of its store, which may not exist yet.
        together: the largest number of runs that train together.
        processes: how many groups share the memory; times are for one group after another.
    """
    here = this_machine()
    machines = (here, H200)
    kept = Store(out).keys() if out is not None and Store.at(out) else set()
    groups = grouped(
        study.wanted,
        study.wanted.keys() - kept,
        size=lambda runs: largest_group(runs, here, most=together or LARGEST, abreast=processes),
    )
    home: dict[str, str] = {}
    for section in study.sections:
        for key in section.keys:
            home.setdefault(key, section.name)
    lines = []
    for section in study.sections:
        own = [group for group in groups if home[group.keys[0]] == section.name]
        lines.append(
            Share(
                section.name,
                len(section.runs),
                sum(key in kept for key in section.keys),
                len(own),
                tuple(sum(cost(group.runs, machine).seconds for group in own) for machine in machines),
                max((cost(group.runs, here).bytes for group in own), default=0),
            )
        )
    largest = max(map(len, groups), default=0)
    return Forecast(machines, tuple(lines), len(study.wanted), len(kept & set(study.wanted)), largest)
