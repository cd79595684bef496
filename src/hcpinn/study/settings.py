"""The settings that a record was trained with, as plain data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..descent import Method, from_dict, to_dict
from ..errors import HcpinnError
from .record import Record

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
    """Digits that stand for all settings of a method but its name."""
    return hashlib.sha256(unnamed(to_dict(method)).encode()).hexdigest()[:8]


def budget(record: Record) -> str:
    """The steps of each stage and the points that a record was trained with."""
    settings = recorded_settings(record)
    steps = " + ".join(f"{stage.get('steps', 0):,}" for stage in settings.get("stages", ()))
    return f"{steps} steps, {settings.get('points', 0):,} points"


def kind(part: Any) -> Any:
    """The kind of a part of a method, or the setting itself where it has no parts."""
    return part.get("kind") if isinstance(part, Mapping) else part


def exact_start(record: Record) -> bool:
    """Whether the run meets its initial data exactly, rather than by a penalty."""
    return kind(recorded_settings(record).get("lift")) != "NoLift"
