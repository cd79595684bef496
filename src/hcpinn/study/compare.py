"""Compare runs that were trained twice: do they agree, and if not, is the difference a matter of luck?

The answer for a run is the first of these that applies:

* same bits: errors, loss and steps are equal to the last digit
* same to rounding: no error differs by more than 1 part in 1,000
* within the seed spread: something that affects the last digits has changed (the device, the versions,
  hcpinn's code, the runs trained together, or kernels chosen by timing), and each error has changed by at
  most a factor of two, or the factor between the smallest and the largest error of the row's other seeds,
  whichever is larger
* differs

A difference in the last digit grows over tens of thousands of steps until two trainings have no more in
common than two seeds. Where nothing has changed, there is no such excuse.
"""

from __future__ import annotations

import enum
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ..errors import FileError
from ..machine.files import write_bytes
from ..machine.programs import BY_RULE
from .origin import Origin, origin
from .record import VERSION, Record, unnamed
from .store import Store

ROUNDING = 1e-3
"""The relative difference up to which errors are the same to rounding."""

FACTOR = 2.0
"""The factor by which errors may always change once something else has."""


class Agreement(enum.Enum):
    """How a training compares with an earlier one of the same run."""

    BITS = "same bits"
    ROUNDING = "same to rounding"
    SPREAD = "within the seed spread"
    DIFFERS = "differs"
    LEFT = "not yet run"


@dataclass(frozen=True)
class Pair:
    """A recorded run, and the same run trained again."""

    before: Record
    now: Record | None
    seeds: Sequence[Record] = ()
    """The records of the same problem and method with other seeds."""

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """What affects the last digits and has changed."""
        if self.now is None:
            return ()
        same = {
            "device": _same(self, "device"),
            "versions": _same(self, "versions"),
            "code": self.before.commit == self.now.commit,
            "kernels": self.before.kernels == self.now.kernels == BY_RULE,
            "group": _same_group(self.before, self.now),
        }
        return tuple(name for name, alike in same.items() if not alike)

    @cached_property
    def difference(self) -> float:
        """The largest relative difference of an error."""
        return max((_difference(before, now) for before, now in self._errors.values()), default=0.0)

    @cached_property
    def factors(self) -> dict[str, tuple[float, float]]:
        """The factor by which each error changed, and the factor allowed."""
        seeds = [errors(record) for record in self.seeds]
        return {
            name: (_apart(pair), max(FACTOR, _apart([found[name] for found in seeds if name in found])))
            for name, pair in self._errors.items()
        }

    @cached_property
    def agreement(self) -> Agreement:
        """How the two trainings compare."""
        if self.now is None:
            return Agreement.LEFT
        if not self.now.done or set(errors(self.before)) - set(self._errors):
            return Agreement.DIFFERS
        exact = all(self.before.summary.get(f) == self.now.summary.get(f) for f in ("final_loss", "steps"))
        if exact and all(before == now for before, now in self._errors.values()):
            return Agreement.BITS
        if self.difference <= ROUNDING:
            return Agreement.ROUNDING
        kept = all(apart <= allowed for apart, allowed in self.factors.values())
        return Agreement.SPREAD if self.changed and kept else Agreement.DIFFERS

    @cached_property
    def _errors(self) -> dict[str, tuple[float, float]]:
        """Each error before and now; older records may lack some."""
        if self.now is None or not self.now.done:
            return {}
        before, now = errors(self.before), errors(self.now)
        return {name: (before[name], now[name]) for name in now if name in before}


def errors(record: Record) -> dict[str, float]:
    """All errors of a run by name, infinite where not finite; the loss if there are none."""
    found: dict[str, Any] = {}
    for norm in ("rel_l2", "rel_l1"):
        found.update({f"{norm} of {k}": v for k, v in (record.summary.get(norm) or {}).items()})
    for time, values in (record.summary.get("rel_l2_at") or {}).items():
        found.update({f"rel_l2 of {k} at {time}": v for k, v in values.items()})
    if not found:
        found["loss"] = record.summary.get("final_loss")
    return {name: math.inf if value is None else float(value) for name, value in found.items()}


def other_seeds(record: Record, records: Iterable[Record]) -> list[Record]:
    """The finished runs that differ from a record only in their seeds."""
    row = _row(record)
    return [other for other in records if other.done and other.seed != record.seed and _row(other) == row]


@cache
def _settings(text: str) -> str:
    return unnamed(json.loads(text))


def _row(record: Record) -> tuple[Any, ...]:
    return record.problem, record.parameters, _settings(record.method_text)


