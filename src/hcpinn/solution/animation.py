"""A solution in time, as a moving picture."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FileError
from .canvas import COLORS, GREY, Theme, put_on, subplots
from .shown import bar_beside, field_colours, filled, to_scale

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

    from ..problem import Problem
    from .solution import Solution

_KINDS: dict[str, dict[str, Any]] = {
    ".gif": {"format": "GIF"},
    ".png": {"format": "PNG"},
    ".webp": {"format": "WEBP", "quality": 70, "method": 4},
}
_ALONG, _ACROSS, _PANELS = 257, 97, 4
"""Points along an interval, along each axis of a plane, and the most components drawn."""
_DOTS = 100
_PAUSE = 80
"""Milliseconds between frames; the last is shown ten times as long."""


def animation(solution: Solution, path: str | Path, frames: int, theme: Theme) -> bytes:
    """The content of a GIF, an animated PNG or a WebP, by the ending of the path.

    On an interval the profiles of all components, above the first one over (x, t) as far as it has come.
    In the plane a panel for each component. In space the middle plane of z.
    """
    from PIL import Image

    from .solution import grid_axes

    kind = _KINDS.get(Path(path).suffix.lower())
    if kind is None:
        raise FileError(f"Cannot animate {path}: the name of a film ends with {', '.join(_KINDS)}.")
    problem = solution.problem
    flat = len(problem.space) == 1
    times, *space = grid_axes(problem, frames, *[_ALONG if flat else _ACROSS] * min(len(problem.space), 2))
    middle = [np.asarray([0.5 * (a + b)]) for a, b in problem.domain.bounds[2:]]
    values = problem.real_parts(solution.on_grid(times, *space[:2], *middle))
    shape = (len(times), *(len(a) for a in space[:2]))
    shown = {name: value.reshape(shape) for name, value in list(values.items())[:_PANELS]}
    figure, show = (_interval if flat else _plane)(problem, times, space, shown)
    put_on(figure, theme)
    figure.set_dpi(_DOTS)
    canvas: Any = figure.canvas
    pictures = []
    for number in range(len(times)):
        show(number)
        canvas.draw()
        figure.set_layout_engine("none")  # the first frame has found it
        picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
        if kind["format"] != "WEBP":
            picture = picture.convert("P", palette=Image.Palette.ADAPTIVE)
        pictures.append(picture)
    pauses = [_PAUSE] * (len(times) - 1) + [10 * _PAUSE]
    stream = io.BytesIO()
    pictures[0].save(stream, save_all=True, append_images=pictures[1:], duration=pauses, loop=0, **kind)
    return stream.getvalue()


def _interval(
    problem: Problem, times: np.ndarray, space: list[np.ndarray], shown: Mapping[str, np.ndarray]
) -> tuple[Figure, Callable[[int], None]]:
    """Profiles above a map of the first component, and how to show one of the times."""
    (x,) = space
    figure, axes = subplots(2, 1, (5.0, 4.6), sharex=True)
    above, below = axes[:, 0]
    low, high = min(v.min() for v in shown.values()), max(v.max() for v in shown.values())
    margin = 0.06 * (high - low or 1.0)
    above.set_ylim(low - margin, high + margin)
    lines = [
        above.plot(x, v[0], color=c, label=n)[0] for (n, v), c in zip(shown.items(), COLORS, strict=False)
    ]
    if len(lines) > 1:
        above.legend(frameon=False, loc="upper right", ncols=2)
    else:
        above.set_ylabel(problem.label(next(iter(shown))))
    name, first = next(iter(shown.items()))
    extent = (x[0], x[-1], times[0], times[-1])
    image = below.imshow(
        first, origin="lower", extent=extent, aspect="auto", interpolation="bilinear", **field_colours(first)
    )
    now = below.axhline(times[0], color=GREY, linewidth=1.0)
    below.set(xlim=(x[0], x[-1]), ylim=(times[0], times[-1]))
    below.set(xlabel=problem.label(problem.space[0]), ylabel=problem.label("t"))
    below.locator_params(axis="x", nbins=6)
    if len(lines) > 1:
        below.set_title(problem.label(name), loc="left")
    figure.colorbar(image, ax=below, pad=0.02)
    passed = np.arange(len(times))[:, None]

    def show(number: int) -> None:
        for line, value in zip(lines, shown.values(), strict=False):
            line.set_ydata(value[number])
        image.set_data(np.where(passed <= number, first, np.nan))
        now.set_ydata([times[number], times[number]])
        above.set_title(f"t = {times[number]:.3g}", loc="left")

    return figure, show


def _plane(
    problem: Problem, times: np.ndarray, space: list[np.ndarray], shown: Mapping[str, np.ndarray]
) -> tuple[Figure, Callable[[int], None]]:
    """A panel for each component, cut out by the domain, and how to show one of the times."""
    (x, y), cut = space, problem.domain.cut

    def shaped(values: np.ndarray) -> np.ndarray:
        return values.T if cut is None else filled(values).T

    columns = min(2, len(shown))
    rows = -(-len(shown) // columns)
    figure, axes = subplots(rows, columns, (4.6 * columns, 3.8 * rows))
    images = []
    for axis, values in zip(axes.flat, shown.values(), strict=False):
        extent = (x[0], x[-1], y[0], y[-1])
        images.append(
            axis.imshow(
                shaped(values[0]),
                origin="lower",
                extent=extent,
                aspect="auto",
                interpolation="bilinear",
                **field_colours(values),
            )
        )
        if cut is not None:
            images[-1].set_clip_path(cut, axis.transData)
        to_scale(axis, x, y)
        axis.set(xlabel=problem.label("x"), ylabel=problem.label("y"))
        axis.locator_params(nbins=5)
        bar_beside(axis, images[-1])
    for axis in axes.flat[len(shown) :]:
        axis.remove()

    def show(number: int) -> None:
        for image, values in zip(images, shown.values(), strict=True):
            image.set_data(shaped(values[number]))
        for axis, name in zip(axes.flat, shown, strict=False):
            axis.set_title(f"{problem.label(name)} at t = {times[number]:.3g}", loc="left")

    return figure, show
