"""Train a sample of a store again and see whether the errors agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..descent.runs import Run
from ..errors import FileError, HcpinnError, MethodError, UnusableFileError
from ..machine.files import read_json
from .compare import FILE, Comparison, Pair, other_seeds
from .declaration import Section, Study
from .record import Record
from .runner import Tally, run_study
from .store import Store
from .trained_groups import DEFAULT, TrainedGroup, groups_of, run_of, spread_out, trained_groups
from .watch import Watch


@dataclass(frozen=True)
class Selection:
    """What is to be trained again."""

    groups: tuple[TrainedGroup, ...]
    runs: dict[str, tuple[Run, float]]
    """Every run by its key, with its accuracy."""
    store: tuple[Record, ...]
    """Every record of the store, to compare with."""
    left_out: tuple[str, ...]
    """Why runs that would have been chosen cannot be trained again."""
    asked: dict[str, Any]
    """The arguments it was chosen by."""

    @property
    def records(self) -> list[Record]:
        """The records to compare: every run of the groups, since all are trained anyway."""
        return [record for group in self.groups for record in group.records]

    @property
    def seconds(self) -> float:
        """How long the groups took the first time."""
        return sum(group.seconds for group in self.groups)

    @property
    def study(self) -> Study:
        """The selection as a study."""
        sections = []
        for number, group in enumerate(self.groups, start=1):
            found = [self.runs[key] for key in group.keys]
            runs = tuple(run for run, _ in found)
            sections.append(Section(f"group {number}", f"Group {number}", runs, accuracy=found[0][1]))
        return Study("recheck", "Trained again", tuple(sections))


@dataclass(frozen=True)
class Recheck(Comparison):
    """The result of a recheck."""

    tally: Tally
    selection: Selection

    def write(self, folder: str | Path) -> Path:
        """Write `recheck.json` next to the runs trained for it."""
        chosen = self.selection
        left_out = list(chosen.left_out)
        return self._write(
            folder, "recheck", asked=chosen.asked, groups=len(chosen.groups), left_out=left_out
        )


def select(
    folder: str | Path,
    *,
    sample: int | None = None,
    groups: int | None = None,
    keys: Sequence[str] = (),
    seed: int | None = None,
    alone: bool = False,
    study: Study | None = None,
) -> Selection:
    """Choose what to train again: groups across problems and methods, quick ones first.

    Args:
        folder: the store to check.
        sample: the smallest number of runs to compare, 10 by default.
        groups: the number of groups to train instead.
        keys: the runs to train instead, by the first digits of their keys.
        seed: draw the sample at random, regardless of time.
        alone: train each run by itself. Its rounding then differs, as it does on another device anyway.
        study: the study, needed for custom problems and methods.
    """
    if sum((sample is not None, groups is not None, bool(keys))) > 1:
        raise MethodError("Give a number of runs, a number of groups, or keys: only one of these.")
    if (sample is not None and sample < 1) or (groups is not None and groups < 1):
        raise MethodError("A sample needs at least one run or one group.")
    if groups is None and not keys:
        sample = sample or DEFAULT
    records = Store(folder).records()
    found = trained_groups(records, alone=alone)
    if not found:
        raise FileError(f"{folder} has no finished run, so there is nothing to train again.")
    known = {record.key: record for record in records}
    chosen: list[TrainedGroup] = []
    runs: dict[str, tuple[Run, float]] = {}
    left_out: list[str] = []
    for group in groups_of(found, keys) if keys else spread_out(found, seed):
        if len(chosen) == groups or (sample and sum(len(g.records) for g in chosen) >= sample):
            break
        try:
            runs.update({key: run_of(known[key], study) for key in group.keys})
            chosen.append(group)
        except HcpinnError as error:
            if keys:
                raise
            left_out.append(str(error))
    if not chosen:
        raise FileError(f"No run of {folder} can be trained again. {left_out[0]}")
    asked = {
        **{"sample": sample, "groups": groups, "keys": list(keys) or None},
        **{"seed": seed, "alone": alone or None},
    }
    told = {name: value for name, value in asked.items() if value is not None}
    return Selection(tuple(chosen), runs, tuple(records), tuple(left_out), told)


def recheck(
    folder: str | Path,
    out: str | Path,
    *,
    max_seconds: float | None = None,
    checkpoint_every: float = 30.0,
    watch: Watch | None = None,
    **which: Any,
) -> Recheck:
    """Train some runs of a store again, in their groups or alone, and compare the errors.

    Every run of a group is compared. The results and `recheck.json` go into a store of their own, from which
    the same call resumes.

    Args:
        folder: the store to check.
        out: the folder for the new results; created if missing.
        max_seconds: stop after this time; the same call resumes.
        checkpoint_every: seconds between checkpoints.
        watch: shows the progress.
        which: what to train, as `select` takes it: `sample`, `groups`, `keys`, `seed`, `alone` and `study`.
    """
    chosen = select(folder, **which)
    place = Path(out)
    if Store.at(place):
        _check_place(place, Path(folder), alone=bool(chosen.asked.get("alone")))
    _compared(chosen, Store.make(place), Tally(0, 0, len(chosen.runs))).write(place)
    report = run_study(
        chosen.study,
        place,
        solutions=False,
        retry_failed=True,
        max_seconds=max_seconds,
        checkpoint_every=checkpoint_every,
        watch=watch,
        groups=[group.keys for group in chosen.groups],
    )
    found = _compared(chosen, Store(place), report)
    found.write(place)
    return found


def _check_place(place: Path, folder: Path, *, alone: bool) -> None:
    """Refuse the folder of a study, and a recheck that trained its runs in the other way."""
    if place.samefile(folder) or not (place / FILE).exists():
        raise FileError(f"{place} is the folder of a study. A recheck needs a folder of its own.")
    try:
        before = bool(read_json(place / FILE)["asked"].get("alone"))
    except (UnusableFileError, KeyError, TypeError, AttributeError) as error:
        raise FileError(f"{place / FILE} cannot be read as the result of a recheck.") from error
    if before != alone:
        way = "in their groups" if alone else "each by itself"
        raise FileError(f"{place} holds runs that were trained again {way}. Name another folder.")


def _compared(chosen: Selection, store: Store, report: Tally) -> Recheck:
    pairs = (Pair(r, store.get(r.key), other_seeds(r, chosen.store)) for r in chosen.records)
    return Recheck(tuple(pairs), report, chosen)
