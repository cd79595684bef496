"""Figures of the paper: error against m, fields of many solutions, published errors against ours."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...solution.canvas import BLUE, COLORS, GREY, ORANGE, subplots
from ...solution.shown import Shown, field_colours
from ...study.record import exact_start
from .reproduced import ReproducedRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STACKED = 5
"""Rows of an overview in one block."""

_WAVE = {"cmap": "RdBu_r", "vmin": -1.0, "vmax": 1.0}
"""The colours of sin(x − ct)."""


def modes_figure(cases: Mapping[str, Sequence[ReproducedRow]]) -> Figure:
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


def overview_figure(pictures: Sequence[tuple[str, Shown]]) -> Figure:
    """Reference, solution and error of many problems, a row for each component; intervals only.

    More than a few stand in two blocks side by side.
    """
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
        label = title if len(shown.predicted) == 1 else f"{title}: {name}"
        colours = field_colours(predicted if exact is None else exact)
        panels = [truth, prediction, difference] if exact is not None else [prediction]
        for axis in panels:
            axis.axis("on")
        shown.panel(prediction, predicted, "solution", colours)
        if exact is not None:
            shown.panel(truth, exact, label, colours)
            shown.error_panel(difference, predicted - exact, "absolute error")
        for axis in panels:
            axis.title.set_fontsize("small" if blocks == 2 else "medium")
            if place < deep - 1 and number < len(rows) - 1:
                axis.set_xlabel("")
            if axis is not truth:
                axis.set_ylabel("")
    return figure


def advection_figure(cases: Mapping[float, Mapping[str, Shown]]) -> Figure:
    """For each speed the exact solution and those of several methods, side by side."""
    methods = list(dict.fromkeys(name for found in cases.values() for name in found))
    figure, axes = subplots(len(cases), 1 + len(methods), (3.6 * (1 + len(methods)), 2.3 * len(cases)))
    for row, (speed, found) in zip(axes, sorted(cases.items()), strict=True):
        for axis in row:
            axis.axis("off")
        for axis, method in zip(row[1:], methods, strict=True):
            if method not in found:
                continue
            shown = found[method]
            (name, predicted), *_ = shown.predicted.items()
            if shown.exact is not None and not row[0].axison:
                row[0].axis("on")
                shown.panel(row[0], shown.exact[name].T, f"exact, c = {speed:g}", _WAVE)
            axis.axis("on")
            shown.panel(axis, predicted.T, method, _WAVE)
    return figure


def scatter_figure(rows: Sequence[ReproducedRow]) -> Figure:
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
