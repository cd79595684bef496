"""Which records belong to which row of a table: by what was trained, not by what it is called.

One training can stand in several tables under several names: the study's best settings for the first
Allen–Cahn case are `paper` in one table and `pbc+ic1+sa` in another. And a run at a smaller budget belongs
to the same row, but must not pass for the study's own. So methods are compared setting by setting.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from ..descent import Method, from_dict, to_dict
from ..errors import HcpinnError
from .record import Record

Settings = Mapping[str, Any]

_SIZES = ("name", "points", "sampler", "network", "batches", "stages", "penalties")
"""Settings that may differ between a row and a run of it: how much, not what."""


@cache
def settings_of(method: Method) -> Settings:
    """A method as plain data, as a record holds it."""
    return json.loads(json.dumps(to_dict(method)))


def unnamed(settings: Settings) -> str:
    """All that was set, whatever it is called, as text."""
    return json.dumps({name: value for name, value in settings.items() if name != "name"}, sort_keys=True)


def recorded_settings(record: Record) -> Settings:
    """The settings a record was trained with, those included that its version of hcpinn did not know yet."""
    written = json.loads(record.method_text)
    try:
        return json.loads(json.dumps(to_dict(from_dict(written))))
    except HcpinnError:  # a method with parts of one's own is told by its text alone
        return written


def exact_start(record: Record) -> bool:
    """Whether the run meets its initial data exactly, rather than by a penalty."""
    return _kind(recorded_settings(record).get("lift")) != "NoLift"


def same_scheme(found: Settings, wanted: Settings) -> bool:
    """Whether two methods are the same scheme, whatever their budgets and names."""
    if any(found.get(name) != wanted.get(name) for name in set(found) | set(wanted) if name not in _SIZES):
        return False
    if _kind(found.get("network")) != _kind(wanted.get("network")):
        return False
    if (found.get("batches") is None) != (wanted.get("batches") is None):
        return False
    if [_penalty(p) for p in found["penalties"]] != [_penalty(p) for p in wanted["penalties"]]:
        return False
    stages = [[_kind(s) for s in settings["stages"]] for settings in (found, wanted)]
    # A budget may leave out a stage, which its name then has to make up for.
    return stages[0] == stages[1] or (found["name"] == wanted["name"] and set(stages[0]) <= set(stages[1]))


def same_parameters(found: Mapping[str, float], wanted: Mapping[str, float]) -> bool:
    """Whether two problems have the same parameters."""
    return set(found) == set(wanted) and all(
        math.isclose(found[name], wanted[name], rel_tol=1e-9, abs_tol=1e-300) for name in wanted
    )


def deviations(found: Settings, wanted: Settings) -> tuple[str, ...]:
    """In what a run of a row differs from the row, each as a phrase."""
    phrases = []
    for label, say in (
        ("points", lambda s: f"{s['points']:,}"),
        ("network", lambda s: f"{s['network'].get('depth')}×{s['network'].get('width')}"),
        ("steps", lambda s: " + ".join(f"{stage['steps']:,}" for stage in s["stages"])),
    ):
        ours, theirs = say(found), say(wanted)
        if ours != theirs:
            phrases.append(f"{label} {ours} instead of {theirs}")
    if not phrases and any(found.get(name) != wanted.get(name) for name in wanted if name != "name"):
        changed = sorted(name for name in wanted if name != "name" and found.get(name) != wanted[name])
        phrases.append(f"other {', '.join(changed)}")
    return tuple(phrases)


def _kind(part: Any) -> Any:
    return part.get("kind") if isinstance(part, Mapping) else part


def _penalty(part: Mapping[str, Any]) -> Settings:
    return {name: value for name, value in part.items() if name != "points"}
