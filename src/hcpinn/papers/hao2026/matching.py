"""Which records belong to which row of a table: by what was trained, not by what it is called.

One training can stand in several tables under several names: the paper's best settings for the first
Allen–Cahn case are `paper` in one table and `pbc+ic1+sa` in another. And a run at a smaller budget belongs
to the same row, but must not pass for the paper's own. So methods are compared setting by setting.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache

from ...descent import Method, to_dict
from ...study.record import Settings, kind

_SIZES = ("name", "points", "sampler", "network", "batches", "stages", "penalties")
"""Settings that may differ between a row and a run of it: how much, not what."""


@cache
def settings_of(method: Method) -> Settings:
    """A method as plain data, as a record holds it."""
    return json.loads(json.dumps(to_dict(method)))


def same_scheme(found: Settings, wanted: Settings) -> bool:
    """Whether two methods are the same scheme, whatever their budgets and names."""
    if any(found.get(name) != wanted.get(name) for name in set(found) | set(wanted) if name not in _SIZES):
        return False
    if kind(found.get("network")) != kind(wanted.get("network")):
        return False
    if (found.get("batches") is None) != (wanted.get("batches") is None):
        return False
    if [_penalty(p) for p in found["penalties"]] != [_penalty(p) for p in wanted["penalties"]]:
        return False
    stages = [[kind(s) for s in settings["stages"]] for settings in (found, wanted)]
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


def _penalty(part: Settings) -> Settings:
    return {name: value for name, value in part.items() if name != "points"}
