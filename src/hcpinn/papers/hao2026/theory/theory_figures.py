"""Figures of an analysis, drawn from its summary or `theory.json`: no need to compute anything again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....solution.canvas import BLUE, COLORS, GREY, ORANGE, finish, subplots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Summary = Mapping[str, Any]
"""`Analysis.summary()`, or the content of a `theory.json`."""

_SIDES = (("soft", ORANGE), ("hard", BLUE))


def draw(summary: Summary, folder: Path) -> list[Path]:
    """Draw all figures into a folder and return their paths."""
    drawn: dict[str, Callable[[Summary], Figure]] = {
        "spectra": spectra_figure,
        "balance": balance_figure,
        "decay": decay_figure,
        "hessian": hessian_figure,
        "choices": choices_figure,
    }
    if summary["soft"]["modes"] is not None:
        drawn["modes"] = error_modes_figure
    paths = []
    for name, figure in drawn.items():
        path = folder / f"{name}.png"
        finish(figure(summary), path)
        paths.append(path)
    return paths


def spectra_figure(summary: Summary) -> Figure:
    """Eigenvalues of both kernels relative to the largest, at the start and after training."""
    figure, axes = subplots(1, 2, (10.0, 3.8))
    for column, number in enumerate((0, -1)):
        axis = axes[0][column]
        for name, color in _SIDES:
            state = summary[name]["along_training"][number]
            shown = np.asarray(state["eigenvalues"][: state["rank"]]) / state["largest"]
            axis.loglog(np.arange(1, len(shown) + 1), shown, color=color, label=f"{name} data")
        steps = summary["soft"]["along_training"][number]["steps"]
        axis.set_title("before training" if not steps else f"after {steps:,} steps of Adam")
        axis.set_xlabel("number n of the eigenvalue")
        axis.set_ylabel("λₙ / λ₁")
        axis.legend(frameon=False)
    return figure


def balance_figure(summary: Summary) -> Figure:
    """Each term's share of the soft kernel's trace, and its loss, during training."""
    states = summary["soft"]["along_training"]
    figure, axes = subplots(1, 2, (10.0, 3.8))
    terms = list(states[0]["shares"])
    place, width = np.arange(len(states)), 0.8 / len(terms)
    for number, (term, color) in enumerate(zip(terms, COLORS, strict=False)):
        at = place + (number - (len(terms) - 1) / 2) * width
        axes[0][0].bar(at, [s["shares"][term] for s in states], width, color=color, label=term)
        axes[0][1].bar(at, [s["losses"][term] for s in states], width, color=color, label=term)
    for axis, title in zip(axes[0], ("share of the trace, soft data", "mean square, soft data"), strict=True):
        axis.set_yscale("log")
        axis.set_title(title)
        axis.set_xticks(place, [f"{s['steps']:,}" for s in states])
        axis.set_xlabel("steps of Adam")
    axes[0][1].legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def decay_figure(summary: Summary) -> Figure:
    """The mismatch along a few eigenvectors during gradient descent: lines predicted, dots measured."""
    figure, axes = subplots(1, 2, (11.0, 4.0))
    for axis, (name, _) in zip(axes[0], _SIDES, strict=True):
        decay = summary[name]["decay"]
        times = decay["step_times_largest"] * np.asarray(decay["steps"])
        fine = np.geomspace(times[0], times[-1], 200)
        largest = decay["directions"][0]["eigenvalue"]
        for direction, color in zip(decay["directions"], [*COLORS, GREY], strict=False):
            rate = direction["eigenvalue"] / largest
            measured = np.abs(np.asarray(direction["measured"], float) / direction["start"])
            axis.plot(fine, np.exp(-rate * fine), color=color, linewidth=1.3)
            label = f"n = {direction['number']}, λₙ/λ₁ = {rate:.0e}"
            axis.plot(times, measured, "o", color=color, markersize=4, label=label)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_ylim(1e-4, 10)
        axis.set_title(f"{name} data: lines predicted, dots measured")
        axis.set_xlabel("λ₁τ")
        axis.set_ylabel("mismatch along eigenvector n, relative to its start")
        axis.legend(frameon=False, fontsize=8, loc="lower left")
    return figure


def error_modes_figure(summary: Summary) -> Figure:
    """The error's Fourier modes before and after gradient descent, measured and predicted."""
    figure, axes = subplots(1, 2, (11.0, 4.0))
    for axis, (name, color) in zip(axes[0], _SIDES, strict=True):
        modes, decay = summary[name]["modes"], summary[name]["decay"]
        numbers = np.arange(len(modes["start"]))
        axis.plot(numbers, modes["start"], color=GREY, label="before")
        axis.plot(numbers, modes["predicted"][-1], color=color, linewidth=1.4, label="after, predicted")
        axis.plot(numbers, modes["measured"][-1], "o", color=color, markersize=4, label="after, measured")
        axis.set_yscale("log")
        axis.set_xlim(0, min(24, numbers[-1]))
        steps = decay["steps"][-1]
        axis.set_title(f"{name} data, {steps:,} steps, λ₁τ = {steps * decay['step_times_largest']:.3g}")
        axis.set_xlabel("wave number")
        axis.set_ylabel("amplitude of the error")
        axis.legend(frameon=False)
    return figure


