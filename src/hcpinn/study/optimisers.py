"""The ready-made study of optimisers: problems × optimisers × budgets × seeds, and its page.

Every run trains the network that `expert` takes on a CPU, over the whole horizon at once and on fixed points,
so that runs of a problem differ in their optimiser alone. Each budget is a run of its own: errors are those
of solutions that were handed over, and seconds are whole trainings with their compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING

from ..catalog import find_problem
from ..catalog.expert import expert
from ..descent import (
    LBFGS,
    SOAP,
    Adam,
    Broyden,
    LevenbergMarquardt,
    Method,
    Projected,
    SketchedGaussNewton,
)
from ..descent.optimisers.stage import Stage
from ..descent.runs import Run
from ..problem import Problem
from ..solution.canvas import COLORS, GREY, subplots
from .declaration import Section, Study
from .gallery import Picture, drawn
from .page import Chapter, Draw, StudyPage
from .record import Record
from .rows import Row, Spread, device_seconds
from .tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "optimisers"
"""What stores call the page of this study."""

PROBLEMS = ("allen-cahn-2", "allen-cahn-dirichlet", "kuramoto-sivashinsky", "schrodinger")

OPTIMISERS: dict[str, tuple[Stage, tuple[int, ...]]] = {
    "Adam": (Adam(rate=3e-3), (500, 2000, 8000)),
    "SOAP": (SOAP(), (300, 1200, 5000)),
    "L-BFGS": (LBFGS(), (150, 600, 2400)),
    "Broyden": (Broyden(), (150, 600, 2400)),
    "Broyden, projected": (Projected(Broyden()), (50, 200, 800)),
    "Levenberg–Marquardt": (LevenbergMarquardt(), (8, 30, 120)),
    "Sketched Gauss–Newton": (SketchedGaussNewton(), (12, 50, 200)),
}
"""Each optimiser with its default settings, and numbers of steps that take about as long for all."""

SEEDS = (0, 1, 2)

_STYLES = tuple(zip((*COLORS, GREY, "#c44569", "#2a9d9d"), "osD^v<>P", strict=True))
"""Colour and marker of each line."""


def optimisers() -> Study:
    """Each optimiser on the same networks at three budgets: error against seconds and against steps."""
    return Study("optimisers", "Optimisers compared", tuple(map(_section, PROBLEMS)), PAGE)


def _section(name: str) -> Section:
    problem = find_problem(name)
    runs, labels = [], []
    for label, (stage, budgets) in OPTIMISERS.items():
        for steps in budgets:
            method = _method(problem, label, stage.with_steps(steps))
            runs += [Run(problem, method, seed) for seed in SEEDS]
            labels += [f"{label}, {steps:,} steps"] * len(SEEDS)
    return Section(name, name, tuple(runs), labels=tuple(labels), accuracy=1e-3)


def _method(problem: Problem, name: str, stage: Stage) -> Method:
    """What `expert` trains on a CPU, by one optimiser without lessons, corrections or new points."""
    return replace(
        expert(problem, accelerator=False),
        name=name,
        horizons=(1.0,),
        lessons=1,
        growth=None,
        resampling=None,
        stages=(stage,),
    )


class OptimisersPage(StudyPage):
    """The usual page, and before it error against seconds and against steps."""

    def chapters(self, draw: Draw) -> list[Chapter]:
        """A chapter with the curves, then those of any study."""
        shown = draw("Error against seconds and steps", self._pictures)
        lead = (
            '<p class="about">Medians over the seeds; bars reach from the smallest to the largest error. '
            "Each mark is a run of its own. Seconds are device time with compilation.</p>"
        )
        first = Chapter("curves", "Error against seconds and steps", lead + "".join(shown))
        return [first, *super().chapters(draw)]

    def _pictures(self) -> list[Picture]:
        return [_picture(table) for table in self.tables if table.run]


def _picture(table: Table) -> Picture:
    rows = [row for row in table.rows if row.found("rel_l2") is not None]
    title = f"{table.title}: error against seconds and against steps"
    alt = f"Lines for {len({row.method for row in rows})} optimisers; the table has all figures."
    return drawn(f"{table.name} curves", title, alt, partial(curves_figure, rows))


def curves_figure(rows: Sequence[Row]) -> Figure:
    """Error against device seconds and against steps, a line for each method over its budgets."""
    figure, axes = subplots(1, 2, (9.0, 3.9), sharey=True)
    efforts: dict[str, Callable[[Record], float]] = {"seconds": device_seconds, "steps": _steps}
    lines: dict[str, list[Row]] = {}
    for row in rows:
        lines.setdefault(row.method, []).append(row)
    for axis, (what, effort) in zip(axes[0], efforts.items(), strict=True):
        for (method, own), (colour, marker) in zip(lines.items(), cycle(_STYLES), strict=False):
            x, low, middle, high = zip(*sorted(_point(row, effort) for row in own), strict=True)
            axis.plot(x, middle, color=colour, marker=marker, markersize=4, linewidth=1.3, label=method)
            axis.vlines(x, low, high, color=colour, linewidth=0.8)
        axis.set(xscale="log", yscale="log", xlabel=what)
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("relative L2 error")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False, fontsize=8)
    return figure


def _point(row: Row, effort: Callable[[Record], float]) -> tuple[float, float, float, float]:
    """The median effort of a row's seeds, and their smallest, median and largest error."""
    found = row.found("rel_l2")
    assert found is not None
    return Spread(tuple(map(effort, row.done))).median, found.low, found.median, found.high


def _steps(record: Record) -> float:
    return float(record.summary["steps"])
