"""Measured values in a text: from CSV files next to it, or inline."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FileError, ProblemError
from ...machine.files import reading
from ..domain import AXES
from ..samples import Samples

LARGEST = 1 << 24
"""Bytes of a file."""

_COORDINATES = ("t", *AXES)


def read_samples(path: Path) -> Samples:
    """The values of a CSV file: columns of coordinates, then one of values, in any order of rows.

    Coordinates are called as in the head of the file, or x, y, z where it has none.
    """
    with reading(path) as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise FileError(f"{path} is too long: more than {LARGEST:,} bytes.")
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is no text in UTF-8.") from error
    head: list[str] = []
    rows: list[list[float]] = []
    separator = ";" if any(";" in line for line in lines[:2]) else ","
    for number, row in enumerate(csv.reader(lines, delimiter=separator), start=1):
        if not row or row[0].startswith("#"):
            continue
        try:
            rows.append([float(value) for value in row])
        except ValueError as error:
            if rows or head:
                raise FileError(f"{path}, line {number}: numbers are expected, but {error}.") from error
            head = [value.strip() for value in row]
            continue
        if not 2 <= len(row) <= 4 or len(row) != len(rows[0]):
            raise FileError(
                f"{path}, line {number}: there are {len(row)} columns, not 2 to 4 as in every line."
            )
    if not rows:
        raise FileError(f"{path} has no numbers.")
    names = head[:-1] if head and set(head[:-1]) <= set(_COORDINATES) else AXES[: len(rows[0]) - 1]
    return _on_grid(path, names, np.array(rows))


def _on_grid(path: Path, names: Any, rows: np.ndarray) -> Samples:
    """Rows of coordinates and a value as values on the grid of all coordinates."""
    if len(names) != rows.shape[1] - 1 or len(set(names)) < len(names):
        raise FileError(f"{path} has {rows.shape[1]} columns under {len(names) + 1} different heads.")
    grids, places = zip(*(np.unique(c, return_inverse=True) for c in rows[:, :-1].T), strict=True)
    values = np.full([len(grid) for grid in grids], np.nan)
    values[places] = rows[:, -1]
    if values.size != len(rows) or np.isnan(values).any():
        raise FileError(
            f"{path} has {len(rows)} values for a grid of {' × '.join(str(len(g)) for g in grids)} places. "
            "Give one value for each place of a grid."
        )
    return Samples(values, **dict(zip(names, grids, strict=True)))


def samples_of(table: Mapping[str, Any]) -> Samples:
    """Values that are written out, as in { x = [0, 1], values = [2, 3] }."""
    names = [name for name in table if name != "values"]
    if "values" not in table or not names or not set(names) <= set(_COORDINATES):
        raise ProblemError(
            "Data in place are lists of places and values, as in { x = [0, 1], values = [2, 3] }."
        )
    try:
        numbers = {name: np.array(own, float) for name, own in table.items()}
    except (TypeError, ValueError) as error:
        raise ProblemError("Data in place are lists of numbers.") from error
    values = numbers.pop("values")
    grids: dict[str, Any] = dict(numbers)
    return Samples(values, **grids)
