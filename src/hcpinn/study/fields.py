"""The fields of runs, for figures: kept as values where a file of the solution cannot be opened alone.

A solution's file holds no code, so it opens by itself only if its problem is in the catalogue and its method
has no custom parts. Of every other run the store keeps what a figure shows, in `fields/KEY.npz`.
"""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..descent.runs import Run
from ..errors import HcpinnError
from ..machine.files import read_archive, write_archive
from ..reference import solve_reference
from ..solution.shown import Shown
from ..solution.solution import Solution
from .record import Record
from .store import Store
from .trained_groups import run_of

_KIND, _VERSION = "fields", 1
_TIMES, _POINTS = 101, 201
"""How many values along an axis are kept at most."""


def keep_fields(store: Store, record: Record, run: Run) -> None:
    """Keep the fields of a run whose solution is in the store, if it cannot be opened without the run."""
    if _opens_alone(record):
        return
    try:
        solution = store.solution(record.key, problem=run.problem, method=run.method)
        shown = None if solution is None else _thinned(Shown.of(with_reference(solution)))
    except HcpinnError:  # a missing picture is no reason to stop a study
        return
    if shown is not None:
        _write(store.folder / "fields" / f"{record.key}.npz", shown)


def _opens_alone(record: Record) -> bool:
    """Whether the record tells which problem and method a solution is of."""
    try:
        run_of(record)
    except HcpinnError:
        return False
    return True


def fields_of(store: Store, record: Record) -> Shown | None:
    """What a figure of a run shows; None if neither its fields nor its solution were kept."""
    with store.file("fields", record.key) as path:
        if path is not None:
            return _read(path)
    solution = store.solution(record.key)
    return None if solution is None else Shown.of(with_reference(solution))


def with_reference(solution: Solution) -> Solution:
    """A solution with its reference, which a store leaves out, if there is one."""
    if solution.reference is not None or solution.rel_l2 is None:
        return solution
    return replace(solution, reference=solve_reference(solution.problem))


def _thinned(shown: Shown) -> Shown:
    """Every so many values along each axis, so that a file stays small."""
    steps = [-(-len(shown.times) // _TIMES)]
    steps += [-(-len(axis) // _POINTS) for axis in (shown.x, shown.y) if axis is not None]
    picks = tuple(slice(None, None, step) for step in steps)

    def few(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: array[picks] for name, array in values.items()}

    return Shown(
        shown.times[picks[0]],
        shown.x[picks[1]],
        None if shown.y is None else shown.y[picks[2]],
        few(dict(shown.predicted)),
        None if shown.exact is None else few(dict(shown.exact)),
    )


def _write(path: Path, shown: Shown) -> None:
    """Solution and error in single precision, so that small errors keep their digits."""
    arrays = {"times": shown.times, "x": shown.x}
    if shown.y is not None:
        arrays["y"] = shown.y
    for name, values in shown.predicted.items():
        arrays[f"solution.{name}"] = values.astype(np.float32)
        if shown.exact is not None:
            arrays[f"error.{name}"] = (shown.exact[name] - values).astype(np.float32)
    write_archive(path, kind=_KIND, version=_VERSION, header={"names": list(shown.predicted)}, arrays=arrays)


def _read(path: Path | zipfile.Path) -> Shown:
    header, arrays = read_archive(path, kind=_KIND, version=_VERSION)
    predicted = {name: arrays[f"solution.{name}"].astype(float) for name in header["names"]}
    errors = {name: arrays[f"error.{name}"] for name in predicted if f"error.{name}" in arrays}
    exact = {name: predicted[name] + error for name, error in errors.items()} or None
    return Shown(arrays["times"], arrays["x"], arrays.get("y"), predicted, exact)
