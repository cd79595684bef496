"""A sample of the groups in a store: spread over problems and methods, quick ones first."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence

from ..errors import MethodError
from .trained_groups import TrainedGroup

DEFAULT = 10
"""Runs in a sample by default."""


def spread_out(groups: Sequence[TrainedGroup], seed: int | None = None) -> Iterator[TrainedGroup]:
    """All groups, ordered so that the first few are a good sample.

    The next group is the one whose problems came up least; among these, the one whose way to meet initial
    data (exactly, or by a penalty) did; then by methods; then by time, or at random if there is a seed.
    """
    lot = {group.keys: _lot(seed, group) for group in groups}
    left = sorted(groups, key=lambda group: (group.seconds if seed is None else 0.0, lot[group.keys]))
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


def _lot(seed: int | None, group: TrainedGroup) -> str:
    return hashlib.sha256(f"{seed} {' '.join(group.keys)}".encode()).hexdigest()
