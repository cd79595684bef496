"""Polygons from files: GeoJSON, and paths of SVG. Files are read as text; nothing in them is executed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FileError

_MOST = 20_000_000
"""Bytes of a file with a drawing."""

_BENDS = 16
"""Straight pieces that approximate one curved piece of a path."""

_ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "Z": 0}


def read_rings(path: str | Path) -> list[np.ndarray]:
    """Closed rings of points, the outer one first."""
    file = Path(path)
    try:
        if file.stat().st_size > _MOST:
            raise FileError(f"{path} has {file.stat().st_size} bytes; a drawing may have {_MOST}.")
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"Cannot read {path}: {error}.") from error
    rings = _from_svg(path, text) if text.lstrip().startswith("<") else _from_geojson(path, text)
    rings = [ring for ring in rings if len(ring) >= 3]
    if not rings:
        raise FileError(f"{path} has no closed ring of at least three points.")
    sizes = [float(np.prod(np.ptp(ring, axis=0))) for ring in rings]
    return [rings[k] for k in np.argsort(sizes)[::-1]]


def _from_geojson(path: Any, text: str) -> list[np.ndarray]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path} is neither GeoJSON nor SVG: {error}.") from error
    for _ in range(3):
        if isinstance(found, dict) and found.get("type") == "FeatureCollection" and found.get("features"):
            found = found["features"][0]
        elif isinstance(found, dict) and found.get("type") == "Feature":
            found = found.get("geometry")
    kind = found.get("type") if isinstance(found, dict) else None
    if not isinstance(found, dict) or kind not in ("Polygon", "MultiPolygon"):
        raise FileError(f"{path} holds {kind or 'no geometry'}, not a Polygon.")
    try:
        polygons = found["coordinates"] if kind == "MultiPolygon" else [found["coordinates"]]
        if len(polygons) != 1:
            raise FileError(f"{path} holds {len(polygons)} polygons. Keep one, or make a file of each.")
        return [_ring(np.asarray(ring, float)[:, :2]) for ring in polygons[0]]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FileError(f"{path} has coordinates that are no rings of pairs of numbers.") from error


def _from_svg(path: Any, text: str) -> list[np.ndarray]:
    """The first path's rings; y points upwards here and downwards in SVG."""
    found = re.search(r"<path\b[^>]*?\sd\s*=\s*(\"[^\"]*\"|'[^']*')", text, re.DOTALL)
    if found is None:
        raise FileError(f"{path} is SVG without a <path d=…>.")
    try:
        rings = _trace(found.group(1)[1:-1])
    except (ValueError, IndexError) as error:
        raise FileError(
            f"Cannot follow the path in {path}: {error}. Use the commands M, L, H, V, C, S, Q, T and Z."
        ) from error
    return [_ring(ring * [1.0, -1.0]) for ring in rings]


def _trace(path: str) -> list[np.ndarray]:
    tokens = re.findall(r"[A-Za-z]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", path)
    rings: list[list[np.ndarray]] = []
    at, control, command, k = np.zeros(2), None, "", 0
    while k < len(tokens):
        if tokens[k].isalpha():
            command, k = tokens[k], k + 1
        kind = command.upper()
        if kind not in _ARGUMENTS:
            raise ValueError(f"it has the command '{command}'")
        numbers = np.array([float(t) for t in tokens[k : k + _ARGUMENTS[kind]]])
        if len(numbers) != _ARGUMENTS[kind]:
            raise ValueError(f"the command '{command}' lacks numbers")
        k += _ARGUMENTS[kind]
        if kind == "Z":
            at = rings[-1][0]
            command = ""
            continue
        first = at
        base = at if command.islower() else np.zeros(2)
        if kind in "HV":
            own = 0 if kind == "H" else 1
            target = at.copy()
            target[own] = base[own] + numbers[0]
            pairs = target[None]
        else:
            pairs = base + numbers.reshape(-1, 2)
        if kind == "M":
            rings.append([pairs[0]])
            command = "l" if command == "m" else "L"
        elif kind in "LHV":
            rings[-1].append(pairs[0])
        else:
            first = 2 * at - control if kind in "ST" and control is not None else at
            hull = np.array([at, *([first] if kind in "ST" else []), *pairs])
            t = np.arange(1, _BENDS + 1)[:, None] / _BENDS
            curve = hull[:, None].repeat(_BENDS, 1)  # by de Casteljau: control points × bends × axes
            while len(curve) > 1:
                curve = (1 - t) * curve[:-1] + t * curve[1:]
            rings[-1] += list(curve[0])
        control = pairs[-2] if kind in "CSQ" and len(pairs) > 1 else (first if kind == "T" else None)
        at = pairs[-1]
    return [np.array(ring) for ring in rings]


def _ring(points: np.ndarray) -> np.ndarray:
    """Without the repeated last point."""
    return points[:-1] if len(points) > 1 and np.allclose(points[0], points[-1]) else points
