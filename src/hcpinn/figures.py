"""Figures of a solution: fields side by side, slices, and the loss."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .files import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .solution import Solution

_STYLE = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.dpi": 150,
    "savefig.dpi": 150,
}
_BLUE, _ORANGE, _GREY = "#1f5fa8", "#d1602b", "#8a8a8a"


def field_figure(solution: Solution) -> Figure:
    """Reference, solution and absolute error over (t, x), a row per component."""
    times, x, rows = _on_grid(solution)
    columns = 3 if solution.reference is not None else 1
    figure, axes = _subplots(len(rows), columns, (4.1 * columns, 3.0 * len(rows)))
    for row, (name, predicted, exact) in zip(axes, rows, strict=True):
        shown = predicted if exact is None else exact
        low, high = float(np.min(shown)), float(np.max(shown))
        if exact is None:
            _panel(row[0], times, x, predicted, f"{name}: solution", "RdBu_r", low, high)
            continue
        _panel(row[0], times, x, exact, f"{name}: reference", "RdBu_r", low, high)
        _panel(row[1], times, x, predicted, f"{name}: solution", "RdBu_r", low, high)
        error = np.abs(predicted - exact)
        title = f"absolute error, relative L2 {(solution.rel_l2 or {}).get(name, float('nan')):.1e}"
        _panel(row[2], times, x, error, title, "magma", 0.0, float(error.max()))
    return figure


def slice_figure(solution: Solution) -> Figure:
    """Profiles at t = 0, T/2 and T, a row per component."""
    times, x, rows = _on_grid(solution)
    picks = [0, len(times) // 2, len(times) - 1]
    figure, axes = _subplots(len(rows), 3, (12.3, 2.9 * len(rows)))
    for row, (name, predicted, exact) in zip(axes, rows, strict=True):
        for axis, pick in zip(row, picks, strict=True):
            if exact is not None:
                axis.plot(x, exact[pick], color=_BLUE, linewidth=2.2, label="reference")
            axis.plot(x, predicted[pick], color=_ORANGE, linewidth=1.6, linestyle="--", label="solution")
            axis.set_title(f"t = {times[pick]:g}")
            axis.set_xlabel("x")
            axis.set_xlim(x[0], x[-1])
        row[0].set_ylabel(name)
        row[0].legend(frameon=False, loc="best")
    return figure


def history_figure(solution: Solution) -> Figure:
    """The loss at every step, with the stages marked."""
    loss = solution.history.loss
    figure, axes = _subplots(1, 1, (7.0, 3.6))
    axis = axes[0][0]
    axis.semilogy(np.arange(1, len(loss) + 1), loss, color=_BLUE, linewidth=0.9)
    start = 0
    top = axis.get_ylim()[1]
    for name, count in solution.history.stages:
        if start:
            axis.axvline(start, color=_GREY, linewidth=0.8, linestyle=":")
        axis.text(start, top, f" {name}", va="top", ha="left", color=_GREY)
        start += count
    axis.set_xlim(0, max(len(loss), 1))
    axis.set_xlabel("step")
    axis.set_ylabel("mean squared residual")
    return figure


def finish(figure: Figure, path: str | Path | None) -> Figure | Path:
    """Save the figure whole or not at all, or hand it over."""
    if path is None:
        return figure
    import matplotlib.pyplot as plt

    buffer = io.BytesIO()
    figure.savefig(buffer, format=Path(path).suffix.lstrip(".") or "png")
    plt.close(figure)
    return write_bytes(path, buffer.getvalue())


def _on_grid(solution: Solution) -> tuple[np.ndarray, np.ndarray, list[tuple[str, np.ndarray, np.ndarray | None]]]:
    """Times, positions, and for each real component its name, prediction and reference."""
    from .solution import grid_axes

    reference = solution.reference
    if reference is None:
        times, x = grid_axes(solution.problem, 101, 257)
    else:
        times, x = reference.times, reference.coordinates[0]
    predicted = solution.on_grid(times, x)
    rows = []
    for name, is_complex in zip(solution.problem.fields, solution.problem.complex_fields, strict=True):
        exact = None if reference is None else reference.values[name]
        parts: list[tuple[str, Any]] = [(name, lambda a: a)]
        if is_complex:
            parts = [(f"real({name})", np.real), (f"imag({name})", np.imag)]
        rows += [(label, part(predicted[name]), None if exact is None else part(exact)) for label, part in parts]
    return times, x, rows


def _subplots(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, Any]:
    import matplotlib

    if matplotlib.get_backend().lower() not in ("inline", "module://matplotlib_inline.backend_inline"):
        matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    with plt.rc_context(_STYLE):
        return plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")


def _panel(
    axis: Any, times: np.ndarray, x: np.ndarray, values: np.ndarray, title: str, colours: str, low: float, high: float
) -> None:
    image = axis.pcolormesh(times, x, values.T, cmap=colours, vmin=low, vmax=high, shading="gouraud", rasterized=True)
    axis.figure.colorbar(image, ax=axis, pad=0.02)
    axis.set_title(title)
    axis.set_xlabel("t")
    axis.set_ylabel("x")
