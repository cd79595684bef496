"""Files that the campaign damages: how each is made, and how hcpinn reads it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


FILES: tuple[tuple[str, Callable[[Path], Path], Callable[[Path], Any]], ...] = (
    ("a solution", _solution, lambda path: hc.load(path, problem=PROBLEM)),
    ("a checkpoint", _training, _resume),
    ("a record of a study", _study, lambda path: write_report(path.parent.parent, figures=False)),
    ("a packed study", _packed, lambda path: write_report(path.parent, figures=False)),
    ("a method", _method, load_method),
)
"""The name of each, what makes it in a folder, and what reads it."""
