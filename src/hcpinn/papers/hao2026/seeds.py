"""What several seeds can tell: when errors count as lower than others, and when the seeds overlap.

The errors of a few seeds lie decades apart, so everything here goes by rank. It makes no difference then
whether errors or their logarithms are compared, and a failed training is simply the worst one.

A sample lies below another if its median does and the pairs of seeds, one of each sample, agree: all of them
but for so few that chance would do as well in at most 5 % of cases (the exact one-sided rank test of Mann and
Whitney). With three seeds each all nine pairs have to agree, with ten each 73 of 100. Against a limit it is
the seeds that have to agree (the sign test): all of them up to seven, nine of ten. Where there are too few
seeds for a test to say anything, a single one for instance, none may disagree.

What is said of more than two rows, or of two fields of one training, is put to each seed by itself, and as
many have to agree as for a limit.

If neither a statement nor its contrary is borne out in this way, the seeds overlap and nothing is decided.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ...study.numbers import number

LEVEL = 0.05
"""How likely chance alone may be to agree as well as the seeds do."""


@dataclass(frozen=True)
class Sample:
    """The errors of one row, by seed; infinite where training failed."""

    errors: Mapping[int, float]

    @property
    def values(self) -> list[float]:
        """The errors."""
        return list(self.errors.values())

    @property
    def median(self) -> float:
        """What stands for all seeds: half of them do better, half worse."""
        return statistics.median(self.values)

    def times(self, factor: float) -> Sample:
        """The errors times a factor."""
        return Sample({seed: factor * error for seed, error in self.errors.items()})

    def __str__(self) -> str:
        """The median, and from where to where the seeds go if there are several."""
        if len(self.values) == 1:
            return number(self.median)
        return f"{number(self.median)} ({number(min(self.values))} to {number(max(self.values))})"


def lies_below(first: Sample, second: Sample) -> bool | None:
    """Whether one sample lies below another; None if the seeds overlap."""
    pairs = [a < b for a in first.values for b in second.values]
    allowed = _allowed(_orders(len(first.values), len(second.values)))
    if first.median < second.median:
        return True if pairs.count(False) <= allowed else None
    return False if pairs.count(True) <= allowed else None


def at_most(sample: Sample, limit: float) -> bool | None:
    """Whether a sample lies at a limit or below it; None if the seeds are on both sides."""
    return agreed(error <= limit for error in sample.values)


def seed_by_seed(samples: Sequence[Sample], holds: Callable[..., bool]) -> bool | None:
    """Whether something holds of several samples: of each seed that all of them have, or of the medians."""
    shared = set.intersection(*(set(sample.errors) for sample in samples))
    if not shared:
        return holds(*(sample.median for sample in samples))
    return agreed(holds(*(sample.errors[seed] for sample in samples)) for seed in sorted(shared))


def agreed(votes: Iterable[bool]) -> bool | None:
    """What nearly all say; None if they do not agree."""
    given = list(votes)
    allowed = _allowed(tuple(math.comb(len(given), wrong) for wrong in range(len(given) + 1)))
    if given.count(False) <= allowed:
        return True
    return False if given.count(True) <= allowed else None


def every(outcomes: Iterable[bool | None]) -> bool | None:
    """Whether all of several statements hold: not if one does not, and open if one is."""
    given = list(outcomes)
    if False in given:
        return False
    return None if None in given else True


def contrary(outcome: bool | None) -> bool | None:
    """Whether the contrary holds."""
    return None if outcome is None else not outcome


def _allowed(counts: Sequence[int]) -> int:
    """How many may disagree, from how many of all cases have none, one, two, … that do; none at the least."""
    total, below = sum(counts), 0
    for wrong, count in enumerate(counts):
        below += count
        if below > LEVEL * total:
            return max(wrong - 1, 0)
    return 0


@cache
def _orders(first: int, second: int) -> tuple[int, ...]:
    """In how many orders of two samples none, one, two, … of the pairs are the wrong way round."""
    return tuple(_wrong(first, second, pairs) for pairs in range(first * second + 1))


@cache
def _wrong(first: int, second: int, pairs: int) -> int:
    if pairs < 0:
        return 0
    if not first or not second:
        return int(pairs == 0)
    # The largest of all is of the first sample, above everything in the second, or of the second.
    return _wrong(first - 1, second, pairs - second) + _wrong(first, second - 1, pairs)
