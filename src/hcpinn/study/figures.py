"""Figures of a study: published against found, loss histories, error against m, fields of many solutions."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..solution.figures import BLUE, COLORS, GREY, ORANGE, Shown, subplots
from ..solution.solution import Solution
from .matching import exact_start
from .record import Record
from .rows import MEASURES, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SOFT, _HARD = ("#d1602b", "#b3892f", "#c44569", "#8a5a2b"), ("#1f5fa8", "#3a8f5c", "#7a4fa3", "#2a9d9d")


_STACKED = 5
"""Rows of an overview in one block."""


def comparison_figure(rows: Sequence[Row], measure: str) -> Figure:
    """For each row the published figure and ours, joined by a line; a bar over the seeds."""
    shown = [row for row in rows if row.found(measure) is not None or measure in row.published]
    figure, axes = subplots(1, 1, (6.8, 0.9 + 0.27 * max(len(shown), 2)))
    axis = axes[0][0]
    labels: dict[str, Any] = {}
    for height, row in enumerate(reversed(shown)):
        found, published = row.found(measure), row.published.get(measure)
        if found is not None and published is not None:
            axis.plot([published, found.mean], [height, height], color=GREY, linewidth=1.2, zorder=1)
        if published is not None:
            labels["published"] = axis.scatter(
                published, height, s=34, facecolor="none", edgecolor=ORANGE, linewidth=1.6, zorder=2
            )
        if found is not None:
            if len(found.values) > 1:
                axis.plot([found.low, found.high], [height, height], color=BLUE, linewidth=3.5, alpha=0.35)
            labels["ours"] = axis.scatter(found.mean, height, s=34, color=BLUE, zorder=3)
    axis.set_yticks(range(len(shown)), [row_label(row, shown) for row in reversed(shown)])
    axis.set_ylim(-0.6, len(shown) - 0.4)
    axis.set_xscale("log")
    axis.set_xlabel(f"relative {MEASURES[measure]} error")
    axis.grid(axis="x", linewidth=0.5, alpha=0.4)
    figure.legend(labels.values(), labels.keys(), loc="outside upper left", ncols=2, frameon=False)
    return figure


def row_label(row: Row, among: Sequence[Row]) -> str:
    """What tells a row from the others."""
    parts = [row.problem] if len({other.problem for other in among}) > 1 else []
    if len({other.method for other in among}) > 1 or not parts:
        parts.append(row.method)
    parts += [f"{name} = {value:g}" for name, value in row.parameters.items() if _varies(name, among)]
    if row.deviations and any(other.method == row.method and not other.deviations for other in among):
        parts.append("(other budget)")
    return "  ".join(parts)


def _varies(name: str, rows: Sequence[Row]) -> bool:
    return len({row.parameters.get(name) for row in rows}) > 1


def losses_figure(rows: Sequence[Row]) -> Figure:
    """The loss over the steps, a line per row, of its first seed; dashed where initial data are penalised."""
    figure, axes = subplots(1, 1, (7.4, 3.7))
    axis = axes[0][0]
    soft, hard = itertools.cycle(_SOFT), itertools.cycle(_HARD)
    for row in rows:
        record = next((record for record in row.done if has_history(record)), None)
        if record is None:
            continue
        exact = exact_start(record)
        step, loss = record.history["step"], record.history["loss"]
        drawn = np.where(np.isfinite(loss) & (loss > 0), loss, np.nan)
        axis.plot(
            step,
            drawn,
            color=next(hard if exact else soft),
            linestyle="-" if exact else (0, (4, 2)),
            linewidth=1.2,
            label=row_label(row, rows),
        )
    axis.set_yscale("log")
    axis.set_xlabel("step")
    axis.set_ylabel("loss")
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    return figure


def has_history(record: Record) -> bool:
    """Whether a record keeps a loss curve that can be drawn."""
    loss = record.history.get("loss")
    return loss is not None and "step" in record.history and bool(np.any(np.isfinite(loss) & (loss > 0)))


def modes_figure(cases: Mapping[str, Sequence[Row]]) -> Figure:
    """The error against the number of Fourier modes, a line per problem; a band over the seeds."""
    figure, axes = subplots(1, 1, (6.8, 3.8))
    axis = axes[0][0]
    for (title, rows), color in zip(cases.items(), itertools.cycle(COLORS), strict=False):
        found = [(row.modes, row.found("rel_l2")) for row in rows if row.modes is not None]
        known = sorted((m, spread) for m, spread in found if spread is not None)
        modes = [m for m, _ in known]
        axis.plot(modes, [spread.mean for _, spread in known], marker="o", color=color, label=title)
        low, high = [spread.low for _, spread in known], [spread.high for _, spread in known]
        axis.fill_between(modes, low, high, color=color, alpha=0.2, linewidth=0)
    axis.set_yscale("log")
    axis.set_xlabel("number of Fourier modes m")
    axis.set_ylabel("relative L2 error")
    axis.grid(linewidth=0.5, alpha=0.4)
    axis.legend(frameon=False)
    return figure


def overview_figure(solutions: Sequence[tuple[str, Solution]]) -> Figure:
    """Truth, prediction and error of many problems, a row for each component; intervals only.

    More than a few stand in two blocks side by side.
    """
    pictures = [(title, Shown(solution)) for title, solution in solutions]
    rows = [(title, shown, name) for title, shown in pictures for name in shown.predicted]
    blocks = 1 if len(rows) <= _STACKED else 2
    deep = -(-len(rows) // blocks)
    figure, axes = subplots(deep, 3 * blocks, (11.0 if blocks == 1 else 14.0, 1.75 * deep))
    for axis in axes.flat:
        axis.axis("off")
    for number, (title, shown, name) in enumerate(rows):
        block, place = divmod(number, deep)
        truth, prediction, difference = axes[place, 3 * block : 3 * block + 3]
        predicted = shown.predicted[name].T
        exact = None if shown.exact is None else shown.exact[name].T
        scale = predicted if exact is None else exact
        limits = float(np.min(scale)), float(np.max(scale))
        label = title if len(shown.predicted) == 1 else f"{title}: {name}"
        panels = [(prediction, predicted, "prediction", "RdBu_r", limits)]
        if exact is not None:
            error = np.abs(predicted - exact)
            panels.append((truth, exact, label, "RdBu_r", limits))
            panels.append((difference, error, "absolute error", "magma", (0.0, float(error.max()))))
        for axis, values, caption, colors, (low, high) in panels:
            axis.axis("on")
            shown.panel(axis, values, caption, colors, low, high)
            axis.title.set_fontsize("small" if blocks == 2 else "medium")
            if place < deep - 1 and number < len(rows) - 1:
                axis.set_xlabel("")
            if axis is not truth:
                axis.set_ylabel("")
    return figure


def advection_figure(cases: Mapping[float, Mapping[str, Solution]]) -> Figure:
    """For each speed the exact solution and those of several methods, side by side."""
    methods = list(dict.fromkeys(name for found in cases.values() for name in found))
    figure, axes = subplots(len(cases), 1 + len(methods), (3.6 * (1 + len(methods)), 2.3 * len(cases)))
    for row, (speed, found) in zip(axes, sorted(cases.items()), strict=True):
        for axis in row:
            axis.axis("off")
        for axis, method in zip(row[1:], methods, strict=True):
            if method not in found:
                continue
            shown = Shown(found[method])
            (name, predicted), *_ = shown.predicted.items()
            if shown.exact is not None and not row[0].axison:
                row[0].axis("on")
                shown.panel(row[0], shown.exact[name].T, f"exact, c = {speed:g}", "RdBu_r", -1.0, 1.0)
            axis.axis("on")
            shown.panel(axis, predicted.T, method, "RdBu_r", -1.0, 1.0)
    return figure


def scatter_figure(rows: Sequence[Row]) -> Figure:
    """Published errors against ours, a point per row; on the diagonal they agree."""
    figure, axes = subplots(1, 1, (6.2, 4.6))
    axis = axes[0][0]
    groups: dict[str, list[tuple[float, float]]] = {"exact initial data": [], "penalty on them": []}
    for row in rows:
        found = row.found("rel_l2")
        if found is not None and row.published_error is not None:
            groups["exact initial data" if exact_start(row.done[0]) else "penalty on them"].append(
                (row.published_error, found.mean)
            )
    for (label, points), color, marker in zip(groups.items(), (BLUE, ORANGE), "os", strict=True):
        if points:
            across, up = zip(*points, strict=True)
            axis.scatter(across, up, s=30, color=color, marker=marker, alpha=0.8, label=label)
    every = [value for points in groups.values() for pair in points for value in pair]
    low, high = min(every) / 2, max(every) * 2
    axis.plot([low, high], [low, high], color=GREY, linewidth=1, linestyle="--", zorder=0)
    axis.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
    axis.set_xlabel("published relative L2 error")
    axis.set_ylabel("ours")
    axis.grid(linewidth=0.5, alpha=0.4)
    figure.legend(loc="outside upper left", ncols=2, frameon=False)
    return figure
