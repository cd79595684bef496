"""Methods as plain data and as TOML, for files and for comparison."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import descent as training, objective, trial
from ..errors import FileError, HcpinnError, MethodError, unknown_name
from ..machine.files import read_toml, write_bytes
from ..objective import Penalty, WeightRule
from ..trial import Embedding, Gate, Lift, Network
from . import lessons
from .method import Method
from .optimisers.rates import Schedule
from .optimisers.stage import Stage

_PARTS = {
    name: part
    for room in (trial, objective, training, lessons)
    for name, part in vars(room).items()
    if inspect.isclass(part) and dataclasses.is_dataclass(part) and not name.startswith("Custom")
}

_OWN = (Lift, Gate, Embedding, Network, Stage, Penalty, WeightRule, Schedule)


ENGINES: dict[str, Any] = {}
"""The methods of other engines by the engine's name, so that files can hold them too."""


def to_dict(method: Any) -> dict[str, Any]:
    """A method as nested dictionaries of plain values; custom functions appear by name only."""
    engine = {} if method.engine == Method.engine else {"engine": method.engine}
    return engine | {f.name: _plain(getattr(method, f.name)) for f in dataclasses.fields(method)}


def from_dict(data: Any) -> Any:
    """The method that `to_dict` described; settings left out have their defaults."""
    try:
        engine = data.get("engine", Method.engine)
        if engine != Method.engine:
            if engine not in ENGINES:
                raise unknown_name("engine", engine, (Method.engine, *ENGINES))
            return _make(ENGINES[engine], {name: value for name, value in data.items() if name != "engine"})
        return _make(Method, {name: _object(value) for name, value in _with_lessons(data).items()})
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        raise FileError(f"This is not the description of a method: {error}.") from error


def _with_lessons(data: Mapping[str, Any]) -> dict[str, Any]:
    """Settings from before lessons were counted: each was a horizon of 1.0, and `early` left out the last."""
    found = {**data}
    shares = found.get("horizons", ())
    if found.pop("early", None) is not None or list(shares).count(1.0) > 1:
        growing = [share for share in shares if share != 1.0]
        found.update(horizons=[*growing, 1.0], lessons=max(1, len(shares) - len(growing)))
    return found


def to_toml(method: Any) -> str:
    """A method as TOML. What it leaves out, such as mini-batches that are not used, is left out here too."""
    import tomli_w

    return tomli_w.dumps(_without_none(to_dict(method)))


def save_method(method: Any, path: str | Path) -> Path:
    """Write a `method` to a TOML file at `path`."""
    write_bytes(Path(path), to_toml(method).encode())
    return Path(path)


def load_method(path: str | Path) -> Method:
    """Read a method from the TOML file at `path`; its name is that of the file unless it states one."""
    data = read_toml(path)
    try:
        return from_dict({"name": Path(path).stem, **data})
    except HcpinnError as error:
        raise type(error)(f"{path}: {error}") from error


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        settings = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"kind": type(value).__name__, **settings}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, _OWN):
        return {"kind": type(value).__name__}
    return {"function": getattr(value, "__qualname__", repr(value))}


def _object(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_object(item) for item in value)
    if not isinstance(value, dict):
        return value
    kind = value.get("kind")
    if not isinstance(kind, str):
        raise MethodError(
            f'Each part of a method names its kind, as in kind = "MLP", but one with the settings '
            f"{', '.join(map(repr, value))} does not."
        )
    if kind not in _PARTS:
        raise MethodError(
            f"The method has a part '{kind}', which is not one of hcpinn's. A part of your own is code and "
            "not kept in files: give the method again, load(path, method=…)."
        )
    return _make(_PARTS[kind], {name: _object(item) for name, item in value.items() if name != "kind"})


def _make(part: Any, settings: dict[str, Any]) -> Any:
    """A method, or a part of one, from its settings; wrong ones raise a `MethodError`."""
    known = [f.name for f in dataclasses.fields(part) if f.init]
    for name in settings:
        if name not in known:
            raise unknown_name("setting", name, known, of=part.__name__)
    try:
        return part(**settings)
    except (TypeError, ValueError) as error:
        given = ", ".join(f"{name} = {value!r}" for name, value in settings.items()) or "no settings at all"
        raise MethodError(f"{part.__name__} cannot be made with {given}: {error}.") from error


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_none(item) for name, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value
