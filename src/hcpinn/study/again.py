"""From records back to the runs they are of, and to the groups in which these trained."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..descent import from_dict
from ..descent.runs import Run
from ..errors import FileError, HcpinnError
from ..papers.hao2026.paper import declared
from .declaration import Study
from .matching import exact_start
from .record import DIGITS, Record, run_key

_ACCURACIES = (1e-2, 1e-6, 1e-3, 1e-4, 1e-5)
"""What is tried where a record does not say; the key tells which it was."""


@dataclass(frozen=True)
class Together:
    """Runs that trained together, and the records that came of it."""

    keys: tuple[str, ...]
    """Of all of them, in their order."""
    records: tuple[Record, ...]
    """Those in the store that are of this very training."""

    @property
    def seconds(self) -> float:
        """How long it took then; for a part of those that trained together, its share."""
        share = min(1.0, len(self.keys) / max(self.records[0].trained_together, 1))
        return share * max(float(record.summary.get("wall_s") or 0.0) for record in self.records)

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """The names of its problems."""
        return tuple(dict.fromkeys(record.problem for record in self.records))

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """The names of its methods."""
        return tuple(dict.fromkeys(record.method for record in self.records))

    @cached_property
    def exact(self) -> bool:
        """Whether it meets its initial data exactly."""
        return exact_start(self.records[0])


def trainings(records: Iterable[Record], *, alone: bool = False) -> list[Together]:
    """The groups in which finished runs trained; or each run alone.

    A record that does not say with whom it trained, or of whose companions one is not in the store, stands
    alone.
    """
    done = [record for record in records if record.done]
    if alone:
        return [Together((record.key,), (record,)) for record in done]
    known = {record.key[:DIGITS]: record.key for record in done}
    found: dict[tuple[str, ...], list[Record]] = {}
    for record in done:
        keys = tuple(known.get(short, "") for short in record.group)
        whole = all(keys) and record.key in keys
        found.setdefault(keys if whole else (record.key,), []).append(record)
    return [Together(keys, tuple(own)) for keys, own in found.items()]


def run_of(record: Record, study: Study | None = None) -> tuple[Run, float]:
    """The run that a record is of, with its accuracy: from a study, or else from what the record says.

    What it says is proven by the key, which is made of everything that decides the outcome.
    """
    if study is not None and record.key in study.wanted:
        return study.wanted[record.key]
    what = f"{record.problem}, {record.method}, seed {record.seed}"
    try:
        problem = declared(record.problem, tuple(record.parameters.items()))
        run = Run(problem, from_dict(json.loads(record.method_text)), record.seed)
    except HcpinnError as error:
        raise FileError(
            f"{what} cannot be trained again from its record: {error} If it is of your own making, call "
            "`recheck` in Python and give it the study."
        ) from error
    for accuracy in _ACCURACIES if record.accuracy is None else (record.accuracy,):
        if run_key(run, accuracy) == record.key:
            return run, accuracy
    raise FileError(
        f"{what} cannot be trained again: what its record says does not lead to its key, "
        f"{record.key[:DIGITS]}…. It was changed, or another version of hcpinn wrote it."
    )


def runs_of(group: Together, records: Sequence[Record], study: Study | None) -> dict[str, tuple[Run, float]]:
    """Every run of a group by its key, in its order."""
    known = {record.key: record for record in records}
    return {key: run_of(known[key], study) for key in group.keys}
