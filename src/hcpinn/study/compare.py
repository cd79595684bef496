"""Compare runs that were trained twice: how far they agree, run by run and as a whole."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import FileError
from ..machine.files import write_bytes
from .agreement import FACTOR, ROUNDING, Agreement, Pair, errors, other_seeds
from .origin import Origin, origin
from .record import VERSION, Record
from .store import Store

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
        rows = (json.dumps(_row(pair), ensure_ascii=False, allow_nan=False) for pair in self.pairs)
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
    return {
        "devices": dict(source.devices),
        "versions": {name: dict(counts) for name, counts in source.versions.items()},
        "kernels": dict(source.kernels),
        "commits": dict(source.commits),
        "first": source.first,
        "last": source.last,
        "device_seconds": round(source.seconds, 3),
    }


def _row(pair: Pair) -> dict[str, Any]:
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
