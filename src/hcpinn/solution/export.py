"""A solution in the formats of other programs, by the ending of a file's name."""

from __future__ import annotations

import base64
import io
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import jax
import numpy as np

from ..errors import FileError, unknown_name
from ..machine.files import write_bytes
from ..machine.precision import double

if TYPE_CHECKING:
    from .solution import Solution


@dataclass(frozen=True)
class Grid:
    """Values of real components on a grid, as formats write them."""

    names: tuple[str, ...]
    """Of the axes, time first."""
    axes: tuple[np.ndarray, ...]
    values: Mapping[str, np.ndarray]
    """By component; NaN outside the domain."""
    about: Mapping[str, str]
    """Problem, method and verdict."""
    units: Mapping[str, str]
    """Of axes and components, where the problem names them."""


def export(solution: Solution, path: Path, times: Any, *axes: Any) -> Path:
    """Write a solution in the format that the file's name ends with.

    Args:
        solution: what to write.
        path: of the file; `FORMATS` lists the endings.
        times: as `Solution.on_grid` takes them.
        axes: likewise.
    """
    ending = path.suffix.lower()
    if ending == ".stablehlo":
        return write_bytes(path, _program(solution))
    if ending not in FORMATS:
        raise unknown_name("format", ending or path.name, [*FORMATS, ".stablehlo"])
    data = solution.to_arrays(times, *axes)
    count = len(solution.problem.axes)
    parts = solution.problem.real_parts(dict(itertools.islice(data.items(), count, None)))
    named = {name.replace("(", "_").replace(")", ""): value for name, value in parts.items()}
    about = {
        "problem": solution.problem.name,
        "method": solution.method.name,
        "verdict": str(solution.verdict),
    }
    problem = solution.problem
    owners = zip(named, (problem.fields[k] for k in problem.component_fields), strict=True)
    owner = dict(owners) | {axis: axis for axis in problem.axes}
    units = {name: problem.units[own] for name, own in owner.items() if own in problem.units}
    grid = Grid(problem.axes, tuple(itertools.islice(data.values(), count)), named, about, units)
    return FORMATS[ending](grid, path)


def _csv(grid: Grid, path: Path) -> Path:
    """One row for each point: t, x, …, then the fields."""
    mesh = np.meshgrid(*grid.axes, indexing="ij")
    columns = np.stack([c.ravel() for c in (*mesh, *grid.values.values())], axis=1)
    rows = columns[np.isfinite(columns).all(axis=1)]
    stream = io.StringIO()
    np.savetxt(
        stream, rows, fmt="%.17g", delimiter=",", header=",".join((*grid.names, *grid.values)), comments=""
    )
    return write_bytes(path, stream.getvalue().encode())


