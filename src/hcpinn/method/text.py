"""Methods as plain data, for files and for comparison."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from .. import training, trial
from ..errors import FileError, MethodError
from ..training import Stage
from ..trial import Embedding, Gate, Lift, Network
from .declaration import Method

_PARTS = {
    name: part
    for room in (trial, training)
    for name, part in vars(room).items()
    if inspect.isclass(part) and dataclasses.is_dataclass(part) and not name.startswith("Custom")
}


def to_dict(method: Method) -> dict[str, Any]:
    """A method as nested dictionaries of plain values; functions of your own appear by name only."""
    return {f.name: _plain(getattr(method, f.name)) for f in dataclasses.fields(method)}


def from_dict(data: Any) -> Method:
    """The method that `to_dict` described."""
    try:
        return Method(**{name: _object(value) for name, value in data.items()})
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        raise FileError(f"This is not the description of a method: {error}.") from error


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        settings = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"kind": type(value).__name__, **settings}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Lift | Gate | Embedding | Network | Stage):
        return {"kind": type(value).__name__}
    return {"function": getattr(value, "__qualname__", repr(value))}


def _object(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_object(item) for item in value)
    if not isinstance(value, dict):
        return value
    kind = value.get("kind")
    if kind not in _PARTS:
        raise MethodError(
            f"The method was trained with a part of its own, '{kind}', which is code and not kept in files. "
            "Give the method again: load(path, method=…)."
        )
    return _PARTS[kind](**{name: _object(item) for name, item in value.items() if name != "kind"})