def _apart(values: Sequence[float]) -> float:
    """The factor between the smallest and the largest."""
    low, high = min(values, default=1.0), max(values, default=1.0)
    if low == high:
        return 1.0
    return high / low if low > 0 else math.inf


def _difference(before: float, now: float) -> float:
    if before == now:
        return 0.0
    return abs(now - before) / before if 0 < before < math.inf else math.inf


def _same(pair: Pair, fact: str) -> bool:
    before, now = (r.summary.get(fact) if r else None for r in (pair.before, pair.now))
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        return all(before[name] == now[name] for name in set(before) & set(now))
    return before == now


def _same_group(before: Record, now: Record) -> bool:
    if before.group and now.group:
        return before.group == now.group
    return before.trained_together == now.trained_together == 1


FILE = "recheck.json"
"""The file in the output folder with everything that was compared."""


@dataclass(frozen=True)
class Comparison:
    """Runs, each paired with a later training of it."""

    pairs: tuple[Pair, ...]

    @cached_property
    def counts(self) -> Counter[Agreement]:
        """How many runs agree to which degree."""
        return Counter(pair.agreement for pair in self.pairs)

    @property
    def agrees(self) -> bool:
        """Whether no run differs."""
        return not self.counts[Agreement.DIFFERS]

    def write(self, folder: str | Path) -> Path:
        """Write `recheck.json` with all figures, a line for each run, into a folder that is no study's."""
        if Store.at(folder):
            raise FileError(f"{folder} is the folder of a study. A comparison needs one of its own.")
        return self._write(folder, "comparison")

    def _write(self, folder: str | Path, kind: str, **facts: Any) -> Path:
        told = {
            "kind": kind,
            "version": VERSION,
            "rule": {"same_to_rounding": ROUNDING, "factor": FACTOR},
            "agreement": {answer.value: self.counts[answer] for answer in Agreement if self.counts[answer]},
            "before": _told(origin([pair.before for pair in self.pairs])),
            "now": _told(origin([pair.now for pair in self.pairs if pair.now is not None])),
            **facts,
        }
        head = json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False).removesuffix("\n}")
        rows = (json.dumps(_plain(pair), ensure_ascii=False, allow_nan=False) for pair in self.pairs)
        text = f'{head},\n "runs": [\n  ' + ",\n  ".join(rows) + "\n ]\n}\n"
        return write_bytes(Path(folder) / FILE, text.encode())


def compare(before: str | Path, now: str | Path) -> Comparison:
    """Compare every finished run of one store with the same run in another.

    Runs of which both stores hold the very same training are left out.

    Args:
        before: the folder of the first store.
        now: the folder of the other one.
    """
    known, later = Store(before).records(), Store(now)
    pairs = []
    for record in known:
        found = later.get(record.key)
        if record.done and (found is None or _when(found) != _when(record)):
            pairs.append(Pair(record, found, other_seeds(record, known) if found else ()))
    if all(pair.now is None for pair in pairs):
        raise FileError(f"No run of {before} was trained again in {now}, so there is nothing to compare.")
    return Comparison(tuple(pairs))


def _when(record: Record) -> tuple[Any, ...]:
    """What distinguishes one training of a run from another."""
    return record.commit, record.finished, record.summary.get("wall_s")


def _told(source: Origin) -> dict[str, Any]:
    told = {**vars(source), "device_seconds": round(source.seconds, 3)}
    return {name: value for name, value in told.items() if name not in ("references", "seconds")}


def _plain(pair: Pair) -> dict[str, Any]:
    before = pair.before
    return {
        "key": before.key,
        "problem": before.problem,
        "parameters": before.parameters,
        "method": before.method,
        "seed": before.seed,
        "agreement": pair.agreement.value,
        "difference": _finite(pair.difference) if pair.now and pair.now.done else None,
        "changed": list(pair.changed),
        "factors": {
            name: {"found": _finite(apart), "allowed": _finite(allowed)}
            for name, (apart, allowed) in pair.factors.items()
        },
        "before": _outcome(before),
        "now": None if pair.now is None else _outcome(pair.now),
    }


def _outcome(record: Record) -> dict[str, Any]:
    return {
        "status": record.status,
        **({"reason": record.reason} if record.reason else {}),
        **({name: _finite(value) for name, value in errors(record).items()} if record.done else {}),
        "device": record.summary.get("device"),
        "kernels": record.kernels,
        "commit": record.commit,
        "finished": record.finished,
        "trained_together": record.trained_together,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
