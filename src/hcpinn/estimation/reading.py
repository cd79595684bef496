"""Measurements from files: CSV tables, and NetCDF through xarray."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError, HcpinnError, UnusableFileError
from .measurements import NOISE, Measurements

_COORDINATES = ("t", "x", "y", "z")

_NETCDF = (".nc", ".cdf", ".netcdf")


def read_measurements(path: str | Path, **options: Any) -> Measurements:
    """Measurements from a file: CSV with a line of names, or NetCDF (needs xarray).

    Columns t, x, y, z are coordinates; `noise`, or `u_noise` for the values `u`, standard deviations; all
    others values, where an empty cell or NaN is missing. Options are those of `Measurements`.
    """
    path = Path(path)
    if path.suffix.lower() in _NETCDF:
        xarray = _xarray()
        try:
            with xarray.open_dataset(path) as data:
                return from_xarray(data.load(), **{"name": path.stem, **options})
        except (OSError, ValueError) as error:
            raise UnusableFileError(f"{path} is not a readable NetCDF file: {error}") from error
    return _from_columns(_read_csv(path), str(path), {"name": path.stem, **options})


def read_experiments(path: str | Path, parameters: Collection[str], **options: Any) -> list[Measurements]:
    """The experiments in a file: in a table one for each setting of the columns named like parameters."""
    path = Path(path)
    columns = {} if path.suffix.lower() in _NETCDF else _read_csv(path)
    names = [name for name in columns if name in parameters]
    if not names:
        return [read_measurements(path, **options)]
    table = np.stack([columns[name] for name in names], axis=1)
    if not np.isfinite(table).all():
        raise UnusableFileError(f"A cell of {', '.join(names)} in {path} is empty: every row needs a value.")
    found = []
    for row in np.unique(table, axis=0):
        settings = dict(zip(names, row.tolist(), strict=True))
        own = {n: v[(table == row).all(axis=1)] for n, v in columns.items() if n not in settings}
        told = ", ".join(f"{name} = {value:g}" for name, value in settings.items())
        options = {**options, "settings": settings, "name": f"{path.stem} ({told})"}
        found.append(_from_columns(own, str(path), options))
    return found


def from_xarray(data: Any, **options: Any) -> Measurements:
    """Measurements from an `xarray.Dataset` or a named `DataArray` with coordinates t, x, …."""
    xarray = _xarray()
    if isinstance(data, xarray.DataArray):
        data = data.to_dataset(name=data.name or "u")
    axes = [name for name in _COORDINATES if name in data.coords]
    names = [*axes, *data.data_vars]
    arrays = xarray.broadcast(*(data[name] for name in names))
    columns = {str(name): np.asarray(array).ravel() for name, array in zip(names, arrays, strict=True)}
    return _from_columns(columns, "The dataset", options)


def _read_csv(path: Path) -> dict[str, np.ndarray]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path} cannot be read: {error}") from error
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    separator = next((s for s in (",", ";", "\t") if lines and s in lines[0]), ",")
    rows = list(csv.reader(lines, delimiter=separator, skipinitialspace=True))
    if len(rows) < 2:
        raise UnusableFileError(
            f"{path} holds no measurements: its first line names columns, the rest are numbers."
        )
    names = [name.strip() for name in rows[0]]
    if len(set(names)) < len(names) or "" in names:
        raise UnusableFileError(
            f"The columns of {path} need names, each its own, but are {', '.join(names)}."
        )
    table = np.full((len(rows) - 1, len(names)), np.nan)
    for number, row in enumerate(rows[1:]):
        if len(row) != len(names):
            raise UnusableFileError(
                f"Row {number + 2} of {path} has {len(row)} cells, the first has {len(names)}."
            )
        for column, cell in enumerate(row):
            if cell.strip():
                try:
                    table[number, column] = float(cell)
                except ValueError:
                    raise UnusableFileError(
                        f"'{cell}' in row {number + 2}, column '{names[column]}', of {path} is not a number."
                    ) from None
    return dict(zip(names, table.T, strict=True))


def _from_columns(columns: Mapping[str, np.ndarray], source: str, options: Mapping[str, Any]) -> Measurements:
    axes = [name for name in _COORDINATES if name in columns]
    noises = {name for name in columns if name == NOISE or name.endswith(f"_{NOISE}")}
    values = {name: v for name, v in columns.items() if name not in axes and name not in noises}
    if "t" not in axes or not values:
        raise UnusableFileError(
            f"{source} has the columns {', '.join(columns)}. It needs t, x, and one for each measured field."
        )
    own = {name: columns.get(f"{name}_{NOISE}", columns.get(NOISE)) for name in values}
    given = {name: noise for name, noise in own.items() if noise is not None}
    try:
        return Measurements(*(columns[a] for a in axes), **values, **{"noise": given or None, **options})
    except HcpinnError as error:
        raise UnusableFileError(f"{source}: {error}") from error


def _xarray() -> Any:
    try:
        import xarray
    except ImportError as error:
        raise HcpinnError("This needs xarray: pip install xarray.") from error
    return xarray
