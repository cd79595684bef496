"""Figures of a solution: fields side by side, slices, the loss, and the weights of points."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from ..errors import MethodError
from .canvas import BLUE, COLORS, GREY, ORANGE, subplots
from .shown import Shown, field_colours, to_scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..problem import Problem
    from ..reference import Reference
    from .family import Family
    from .solution import Solution

_WIDE = 9.6
"""Inches: letters stay readable on half a page."""


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
                (name, f" at t = {shown.times[i]:g}{shown.plane}", lambda values, i=i: values[i].T)
                for i in shown.picks
            ]
    if shown.exact is None:
        columns = min(3, len(rows))
        deep = -(-len(rows) // columns)
        figure, axes = subplots(deep, columns, (max(_WIDE / 3 * columns, 4.4), 2.7 * deep))
        for axis in axes.flat[len(rows) :]:
            axis.remove()
        for axis, (name, when, view) in zip(axes.flat, rows, strict=False):
            values = view(shown.predicted[name])
            shown.panel(axis, values, f"{shown.label(name)}{when}", field_colours(values))
        return figure
    figure, axes = subplots(len(rows), 3, (_WIDE, 2.7 * len(rows)))
    for row, (name, when, view) in zip(axes, rows, strict=True):
        predicted, exact = view(shown.predicted[name]), view(shown.exact[name])
        colours = field_colours(exact)
        shown.panel(row[0], exact, f"{shown.label(name)}: reference{when}", colours, bar=False)
        shown.panel(row[1], predicted, f"{shown.label(name)}: solution{when}", colours)
        difference = predicted - exact
        inside = np.isfinite(difference)
        size = float(np.linalg.norm(exact[inside]))
        all_times = shown.exact[name]
        some = size > 1e-9 * float(np.linalg.norm(all_times[np.isfinite(all_times)]))
        relative = f", L2 {np.linalg.norm(difference[inside]) / size:.1e}" if some else ""
        shown.error_panel(row[2], difference, f"absolute error{relative}")
        for axis in row[1:]:
            axis.tick_params(labelleft=False)
            axis.set_ylabel("")
    return figure


def family_figure(family: Family) -> Figure:
    """u at the horizon over x and the first parameter, the others in the middle: a panel per component."""
    problem, (name, *others) = family.problem, family.names
    if len(problem.space) != 1:
        raise MethodError(
            f"A family is drawn in one space dimension, but {problem.name} has {len(problem.space)}."
        )
    own = family.problem.open[name]
    low, high = own.extremes
    values = np.geomspace(low, high, 121) if getattr(own, "log", False) else np.linspace(low, high, 121)
    x = np.linspace(*problem.domain.bounds[0], 241)
    fixed = {other: problem.open[other].nominal for other in others}
    end = float(family.function.exact.problem.horizon)
    found = family(end, x, **{name: values[:, None]}, **fixed)
    fields = problem.to_components(
        [jnp.asarray(f) for f in (found if isinstance(found, tuple) else (found,))]
    )
    count = len(problem.components)
    figure, axes = subplots(1, count, (max(4.4, _WIDE / 2 * count), 3.2))
    for axis, component, field in zip(
        axes.flat, problem.components, np.moveaxis(np.asarray(fields), -1, 0), strict=True
    ):
        drawn = axis.pcolormesh(x, values, field, shading="gouraud", rasterized=True, **field_colours(field))
        figure.colorbar(drawn, ax=axis)
        axis.set(
            xlabel=problem.label(problem.space[0]),
            ylabel=problem.label(name),
            title=f"{problem.label(component)} at t = {end:g}",
        )
        if getattr(own, "log", False):
            axis.set_yscale("log")
    return figure


def slice_figure(shown: Shown) -> Figure:
    """Profiles along x at t = 0, T/2 and T, a row per component; in the middle of the other axes."""
    count = len(shown.predicted)
    figure, axes = subplots(count, 3, (_WIDE, 2.5 * count), sharex=True, sharey="row")
    for row, name in zip(axes, shown.predicted, strict=True):
        for axis, pick in zip(row, shown.picks, strict=True):
            if shown.exact is not None:
                profile = shown.profile(shown.exact[name], pick)
                axis.plot(shown.x, profile, color=BLUE, linewidth=2.2, label="reference")
            profile = shown.profile(shown.predicted[name], pick)
            axis.plot(shown.x, profile, color=ORANGE, linewidth=1.6, linestyle="--", label="solution")
            axis.set_title(f"t = {shown.times[pick]:g}{shown.line}")
            axis.set_xlabel(shown.label("x"))
            axis.set_xlim(shown.x[0], shown.x[-1])
            axis.locator_params(axis="x", nbins=5)
        row[0].set_ylabel(shown.label(name))
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
        axis.set_xlabel(solution.problem.label(names[first]))
        axis.set_ylabel(solution.problem.label(names[second]))
        axis.set_title(f"{term}: weights")
        figure.colorbar(shown, ax=axis)
    return figure


def gallery_figure(pictures: Sequence[tuple[str, Problem, Reference]]) -> Figure:
    """One panel per problem: its first component over (t, x), or at the end of the horizon over (x, y)."""
    columns = 3
    rows = -(-len(pictures) // columns)
    figure, axes = subplots(rows, columns, (_WIDE, 2.5 * rows))
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
        if not flat:
            to_scale(axis, across, up)
    return figure
