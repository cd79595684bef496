"""A picture of a region: its parts by name, with normals, and its corners."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import FileError
from ...machine.files import write_bytes

if TYPE_CHECKING:
    from .region import Region

_COLOURS = ("#1f5fa8", "#d1602b", "#3a8f5c", "#7a4fa3", "#b3892f", "#b03060", "#4f7f8f")
_NAMED = 14
"""Parts with a label each; of more, every other or third has one."""


def picture(region: Region, path: Any = None) -> Any:
    """Draw it; save to `path` or return the figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    (low, high), (bottom, top) = region.bounds
    ratio = (top - bottom) / (high - low)
    figure = Figure((5.2, float(np.clip(5.2 * ratio, 2.4, 7.5))), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    fill(axes, region, "#e8eef6")
    size = region.size
    parts = region.parts
    every = -(-len(parts) // _NAMED)
    for number, part in enumerate(parts):
        colour = _COLOURS[number % len(_COLOURS)]
        for piece in region._of(part):
            line = piece.at(np.linspace(0, 1, 4 * piece.chords + 1))
            axes.plot(*line.T, color=colour, linewidth=1.8)
        count = min(max(2, round(8 * region.extent(part) / size)), 12)
        spots = region.on(part, (np.arange(count)[:, None] + 0.5) / count)
        normals = np.stack(region.normal(part, spots), axis=1)
        axes.quiver(
            *spots.T, *normals.T, color=colour, angles="xy", scale=1 / (0.06 * size),
            scale_units="xy", width=0.004,
        )  # fmt: skip
        if number % every == 0:
            k = count // 2
            x, y = spots[k] + 0.08 * size * normals[k]
            side = "center" if abs(normals[k][0]) < 0.5 else "left" if normals[k][0] > 0 else "right"
            axes.annotate(part, (x, y), color=colour, ha=side, va="center", fontsize=8)
    for corner in region.corners:
        if corner.reentrant:
            axes.plot(*corner.place, "o", color="black", markersize=4)
            said = f"{np.degrees(corner.angle):.0f}°"
            axes.annotate(said, tuple(corner.place), xytext=(5, 5), textcoords="offset points", fontsize=8)
    axes.set_aspect("equal")
    axes.margins(0.3)
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    axes.spines[["top", "right"]].set_visible(False)
    if path is None:
        return figure
    stream = io.BytesIO()
    try:
        figure.savefig(stream, format=Path(path).suffix.lstrip(".") or "png")
    except ValueError as error:
        raise FileError(f"Cannot draw {path}: {error}.") from error
    return write_bytes(path, stream.getvalue())


def fill(axes: Any, region: Region, colour: str, **settings: Any) -> None:
    """Fill a region, holes left out."""
    from matplotlib.patches import PathPatch

    axes.add_patch(PathPatch(outline_path(region), facecolor=colour, edgecolor="none", **settings))


def outline_path(region: Region) -> Any:
    """The boundary as a path of matplotlib, to fill or to clip with."""
    from matplotlib.path import Path as Way

    rings: Sequence[np.ndarray] = [
        np.concatenate([p.at(np.linspace(0, 1, 4 * p.chords + 1)[:-1]) for p in loop])
        for loop in region.outline.loops
    ]
    return Way.make_compound_path(*(Way(np.concatenate([r, r[:1]]), closed=True) for r in rings))