def hessian_figure(summary: Summary) -> Figure:
    """Eigenvalues of the Gauss–Newton Hessians, their bounds, and the largest one of the full Hessians."""
    figure, axes = subplots(1, 1, (7.0, 4.2))
    axis = axes[0][0]
    bounds = {name: summary["hessian_bounds"][f"{name}_bound"] for name, _ in _SIDES}
    for name, color in _SIDES:
        side = summary[name]
        values = side["along_training"][0]["eigenvalues"]
        axis.loglog(np.arange(1, len(values) + 1), values, color=color, label=f"{name} data")
        axis.axhline(bounds[name], color=color, linestyle="--", linewidth=1.0, label=f"bound, {name} data")
        largest = side["curvature"]["largest"]
        axis.plot([1], [largest], "^", color=color, label=f"full Hessian, largest, {name} data")
    top = max(bounds.values())
    axis.set_ylim(1e-12 * top, 10 * top)
    axis.set_xlabel("number of the eigenvalue")
    axis.set_ylabel("eigenvalue of the Hessian")
    axis.legend(frameon=False, fontsize=8, loc="lower left")
    return figure


def choices_figure(summary: Summary) -> Figure:
    """Lifts and gates: conditioning, loss of the lift alone, time to a tenth, size of the network's task."""
    choices = summary["choices"]
    panels = {
        "spread": "λ₁/λₙ, n = rows/8",
        "lift_loss": "loss of the lift alone",
        "time_to_tenth": "λ₁τ to a tenth of the loss",
    }
    if choices[0]["task_size"] is not None:
        panels["task_size"] = "size of N = (u − ψ)/φ"
    figure, axes = subplots(1, len(panels), (3.2 * len(panels) + 1.5, 0.4 * len(choices) + 1.2))
    place = np.arange(len(choices))[::-1]
    colors = [BLUE if c["gate"] == "t/T" else ORANGE for c in choices]
    for number, (axis, (name, title)) in enumerate(zip(axes[0], panels.items(), strict=True)):
        values = np.asarray([c[name] for c in choices], float)  # None where not finite
        _bars(axis, place, np.where(values > 0, values, np.nan), colors)
        axis.set_title(title)
        labels = [f"{c['lift']};  {c['gate']}" for c in choices] if number == 0 else [""] * len(choices)
        axis.set_yticks(place, labels)
    return figure


def _bars(axis: Any, place: np.ndarray, values: np.ndarray, colors: list[str]) -> None:
    """Horizontal bars on a logarithmic scale that starts just below the smallest."""
    known = values[np.isfinite(values)]
    low = 10 ** math.floor(math.log10(max(known.min(), 1e-6 * known.max()))) / 2 if known.size else 1.0
    axis.barh(place, np.maximum(values, low) - low, left=low, color=colors, height=0.6)
    axis.set_xscale("log")
    if known.size:
        axis.set_xlim(low, 2 * known.max())
