"""Figures of a fit: data on the field, residuals, estimates and correlations, profiles, functions."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ProblemError
from ..solution.canvas import BLUE, COLORS, GREY, ORANGE, subplots
from ..solution.shown import field_colours
from .result import CurveEstimate, Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .result import Fit

_WIDTH = 9.6


def data_figure(fit: Fit) -> Figure:
    """For each measured quantity: the data on the solution, measured against predicted, and residuals."""
    figure, axes = subplots(len(fit.fitted), 3, (_WIDTH, 2.9 * len(fit.fitted)))
    problem = fit.solution.problem
    first = fit.fitted[0].experiment
    for row, own in zip(axes, fit.fitted, strict=True):
        name = own.name if len(fit.data) == 1 else f"{own.name}, {own.experiment}"
        t, *places = own.points.T
        solved = own.name in problem.fields and own.experiment == first
        real = not any(problem.complex_fields)
        if len(places) == 1 and real and (solved or np.ptp(places[0]) > 0):
            colours, title = field_colours(own.measured), "data"
            if solved:
                times = np.linspace(problem.start, problem.horizon, 161)
                x = np.linspace(*problem.domain.bounds[0], 161)
                values = fit.solution.on_grid(times, x)[own.name]
                colours, title = field_colours(values), "data on the solution"
                row[0].pcolormesh(times, x, values.T, shading="gouraud", rasterized=True, **colours)
            edge = "white" if solved else GREY
            dots = row[0].scatter(t, *places, c=own.measured, s=9, edgecolors=edge, linewidths=0.3, **colours)
            figure.colorbar(dots, ax=row[0])
            row[0].set(
                xlabel=problem.label("t"), ylabel=problem.label(problem.space[0]), title=f"{name}: {title}"
            )
        else:
            row[0].plot(t, own.measured, ".", color=BLUE, markersize=3)
            row[0].set(xlabel=problem.label("t"), ylabel=problem.label(own.name), title=f"{name}: data")
        ends = [min(own.predicted.min(), own.measured.min()), max(own.predicted.max(), own.measured.max())]
        row[1].plot(ends, ends, color=GREY, linewidth=1)
        row[1].plot(own.predicted, own.measured, ".", color=BLUE, markersize=3)
        row[1].set(xlabel="predicted", ylabel="measured", title=f"noise {own.noise:.2g}")
        row[2].axhline(0, color=GREY, linewidth=1)
        for height in (-2, 2):
            row[2].axhline(height, color=GREY, linewidth=0.8, linestyle=":")
        row[2].plot(own.points[:, 0], own.residuals / own.noise, ".", color=BLUE, markersize=3)
        row[2].set(xlabel=problem.label("t"), ylabel="residual / noise", title="residuals")
    return figure


def corner_figure(fit: Fit) -> Figure:
    """Each number with its distribution, and each pair with the ellipses of one and two standard errors."""
    numbers = [(n, e) for n, e in fit.estimates.items() if isinstance(e, Estimate) and e.determined]
    if not numbers:
        raise ProblemError("No number among the unknowns is determined, so there is nothing to draw.")
    order = [name for name, e in fit.estimates.items() if isinstance(e, Estimate)]
    count = len(numbers)
    figure, axes = subplots(count, count, (2.4 * count + 0.6, 2.2 * count + 0.4))
    around = np.linspace(0, 2 * np.pi, 121)
    circle = np.stack([np.cos(around), np.sin(around)])
    for (i, (low, one)), (j, (across, other)) in itertools.product(enumerate(numbers), enumerate(numbers)):
        axis = axes[i][j]
        if j > i:
            axis.remove()
            continue
        if i == j:
            z = np.linspace(-4, 4, 161)
            axis.plot(one.value + z * one.error, np.exp(-(z**2) / 2), color=BLUE)
            for end in one.interval:
                axis.axvline(end, color=ORANGE, linewidth=1)
            axis.set_yticks([])
        else:
            share = float(fit.correlations[order.index(low), order.index(across)])
            root = np.linalg.cholesky(np.array([[1.0, share], [share, 1.0]]) + 1e-12 * np.eye(2))
            for size in (1, 2):
                x, y = root @ (size * circle)
                axis.plot(other.value + other.error * x, one.value + one.error * y, color=BLUE)
            axis.plot(other.value, one.value, ".", color=ORANGE)
            corner = {"x": 0.04, "ha": "left"} if share >= 0 else {"x": 0.96, "ha": "right"}
            axis.text(y=0.9, s=f"{share:+.2f}", transform=axis.transAxes, color=GREY, **corner)
        axis.locator_params(nbins=3)
        if i == count - 1:
            axis.set_xlabel(fit.problem.label(across))
        if j == 0 and i:
            axis.set_ylabel(fit.problem.label(low))
    return figure


def profile_figure(fit: Fit) -> Figure:
    """The rise of the misfit along unknowns whose likelihood is no parabola."""
    if not fit.profiles:
        raise ProblemError("The likelihood is a parabola within all intervals, so no profile was followed.")
    figure, axes = subplots(1, len(fit.profiles), (3.6 * len(fit.profiles), 2.9))
    for axis, (name, rows) in zip(axes[0], fit.profiles.items(), strict=True):
        estimate = fit.estimates[name]
        axis.plot(*rows.T, "o-", color=BLUE, markersize=3, label="profile")
        if isinstance(estimate, Estimate):
            x = np.linspace(rows[:, 0].min(), rows[:, 0].max(), 121)
            axis.plot(x, ((x - estimate.value) / estimate.error) ** 2, "--", color=GREY, label="curvature")
            for end in estimate.interval:
                axis.axvline(end, color=ORANGE, linewidth=1)
        axis.set_ylim(0, 1.5 * max(float(rows[:, 1][np.isfinite(rows[:, 1])].max()), 1.0))
        axis.set(xlabel=fit.problem.label(name), ylabel="rise of the misfit")
        axis.legend(frameon=False)
    return figure


def curve_figure(fit: Fit) -> Figure:
    """Unknown functions with their bands."""
    curves = {n: e for n, e in fit.estimates.items() if isinstance(e, CurveEstimate)}
    if not curves:
        raise ProblemError("There are no unknown functions in this fit.")
    figure, axes = subplots(1, len(curves), (4.4 * len(curves), 3.0))
    for axis, (name, curve), color in zip(axes[0], curves.items(), itertools.cycle(COLORS), strict=False):
        low, high = curve.interval
        seen = np.isfinite(low) & np.isfinite(high)
        axis.fill_between(curve.at, low, high, where=seen, color=color, alpha=0.25, linewidth=0)
        axis.plot(curve.at, curve.values, color=color)
        of = getattr(fit.problem.open.get(name), "of", "argument")
        axis.set(
            xlabel=fit.problem.label(of), ylabel=fit.problem.label(name), title=f"{100 * fit.level:.0f}% band"
        )
    return figure
