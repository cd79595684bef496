"""Figures of a study: errors over the seeds, and loss histories."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..solution.canvas import BLUE, GREY, ORANGE, subplots
from .record import Record, exact_start
from .rows import Middle, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SOFT, _HARD = ("#d1602b", "#b3892f", "#c44569", "#8a5a2b"), ("#1f5fa8", "#3a8f5c", "#7a4fa3", "#2a9d9d")


def errors_figure(
    rows: Sequence[Row],
    measure: str,
    label: str,
    *,
    middle: Middle = "median",
    others: Sequence[float | None] = (),
    source: str = "",
) -> Figure:
    """For each row its error, with a bar from the smallest to the largest over the seeds.

    Args:
        rows: one line each.
        measure: the error, as `measured` knows it.
        label: what the axis says.
        middle: which figure stands for the seeds of a row.
        others: for each row a figure from elsewhere to compare with, joined to ours by a line.
        source: where these figures are from.
    """
    pairs = zip(rows, others or [None] * len(rows), strict=True)
    shown = [(row, other) for row, other in pairs if row.found(measure) is not None or other is not None]
    figure, axes = subplots(1, 1, (6.8, 0.9 + 0.27 * max(len(shown), 2)))
    axis = axes[0][0]
    labels: dict[str, Any] = {}
    for height, (row, other) in enumerate(reversed(shown)):
        found = row.found(measure)
        ours = None if found is None else getattr(found, middle)
        if ours is not None and other is not None:
            axis.plot([other, ours], [height, height], color=GREY, linewidth=1.2, zorder=1)
        if other is not None:
            labels[source] = axis.scatter(
                other, height, s=34, facecolor="none", edgecolor=ORANGE, linewidth=1.6, zorder=2
            )
        if found is not None:
            if len(found.values) > 1:
                axis.plot([found.low, found.high], [height, height], color=BLUE, linewidth=3.5, alpha=0.35)
            labels["ours"] = axis.scatter(ours, height, s=34, color=BLUE, zorder=3)
    drawn = [row for row, _ in shown]
    axis.set_yticks(range(len(shown)), [row_label(row, drawn) for row in reversed(drawn)])
    axis.set_ylim(-0.6, len(shown) - 0.4)
    axis.set_xscale("log")
    axis.set_xlabel(label)
    axis.grid(axis="x", linewidth=0.5, alpha=0.4)
    if len(labels) > 1:
        figure.legend(labels.values(), labels.keys(), loc="outside upper left", ncols=2, frameon=False)
    return figure


def row_label(row: Row, among: Sequence[Row]) -> str:
    """What tells a row from the others."""
    parts = [row.problem] if len({other.problem for other in among}) > 1 else []
    if len({other.method for other in among}) > 1 or not parts:
        parts.append(row.method)
    parts += [f"{name} = {value:g}" for name, value in row.parameters.items() if _varies(name, among)]
    alike = (row.problem, row.method, row.parameters)
    if sum((other.problem, other.method, other.parameters) == alike for other in among) > 1:
        parts.append(row.label)
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
    if len(rows) > 1:
        figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    return figure


def has_history(record: Record) -> bool:
    """Whether a record keeps a loss curve that can be drawn."""
    loss = record.history.get("loss")
    return loss is not None and "step" in record.history and bool(np.any(np.isfinite(loss) & (loss > 0)))
