"""Groups: runs of one shape that train together."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ..descent.runs import Run, check_alike
from ..errors import MethodError
from .record import DIGITS

Wanted = Mapping[str, tuple[Run, float]]
"""What is to be trained: key → run and accuracy."""


@dataclass(frozen=True)
class Group:
    """Runs that train together, with their keys."""

    keys: tuple[str, ...]
    runs: tuple[Run, ...]
    accuracy: float

    @property
    def name(self) -> str:
        """Its address: the same runs in the same order make the same group."""
        return hashlib.sha256(" ".join(self.keys).encode()).hexdigest()[:20]

    @property
    def short_keys(self) -> tuple[str, ...]:
        """The keys, as the records of its runs hold them."""
        return tuple(key[:DIGITS] for key in self.keys)

    def __len__(self) -> int:
        return len(self.keys)

    def only(self, keys: Collection[str]) -> Group:
        """Those of its runs that have these keys."""
        wanted = set(keys)
        kept = [number for number, key in enumerate(self.keys) if key in wanted]
        return Group(tuple(self.keys[n] for n in kept), tuple(self.runs[n] for n in kept), self.accuracy)

    def parts(self, size: int) -> list[Group]:
        """The group in parts of about one size, at most `size` each."""
        count = -(-len(self) // size)
        ends = [round(part * len(self) / count) for part in range(count + 1)]
        return [self.only(self.keys[a:b]) for a, b in itertools.pairwise(ends)]


def group_of(keys: Sequence[str], wanted: Wanted) -> Group:
    """The group of these keys."""
    return Group(tuple(keys), tuple(wanted[key][0] for key in keys), wanted[keys[0]][1])


def grouped(wanted: Wanted, missing: Collection[str], *, size: Callable[[Sequence[Run]], int]) -> list[Group]:
    """What is missing of everything wanted, in groups.

    They are parts of the groups of everything, so that they do not depend on when or by whom a part was done.

    Args:
        wanted: every run of a study.
        missing: keys of those to train.
        size: how many of some runs of one shape may train together.
    """
    alike: list[list[str]] = []
    for key, (run, accuracy) in wanted.items():
        for keys in alike:
            first, same = wanted[keys[0]]
            if accuracy == same and _alike(first, run):
                keys.append(key)
                break
        else:
            alike.append([key])
    whole = [group_of(keys, wanted) for keys in alike if not set(missing).isdisjoint(keys)]
    parts = [part.only(missing) for group in whole for part in group.parts(size(group.runs))]
    return [part for part in parts if part.keys]


def _alike(one: Run, other: Run) -> bool:
    try:
        check_alike([one, other])
    except MethodError:
        return False
    return True
