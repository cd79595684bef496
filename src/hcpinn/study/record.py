"""The record of a run: what was trained with which settings, how it ended, where and with what."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..checking import relative_errors
from ..descent import Method, from_dict, to_dict
from ..descent.runs import Run
from ..equation import fingerprint
from ..errors import FileError, HcpinnError, UnusableFileError
from ..evolution import Evolution
from ..machine.plain import NUMBER, has_shape
from ..machine.programs import BY_RULE, BY_TIMING
from ..problem import Problem
from ..solution import Solution
from ..solving import probe

VERSION = 1
"""Of the layout of records and stores."""

DONE, FAILED = "done", "failed"

DIGITS = 12
"""Digits that identify a key within a store."""

_LATER = ("group", "accuracy", "device_s")
"""Fields that early records lack."""

_ERRORS = (None, {str: NUMBER})
_SHAPES = {
    **dict.fromkeys(("key", "problem", "method", "status", "reason", "commit", "finished"), str),
    **dict.fromkeys(("seed", "trained_together"), int),
    **dict.fromkeys(("accuracy", "device_s"), NUMBER),
    "parameters": {str: int | float},
    "method_text": {"name": str, "stages": (None, int, [{"steps": int}]), "points": int},
    "history": {str: [NUMBER]},
    "group": [str],
    "summary": {
        **dict.fromkeys(("rel_l2", "rel_l1"), _ERRORS),
        **dict.fromkeys(("rel_l2_at", "rel_l1_at"), (None, {str: _ERRORS})),
        **dict.fromkeys(("estimated_error", "verdict_error", "final_loss", "wall_s"), NUMBER),
        **dict.fromkeys(("steps", "parameters_trained"), int),
        **dict.fromkeys(("verdict", "engine", "stop_reason"), str),
        "verdict_reasons": [str],
        "notes": [str],
        **dict.fromkeys(("device", "kernels"), str | None),
        "reference": (None, {"solver": str, "error_estimate": NUMBER, "notes": [str]}),
        "versions": (None, {str: str | None}),
        "stages": [[str | int]],
    },
}
"""What the parts of a record are in a file."""


@dataclass(frozen=True)
class Record:
    """One finished run: trained completely, or failed for a reason."""

    key: str
    """The content address of problem, method, seed and accuracy: `run_key`."""
    problem: str
    """The problem's name."""
    parameters: dict[str, float]
    method: str
    """The method's name. It does not count in the key: methods with equal settings share a record."""
    method_text: str
    """Every setting of the method, as JSON; `method.from_dict(json.loads(text))` makes it again."""
    seed: int
    status: str
    """'done' or 'failed'."""
    reason: str = ""
    """Why it failed."""
    summary: dict[str, Any] = field(default_factory=dict)
    """`Solution.summary()`, with the `stages` as (name, steps), and `rel_l2_at`: errors at T/2 and T."""
    history: dict[str, np.ndarray] = field(default_factory=dict)
    """Thinned curves over `step`: `loss`, and each term of it. Empty where none was kept."""
    trained_together: int = 1
    commit: str = ""
    """The commit of hcpinn's source, with '+' after it where files had been changed."""
    finished: str = ""
    """When, in ISO form."""
    group: tuple[str, ...] = ()
    """The runs that trained together, itself among them, in their order: the first digits of their keys.

    Empty in records from before groups were kept.
    """
    accuracy: float | None = None
    """The relative L2 error up to which it counts as converged; None in such records."""
    device_s: float | None = None
    """Seconds of its device: its share of what its group took from its start to its judgement, which groups
    side by side share in turn. None in such records."""

    @property
    def done(self) -> bool:
        """Whether the run was trained completely."""
        return self.status == DONE

    @property
    def place(self) -> tuple[Any, ...]:
        """What records are sorted by."""
        return self.problem, tuple(self.parameters.items()), self.method, self.seed, self.key

    @property
    def kernels(self) -> str:
        """How its kernels were chosen; in old records, which do not say, by timing on a GPU."""
        on_cpu = str(self.summary.get("device") or "cpu").startswith("cpu")
        return self.summary.get("kernels") or (BY_RULE if on_cpu else BY_TIMING)

    def to_plain(self) -> dict[str, Any]:
        """The record as plain data, for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain["method_text"] = json.loads(self.method_text)
        plain["group"] = list(self.group)
        # The same as method_text: one of them will do.
        plain["summary"] = {k: v for k, v in self.summary.items() if k != "method_settings"}
        plain["history"] = {name: [_short(v) for v in values] for name, values in self.history.items()}
        return {"kind": "record", "version": VERSION, **plain}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any], *, source: object) -> Record:
        """The record that `to_plain` described; `source` is where it comes from, for messages."""
        check_version(data, "record", source)
        try:
            values = {n: data[n] for n in cls.__dataclass_fields__ if n in data or n not in _LATER}
            for name, value in values.items():
                if not has_shape(value, _SHAPES[name]):
                    raise TypeError(f"'{name}'")
            values["group"] = tuple(values.get("group", ()))
            if values["summary"]:
                values["summary"] = {**values["summary"], "method_settings": values["method_text"]}
            values["method_text"] = json.dumps(values["method_text"])
            values["history"] = {name: _curve(name, v) for name, v in values["history"].items()}
            return cls(**values)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise UnusableFileError(f"{source} is not a whole record: it has no valid {error}.") from error


def check_version(data: Any, kind: str, source: object) -> None:
    """Refuse files of another kind or layout version."""
    found = data.get("kind") if isinstance(data, Mapping) else None
    if found != kind:
        raise FileError(f"{source} is not a {kind} of hcpinn.")
    if data.get("version") != VERSION:
        raise FileError(
            f"{source} is a {kind} of version {data.get('version')}; this hcpinn reads and writes version "
            f"{VERSION}. Use the hcpinn that wrote it, or another folder."
        )


def run_key(run: Run, accuracy: float = 1e-2) -> str:
    """40 hexadecimal digits that identify everything the outcome of a run depends on.

    Args:
        run: problem, method and seed.
        accuracy: the relative L2 error up to which it counts as converged.
    """
    settings = {name: value for name, value in to_dict(run.method).items() if name != "name"}
    # Keys are older than `lessons`: each was a horizon of 1.0 then, with a switch to leave out the last ones.
    if (lessons := settings.pop("lessons", None)) is not None:
        settings.update(horizons=[*settings["horizons"], *[1.0] * (lessons - 1)], early=lessons > 1)
    if settings.get("growth") is None:  # as they are than `growth`
        settings.pop("growth", None)
    statement = [VERSION, fingerprint(run.problem), settings, run.seed, accuracy]
    if not _is_plain(run.method):
        statement.append(probe(run))
    return hashlib.sha256(json.dumps(statement, sort_keys=True).encode()).hexdigest()[:40]


def _is_plain(method: Method) -> bool:
    """Whether a text describes a method completely: it has no custom functions or data."""
    try:
        return from_dict(to_dict(method)) == method
    except HcpinnError:
        return False


def record_of(
    solution: Solution,
    *,
    key: str,
    trained_together: int,
    commit: str,
    finished: str,
    group: tuple[str, ...] = (),
    accuracy: float | None = None,
) -> Record:
    """The record of a run that was trained completely.

    Args:
        solution: what it found.
        key: its address.
        trained_together: how many runs shared its steps.
        commit: of hcpinn's source.
        finished: when it ended, in ISO form.
        group: the first digits of the keys of these runs, in their order.
        accuracy: the relative L2 error up to which it counts as converged.
    """
    return Record(
        **_identity(key, solution.problem, solution.method, solution.seed),
        status=DONE,
        summary={
            **solution.summary(),
            "stages": [list(stage) for stage in solution.history.stages],
            "rel_l2_at": _errors_in_time(solution),
        },
        history=_curves(solution),
        trained_together=trained_together,
        commit=commit,
        finished=finished,
        group=group,
        accuracy=accuracy,
    )


def failure(run: Run, reason: str, *, key: str, commit: str, finished: str) -> Record:
    """The record of a run that could not be carried out."""
    identity = _identity(key, run.problem, run.method, run.seed)
    return Record(**identity, status=FAILED, reason=reason, commit=commit, finished=finished)


def _identity(key: str, problem: Problem, method: Method | Evolution, seed: int) -> dict[str, Any]:
    return {
        "key": key,
        "problem": problem.name,
        "parameters": dict(problem.parameters),
        "method": method.name,
        "method_text": json.dumps(to_dict(method)),
        "seed": seed,
    }


def _curves(solution: Solution) -> dict[str, np.ndarray]:
    """The loss and its terms at a few hundred steps."""
    history = solution.history.thinned()
    if not len(history.loss):
        return {}
    return {"step": history.numbers, "loss": history.loss, **history.terms}


def _errors_in_time(solution: Solution) -> dict[str, dict[str, float | None]]:
    """Relative L2 errors by field at half time and at the end."""
    reference = solution.reference
    if reference is None:
        return {}
    ends = solution.problem.start + np.array([0.5, 1.0]) * solution.problem.duration
    picks = [int(np.argmin(np.abs(reference.times - end))) for end in ends]
    predicted = solution.on_grid(reference.times[picks], *reference.coordinates)
    found = {}
    for number, pick in enumerate(picks):
        own = {name: values[number] for name, values in predicted.items()}
        exact = {name: values[pick] for name, values in reference.values.items()}
        errors, _ = relative_errors(solution.problem, own, exact)
        found[f"t={reference.times[pick]:g}"] = {
            name: error if math.isfinite(error) else None for name, error in errors.items()
        }
    return found


def _short(value: Any) -> float | int | None:
    """A number of a curve with the digits that a picture can show; None where it is not finite."""
    if isinstance(value, np.integer | int):
        return int(value)
    return float(f"{value:.5g}") if np.isfinite(value) else None


def _curve(name: str, values: Any) -> np.ndarray:
    if name == "step":
        return np.asarray(values, int)
    return np.asarray([np.nan if v is None else v for v in values], float)


Settings = Mapping[str, Any]


def recorded_settings(record: Record) -> Settings:
    """Every setting of a record, with the defaults of those that its version of hcpinn did not know yet."""
    written = json.loads(record.method_text)
    try:
        return json.loads(json.dumps(to_dict(from_dict(written))))
    except HcpinnError:  # a method with custom parts is known by its text alone
        return written


def unnamed(settings: Settings) -> str:
    """All settings but the name, as text."""
    return json.dumps({name: value for name, value in settings.items() if name != "name"}, sort_keys=True)


def digest(method: Method) -> str:
    """Digits that identify all settings of a method but its name."""
    return hashlib.sha256(unnamed(to_dict(method)).encode()).hexdigest()[:8]


def budget(record: Record) -> str:
    """The steps of each stage and the points that a record was trained with, or its features."""
    settings = recorded_settings(record)
    if not isinstance(settings.get("stages"), list):
        return f"{settings.get('features') or 'as many as needed'} features"
    steps = " + ".join(f"{stage.get('steps', 0):,}" for stage in settings["stages"])
    return f"{steps} steps, {settings.get('points', 0):,} points"


def kind(part: Any) -> Any:
    """The kind of a part of a method, or the setting itself where it has no parts."""
    return part.get("kind") if isinstance(part, Mapping) else part


def exact_start(record: Record) -> bool:
    """Whether the run meets its initial data exactly, rather than by a penalty."""
    return kind(recorded_settings(record).get("lift")) != "NoLift"
