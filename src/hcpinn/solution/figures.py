"""Figures of a solution: fields side by side, slices, and the loss."""

from __future__ import annotations

import io
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FileError, MethodError
from ..machine.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..problem import Problem
    from ..reference import Reference
    from .solution import Solution

_DOTS = 150
"""Dots per inch."""

BLUE, ORANGE, GREY = "#1f5fa8", "#d1602b", "#8a8a8a"
COLORS = (BLUE, ORANGE, "#3a8f5c", "#7a4fa3", "#b3892f")

_UNSIGNED = 1e-3
"""The share of its largest value up to which a field may cross zero and still count as of one sign."""

_DECADES = 4
"""How far below the largest error the colours of errors reach."""


def field_figure(shown: Shown) -> Figure:
    """Reference, solution and absolute error side by side; without a reference the solution alone.

    On an interval over (t, x), a row per component. In the plane over (x, y), a row per
    component and time: 0, T/2 and T. In space on the middle plane of z.
    """
    rows: list[tuple[str, str, Any]] = []
    for name in shown.predicted:
        if shown.y is None:
            rows.append((name, "", lambda values: values.T))
        else:
            rows += [
                (name, f" at t = {shown.times[i]:g}", lambda values, i=i: values[i].T) for i in shown.picks
            ]
    if shown.exact is None:
        columns = min(3, len(rows))
        deep = -(-len(rows) // columns)
        figure, axes = subplots(deep, columns, (4.1 * columns, 3.0 * deep))
        for axis in axes.flat[len(rows) :]:
            axis.remove()
        for axis, (name, when, view) in zip(axes.flat, rows, strict=False):
            values = view(shown.predicted[name])
            shown.panel(axis, values, f"{name}: solution{when}", field_colours(values))
        return figure
    figure, axes = subplots(len(rows), 3, (12.3, 3.0 * len(rows)))
    for row, (name, when, view) in zip(axes, rows, strict=True):
        predicted, exact = view(shown.predicted[name]), view(shown.exact[name])
        colours = field_colours(exact)
        shown.panel(row[0], exact, f"{name}: reference{when}", colours)
        shown.panel(row[1], predicted, f"{name}: solution{when}", colours)
        relative = float(np.linalg.norm(predicted - exact) / max(np.linalg.norm(exact), 1e-300))
        shown.error_panel(row[2], predicted - exact, f"absolute error, relative L2 {relative:.1e}")
    return figure


def field_colours(values: np.ndarray) -> dict[str, Any]:
    """How to colour a field: a diverging map centred on zero if it is signed, else a sequential one."""
    low, high = float(np.min(values)), float(np.max(values))
    most = max(abs(low), abs(high))
    if low < -_UNSIGNED * most and high > _UNSIGNED * most:
        return {"cmap": "RdBu_r", "vmin": -most, "vmax": most}
    return {"cmap": "viridis", "vmin": low, "vmax": high}


def slice_figure(shown: Shown) -> Figure:
    """Profiles along x at t = 0, T/2 and T, a row per component; in the middle of the other axes."""
    figure, axes = subplots(len(shown.predicted), 3, (12.3, 2.9 * len(shown.predicted)))
    for row, name in zip(axes, shown.predicted, strict=True):
        for axis, pick in zip(row, shown.picks, strict=True):
            if shown.exact is not None:
                profile = shown.profile(shown.exact[name], pick)
                axis.plot(shown.x, profile, color=BLUE, linewidth=2.2, label="reference")
            profile = shown.profile(shown.predicted[name], pick)
            axis.plot(shown.x, profile, color=ORANGE, linewidth=1.6, linestyle="--", label="solution")
            axis.set_title(f"t = {shown.times[pick]:g}")
            axis.set_xlabel("x")
            axis.set_xlim(shown.x[0], shown.x[-1])
            axis.locator_params(axis="x", nbins=5)
        row[0].set_ylabel(name)
        row[0].legend(frameon=False, loc="best")
    return figure


def history_figure(solution: Solution) -> Figure:
    """The loss at every step, with the stages marked; below it its terms, where it has several."""
    loss, terms = solution.history.loss, solution.history.terms
    figure, axes = subplots(1, 1, (7.0, 3.6))
    axis = axes[0][0]
    curves = {"loss": loss}
    if len(terms) > 1 or solution.weights:
        curves.update({f"{name}, mean square": values for name, values in terms.items()})
    some = False
    for (name, values), color in zip(curves.items(), itertools.cycle(COLORS), strict=False):
        drawn = np.where(np.isfinite(values) & (values > 0), values, np.nan)
        axis.plot(solution.history.numbers, drawn, color=color, linewidth=0.9, label=name)
        some |= bool(np.isfinite(drawn).any())
    if some:
        axis.set_yscale("log")
    if len(curves) > 1:
        axis.legend(loc="lower left", fontsize=8, frameon=False)
    start = 0
    top = axis.get_ylim()[1]
    crowded = len(solution.history.stages) > 4
    for name, count in solution.history.stages:
        if start:
            axis.axvline(start, color=GREY, linewidth=0.8, linestyle=":")
        if not crowded:
            axis.text(start, top, f" {name}", va="top", ha="left", color=GREY)
        start += count
    axis.set_xlim(0, max(start, 1))
    axis.set_xlabel("step")
    axis.set_ylabel("loss" if len(curves) > 1 else "mean squared residual")
    return figure


def weights_figure(solution: Solution) -> Figure:
    """The final weights of points, a panel per term: over (t, x), or over (x, y) in the plane."""
    if not solution.weights:
        raise MethodError(
            f"The method '{solution.method.name}' has no adaptive weights to draw. Use "
            "weights=SelfAdaptive(), Attention() or Causal()."
        )
    figure, axes = subplots(1, len(solution.weights), (4.6 * len(solution.weights), 3.4))
    names = solution.problem.axes
    first, second = (0, 1) if len(names) == 2 else (1, 2)
    for axis, (term, found) in zip(axes[0], solution.weights.items(), strict=True):
        order = np.argsort(found.weights)
        shown = axis.scatter(
            found.points[order, first],
            found.points[order, second],
            c=found.weights[order],
            s=6 if len(order) > 1000 else 14,
            cmap="viridis",
            linewidths=0,
        )
        axis.set_xlabel(names[first])
        axis.set_ylabel(names[second])
        axis.set_title(f"{term}: weights")
        figure.colorbar(shown, ax=axis)
    return figure


def animation(solution: Solution, frames: int) -> bytes:
    """A GIF of the first component in time: profiles on an interval, pictures in the plane."""
    from PIL import Image

    from .solution import grid_axes

    problem = solution.problem
    flat = len(problem.space) == 1
    times, *space = grid_axes(problem, frames, *[257 if flat else 97] * min(len(problem.space), 2))
    middle = [np.asarray([0.5 * (a + b)]) for a, b in problem.domain.bounds[2:]]
    parts = problem.real_parts(solution.on_grid(times, *space[:2], *middle))
    name, values = next(iter(parts.items()))
    values = values.reshape(len(times), *(len(a) for a in space[:2]))
    low, high = float(values.min()), float(values.max())
    margin = 0.05 * (high - low or 1.0)
    figure, axes = subplots(1, 1, (5.0, 3.8))
    axis = axes[0][0]
    if flat:
        (shown,) = axis.plot(space[0], values[0], color=BLUE)
        change = shown.set_ydata
        axis.set_ylim(low - margin, high + margin)
    else:
        shown = axis.pcolormesh(space[0], space[1], values[0].T, **field_colours(values))
        figure.colorbar(shown, ax=axis)
        change = shown.set_array
        axis.set_ylabel(problem.space[1])
    axis.set_xlabel(problem.space[0])
    figure.set_dpi(100)
    canvas: Any = figure.canvas
    pictures = []
    for time, state in zip(times, values, strict=True):
        change(state.T)
        axis.set_title(f"{name} at t = {time:.3f}")
        canvas.draw()
        figure.set_layout_engine("none")  # the first frame has found it
        picture = Image.fromarray(np.asarray(canvas.buffer_rgba()))
        pictures.append(picture.convert("P", palette=Image.Palette.ADAPTIVE))
    stream = io.BytesIO()
    pictures[0].save(stream, format="GIF", save_all=True, append_images=pictures[1:], duration=80, loop=0)
    return stream.getvalue()


def gallery_figure(pictures: Sequence[tuple[str, Problem, Reference]]) -> Figure:
    """One panel per problem: its first component over (t, x), or at the end of the horizon over (x, y)."""
    columns = 3
    figure, axes = subplots(-(-len(pictures) // columns), columns, (12.3, 2.9 * -(-len(pictures) // columns)))
    for axis in axes.flat[len(pictures) :]:
        axis.remove()
    for axis, (title, problem, reference) in zip(axes.flat, pictures, strict=False):
        name, values = next(iter(problem.real_parts(reference.values).items()))
        flat = len(problem.space) == 1
        across, up = (reference.times, reference.coordinates[0]) if flat else reference.coordinates[:2]
        shown = values if flat else values[-1].reshape(len(across), len(up), -1)[..., 0]
        colours = field_colours(shown)
        image = axis.pcolormesh(across, up, shown.T, shading="gouraud", rasterized=True, **colours)
        figure.colorbar(image, ax=axis, pad=0.02)
        axis.set_title(f"{title}: {name}" + ("" if flat else f" at t = {reference.times[-1]:g}"))
        axis.set_xlabel("t" if flat else "x")
        axis.set_ylabel("x" if flat else "y")
    return figure


def finish(figure: Figure, path: str | Path | None) -> Figure | Path:
    """Save the figure whole or not at all, or hand it over."""
    if path is None:
        return figure
    buffer = io.BytesIO()
    try:
        figure.savefig(buffer, format=Path(path).suffix.lstrip(".") or "png")
    except ValueError as error:
        raise FileError(f"Cannot draw {path}: {error}.") from error
    return write_bytes(path, buffer.getvalue())


@dataclass(frozen=True)
class Shown:
    """What a figure shows: each real component on the grid; of three dimensions, the middle plane of z."""

    times: np.ndarray
    """Those that are drawn: all on an interval, else the start, the middle and the end."""
    x: np.ndarray
    y: np.ndarray | None
    """None on an interval."""
    predicted: Mapping[str, np.ndarray]
    exact: Mapping[str, np.ndarray] | None

    @classmethod
    def of(cls, solution: Solution) -> Shown:
        """What a figure of a solution shows: on the grid of its reference, if it has one."""
        from .solution import grid_axes

        problem, reference = solution.problem, solution.reference
        dimensions = len(problem.space)
        if reference is None:
            times, *space = grid_axes(problem, 101 if dimensions == 1 else 3)
        else:
            times, space = reference.times, list(reference.coordinates)
        keep = np.arange(len(times)) if dimensions == 1 else np.array([0, len(times) // 2, len(times) - 1])
        plane = len(space[2]) // 2 if dimensions == 3 else None
        drawn = [*space[:2], space[2][plane : plane + 1]] if plane is not None else space
        predicted = problem.real_parts(solution.on_grid(times[keep], *drawn))
        exact = None
        if reference is not None:
            values = {
                n: v[keep] if plane is None else v[keep][..., plane : plane + 1]
                for n, v in reference.values.items()
            }
            exact = problem.real_parts(values)
        if plane is not None:
            predicted = {n: v[..., 0] for n, v in predicted.items()}
            exact = None if exact is None else {n: v[..., 0] for n, v in exact.items()}
        return cls(times[keep], space[0], space[1] if dimensions > 1 else None, predicted, exact)

    @property
    def picks(self) -> tuple[int, int, int]:
        """Which of the times are the start, the middle and the end."""
        return 0, len(self.times) // 2, len(self.times) - 1

    def profile(self, values: np.ndarray, pick: int) -> np.ndarray:
        """The values along x at one of the times."""
        return values[pick] if values.ndim == 2 else values[pick][:, values.shape[2] // 2]

    def panel(self, axis: Any, values: np.ndarray, title: str, colours: Mapping[str, Any]) -> None:
        """Draw values over (t, x), or over (x, y)."""
        across, up = (self.times, self.x) if self.y is None else (self.x, self.y)
        image = axis.pcolormesh(across, up, values, shading="gouraud", rasterized=True, **colours)
        axis.figure.colorbar(image, ax=axis, pad=0.02)
        axis.set_title(title)
        axis.set_xlabel("t" if self.y is None else "x")
        axis.set_ylabel("x" if self.y is None else "y")

    def error_panel(self, axis: Any, difference: np.ndarray, title: str) -> None:
        """Draw the absolute value of a difference on a logarithmic scale."""
        from matplotlib.colors import LogNorm

        error = np.abs(difference)
        largest = float(error.max()) or 1.0
        smallest = largest / 10**_DECADES
        colours = {"cmap": "magma", "norm": LogNorm(smallest, largest)}
        self.panel(axis, np.maximum(error, smallest), title, colours)


def subplots(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, Any]:
    """An empty figure of this size in inches, in the style of all figures here, and its grid of axes.

    It has a canvas of its own and pyplot does not know it, so the caller's backend, settings and figures stay
    as they are, and threads may draw side by side.
    """
    figure = _figure_kind()(size, dpi=_DOTS, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


@cache
def _figure_kind() -> type[Figure]:
    """Figures with a canvas of their own, which notebooks show."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class OwnFigure(Figure):
        def __init__(self, *sizes: Any, **settings: Any):
            super().__init__(*sizes, **settings)
            FigureCanvasAgg(self)

        def _repr_png_(self) -> bytes:
            stream = io.BytesIO()
            self.savefig(stream, format="png")
            return stream.getvalue()

    return OwnFigure
