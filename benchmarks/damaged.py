"""Files that the campaign damages: how each is made, how it is damaged, and how hcpinn reads it."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st

import hcpinn as hc
from faults import SMALL, scene
from hcpinn.descent.text import load_method, to_toml
from hcpinn.machine.files import read_archive
from hcpinn.study import Store
from hcpinn.study.report import write_report

PROBLEM = hc.Problem(
    rhs=lambda u: 0.05 * u.xx,
    initial=lambda x: x * (1 - x),
    domain=hc.Interval(0, 1),
    horizon=1.0,
    boundary=hc.Dirichlet(0.0),
)


def _solution(folder: Path) -> Path:
    path = folder / "solution.npz"
    hc.solve(PROBLEM, reference=False, progress=False).save(path)
    return path


def _training(folder: Path) -> Path:
    source = scene("a training that is resumed").before / "checkpoint.npz"
    return Path(shutil.copy(source, folder / "checkpoint.npz"))


def _study(folder: Path) -> Path:
    shutil.copytree(scene("a report").before / "study", folder / "study")
    (path,) = (folder / "study" / "runs").glob("*.json")
    return path


def _packed(folder: Path) -> Path:
    shutil.copytree(scene("a report").before / "study", folder / "study")
    Store(folder / "study").pack()
    return folder / "study" / "runs.jsonl"


def _method(folder: Path) -> Path:
    path = folder / "method.toml"
    path.write_text(to_toml(SMALL))
    return path


def _resume(path: Path) -> Any:
    return json.dumps(read_archive(path, kind="checkpoint", version=99)[0])


def _statement(folder: Path) -> Path:
    return _study(folder).parent.parent / "study.json"


def changed(whole: bytes) -> st.SearchStrategy[bytes]:
    """A file with a few bytes changed, perhaps cut off."""
    places = st.integers(0, len(whole) - 1)

    def damage(edits: list[tuple[int, int]], end: int, cut: bool) -> bytes:
        content = bytearray(whole)
        for place, value in edits:
            content[place] = value
        return bytes(content[:end] if cut else content)

    edits = st.lists(st.tuples(places, st.integers(0, 255)), max_size=8)
    return st.builds(damage, edits, places, st.booleans())


_VALUES = [
    None,
    True,
    0,
    -1,
    2**63,
    10**30,
    1e308,
    "",
    "x",
    "$\\frac",
    "a" * 10_000,
    "\ud800",
    [],
    [[]],
    {},
    {"a": 1},
]


def garbled(whole: bytes) -> st.SearchStrategy[bytes]:
    """JSON in which one part is missing, or is a value of another kind."""
    data = json.loads(whole)

    def places(part: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        return [path, *(place for key, inner in items for place in places(inner, (*path, key)))]

    def damage(path: tuple[Any, ...], value: Any, missing: bool) -> bytes:
        again = inner = copy.deepcopy(data)
        for key in path[:-1]:
            inner = inner[key]
        if missing:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value
        return json.dumps(again).encode()

    return st.builds(damage, st.sampled_from(places(data)[1:]), st.sampled_from(_VALUES), st.booleans())


Damage = Callable[[bytes], st.SearchStrategy[bytes]]

FILES: tuple[tuple[str, Callable[[Path], Path], Damage, Callable[[Path], Any]], ...] = (
    ("a solution", _solution, changed, lambda path: hc.load(path, problem=PROBLEM)),
    ("a checkpoint", _training, changed, _resume),
    ("a record of a study", _study, changed, lambda path: write_report(path.parent.parent, figures=False)),
    ("a packed study", _packed, changed, lambda path: write_report(path.parent, figures=False)),
    ("a method", _method, changed, load_method),
    ("a garbled record", _study, garbled, lambda path: write_report(path.parent.parent, figures=False)),
    ("a garbled statement", _statement, garbled, lambda path: write_report(path.parent, figures=False)),
)
"""The name of each, what makes it in a folder, what is done to it, and what reads it."""
