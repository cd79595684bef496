"""Data files: two columns of numbers as a smooth curve."""

from __future__ import annotations

import csv
from pathlib import Path

from ...errors import FileError
from ...machine.files import reading
from .formula import Curve

LARGEST = 1 << 24
"""Bytes of a file."""


def read_curve(path: Path) -> Curve:
    """The cubic spline through the points of a CSV file: position, value, in any order, under any heads."""
    with reading(path) as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise FileError(f"{path} is too long: more than {LARGEST:,} bytes.")
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is no text in UTF-8.") from error
    points: list[tuple[float, float]] = []
    separator = ";" if any(";" in line for line in lines[:2]) else ","
    for number, row in enumerate(csv.reader(lines, delimiter=separator), start=1):
        if not row or row[0].startswith("#"):
            continue
        try:
            if len(row) != 2:
                raise ValueError(f"there are {len(row)} columns")
            points.append((float(row[0]), float(row[1])))
        except ValueError as error:
            if number == 1 or not points:
                continue  # the heads of the columns
            raise FileError(f"{path}, line {number}: two numbers are expected, but {error}.") from error
    return Curve.through(points, str(path))