def _npz(grid: Grid, path: Path) -> Path:
    """Arrays of NumPy by name, without pickle."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **dict(zip(grid.names, grid.axes, strict=True)), **grid.values)  # type: ignore[arg-type]
    return write_bytes(path, stream.getvalue())


def _matlab(grid: Grid, path: Path) -> Path:
    """Variables of MATLAB and Octave by name."""
    from scipy.io import savemat

    stream = io.BytesIO()
    savemat(stream, {**dict(zip(grid.names, grid.axes, strict=True)), **grid.values}, oned_as="column")
    return write_bytes(path, stream.getvalue())


def _netcdf(grid: Grid, path: Path) -> Path:
    """NetCDF 3, which xarray, Panoply and many others open."""
    from scipy.io import netcdf_file

    stream = io.BytesIO()
    file = netcdf_file(stream, "w", version=2)
    for name, axis in zip(grid.names, grid.axes, strict=True):
        file.createDimension(name, len(axis))
        file.createVariable(name, "f8", (name,))[:] = axis
    for name, values in grid.values.items():
        file.createVariable(name, "f8", grid.names)[:] = values
    for name, unit in grid.units.items():
        file.variables[name].units = unit.encode()
    for name, text in grid.about.items():
        setattr(file, name, text.encode())
    file.flush()
    return write_bytes(path, stream.getvalue())


_CELLS = {1: (3, [(0,), (1,)]), 2: (9, [(0, 0), (1, 0), (1, 1), (0, 1)])}
_CELLS[3] = (12, [(*corner, up) for up in (0, 1) for corner in _CELLS[2][1]])  # type: ignore[index]
"""For each number of dimensions VTK's type of a cell, and its corners in VTK's order."""


def _vtk(grid: Grid, path: Path) -> Path:
    """A series for ParaView: `path` lists the times, beside it is one file for each, with all fields."""
    space = grid.axes[1:]
    mesh = np.stack([m.ravel() for m in np.meshgrid(*space, indexing="ij")], axis=1)
    points = np.zeros((len(mesh), 3))
    points[:, : len(space)] = mesh
    number = np.arange(len(mesh)).reshape([len(a) for a in space])
    kind, corners = _CELLS[len(space)]
    cells = np.stack(
        [number[tuple(slice(c, c - 1 or None) for c in corner)].ravel() for corner in corners], axis=1
    )
    inside = np.all([np.isfinite(v[0]).ravel() for v in grid.values.values()], axis=0)
    cells = cells[inside[cells].all(axis=1)]
    entries = []
    for step, time in enumerate(grid.axes[0]):
        values = {name: own[step].ravel() for name, own in grid.values.items()}
        name = f"{path.stem}-{step:04d}.vtu"
        write_bytes(path.with_name(name), _piece(points, cells, kind, values))
        entries.append(f'<DataSet timestep="{float(time)!r}" file={quoteattr(name)}/>')
    head = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="1.0"><Collection>\n'
    listed = "\n".join(entries)
    return write_bytes(path, f"{head}{listed}\n</Collection></VTKFile>\n".encode())


def _piece(points: np.ndarray, cells: np.ndarray, kind: int, values: Mapping[str, np.ndarray]) -> bytes:
    """One time as VTK's unstructured grid, numbers in full."""
    size = cells.shape[1]
    fields = "".join(_array(name, np.nan_to_num(own)) for name, own in values.items())
    topology = (
        _array("connectivity", cells.ravel().astype(np.int64))
        + _array("offsets", size * np.arange(1, len(cells) + 1, dtype=np.int64))
        + _array("types", np.full(len(cells), kind, np.uint8))
    )
    return (
        '<?xml version="1.0"?>\n'
        '<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">'
        f'<UnstructuredGrid><Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(cells)}">\n'
        f"<Points>{_array('Points', points)}</Points>\n<Cells>{topology}</Cells>\n"
        f"<PointData>{fields}</PointData>\n</Piece></UnstructuredGrid></VTKFile>\n"
    ).encode()


def _array(name: str, values: np.ndarray) -> str:
    kinds = {"f": "Float64", "i": "Int64", "u": "UInt8"}
    data = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"))).tobytes()
    coded = base64.b64encode(len(data).to_bytes(8, "little") + data).decode()
    several = f' NumberOfComponents="{values.shape[1]}"' if values.ndim == 2 else ""
    kind = kinds[values.dtype.kind]
    return f'<DataArray type="{kind}" Name={quoteattr(name)}{several} format="binary">{coded}</DataArray>\n'


ROWS = 1024
"""Points that an exported program takes at once."""


def _program(solution: Solution) -> bytes:
    """u as a StableHLO program of 1,024 points (t, x, …), which `jax.export.deserialize` reads."""
    from jax import export as exporting

    index = (0,) * len(solution.problem.axes)
    with double():
        rows = jax.ShapeDtypeStruct((ROWS, len(index)), np.float64)
        function = jax.jit(lambda points: solution.function.derivative(points, index))
        try:
            return bytes(exporting.export(function)(rows).serialize())
        except ImportError as error:
            raise FileError("A .stablehlo file needs flatbuffers: pip install flatbuffers.") from error


FORMATS: Mapping[str, Callable[[Grid, Path], Path]] = {
    ".nc": _netcdf,
    ".pvd": _vtk,
    ".csv": _csv,
    ".npz": _npz,
    ".mat": _matlab,
}
"""How a grid is written, by the ending of the file's name."""
