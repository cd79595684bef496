"""Runs and the groups they trained in, recovered from records, and samples of these groups."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from ..catalog import find_problem
from ..descent import from_dict
from ..descent.runs import Run
from ..errors import FileError, HcpinnError, MethodError
from ..problem import Problem
from .declaration import Study
from .record import DIGITS, Record, exact_start, run_key

_ACCURACIES = (1e-2, 1e-6, 1e-3, 1e-4, 1e-5)
"""Accuracies to try where a record has none; its key shows which one it was."""


@dataclass(frozen=True)
class TrainedGroup:
    """Runs that trained together, and the records of them."""

    keys: tuple[str, ...]
    """Of all runs, in their order."""
    records: tuple[Record, ...]
    """The records of this training that are in the store."""

    @property
    def seconds(self) -> float:
        """How long it took; for a part of a group, its share."""
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


def trained_groups(records: Iterable[Record], *, alone: bool = False) -> list[TrainedGroup]:
    """The groups in which finished runs trained; or each run alone.

    A record stands alone if it does not say with whom it trained, or if one of these is not in the store.
    """
    done = [record for record in records if record.done]
    if alone:
        return [TrainedGroup((record.key,), (record,)) for record in done]
    known = {record.key[:DIGITS]: record.key for record in done}
    found: dict[tuple[str, ...], list[Record]] = {}
    for record in done:
        keys = tuple(known.get(short, "") for short in record.group)
        whole = all(keys) and record.key in keys
        found.setdefault(keys if whole else (record.key,), []).append(record)
    return [TrainedGroup(keys, tuple(own)) for keys, own in found.items()]


def run_of(record: Record, study: Study | None = None) -> tuple[Run, float]:
    """The run of a record, with its accuracy: from a study, or else from what the record says.

    The key proves the record right, since it is made of everything that decides the outcome.
    """
    if study is not None and record.key in study.wanted:
        return study.wanted[record.key]
    what = f"{record.problem}, {record.method}, seed {record.seed}"
    try:
        problem = catalogued(record.problem, tuple(record.parameters.items()))
        run = Run(problem, from_dict(json.loads(record.method_text)), record.seed)
    except HcpinnError as error:
        raise FileError(
            f"{what} cannot be trained again from its record: {error} For a custom problem or method, call "
            "`recheck` in Python and give it the study."
        ) from error
    for accuracy in _ACCURACIES if record.accuracy is None else (record.accuracy,):
        if run_key(run, accuracy) == record.key:
            return run, accuracy
    raise FileError(
        f"{what} cannot be trained again: its record does not match its key, "
        f"{record.key[:DIGITS]}…. It was changed, or another version of hcpinn wrote it."
    )


@cache
def catalogued(name: str, parameters: tuple[tuple[str, float], ...]) -> Problem:
    """A problem of the catalogue with these parameters, always the same object."""
    problem = find_problem(name)
    changed = {key: value for key, value in parameters if problem.parameters.get(key) != value}
    return problem.with_parameters(**changed) if changed else problem


DEFAULT = 10
"""Runs in a sample by default."""


def spread_out(groups: Sequence[TrainedGroup], seed: int | None = None) -> Iterator[TrainedGroup]:
    """All groups, ordered so that the first few are a good sample.

    The next group is the one whose problems came up least; among these, the one whose way to meet initial
    data (exactly, or by a penalty) did; then by methods; then by time, or at random if there is a seed.
    """

    def lot(group: TrainedGroup) -> str:
        return hashlib.sha256(f"{seed} {' '.join(group.keys)}".encode()).hexdigest()

    left = sorted(groups, key=lambda group: (group.seconds if seed is None else 0.0, lot(group)))
    problems: Counter[str] = Counter()
    methods: Counter[str] = Counter()
    exact: Counter[bool] = Counter()

    def seen(group: TrainedGroup) -> tuple[float, float, float]:
        return _mean(problems, group.problems), exact[group.exact], _mean(methods, group.methods)

    while left:
        group = min(left, key=seen)
        left.remove(group)
        problems.update(group.problems)
        methods.update(group.methods)
        exact[group.exact] += 1
        yield group


def groups_of(groups: Sequence[TrainedGroup], keys: Sequence[str]) -> list[TrainedGroup]:
    """The groups of the runs whose keys begin with these digits."""
    found: dict[tuple[str, ...], TrainedGroup] = {}
    for start in keys:
        hits = [(r.key, group) for group in groups for r in group.records if r.key.startswith(start.lower())]
        if len(hits) != 1:
            raise MethodError(
                f"'{start}' is the beginning of {len(hits)} keys of finished runs, not of one. Keys are the "
                "names of the files in the store's folder runs."
            )
        group = hits[0][1]
        found[group.keys] = group
    return list(found.values())


def _mean(counts: Counter[str], names: Sequence[str]) -> float:
    return sum(counts[name] for name in names) / len(names)
