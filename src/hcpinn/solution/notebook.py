"""What a notebook shows of a solution, a family or a fit: equation, verdict, numbers, and a picture."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..problem.text.describe import equation_lines
from ..problem.text.typeset import MATHML

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..problem import Problem
    from .family import Family
    from .solution import Solution


def page_of(problem: Problem, facts: Mapping[str, str], figure: Figure | None) -> str:
    """The equation of a problem, facts by title, and a picture, as HTML."""
    lines = "".join(
        f"<div style='margin:.4em 0'><math><mrow>{line}</mrow></math></div>"
        for line in equation_lines(problem, MATHML)
    )
    rows = "".join(
        f"<tr><th style='text-align:left;vertical-align:top'>{html.escape(title)}</th>"
        f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
        for title, text in facts.items()
    )
    picture = ""
    if figure is not None:
        stream = io.BytesIO()
        figure.savefig(stream, format="png")
        data = base64.b64encode(stream.getvalue()).decode()
        alt = html.escape(problem.name)
        picture = f"<img style='max-width:100%' alt='{alt}' src='data:image/png;base64,{data}'>"
    return f"<div><b>{html.escape(problem.name)}</b>{lines}<table>{rows}</table>{picture}</div>"


def html_of(solution: Solution) -> str:
    """The page of a solution."""
    facts = {"verdict": str(solution.verdict), "method": solution.method.name}
    if solution.rel_l2 is not None:
        facts["relative L2 error"] = ", ".join(f"{name}: {e:.1e}" for name, e in solution.rel_l2.items())
    if solution.estimated_error is not None:
        facts["its own estimate"] = f"{solution.estimated_error:.1e}"
    facts["stopped because"] = solution.stop.value
    return page_of(solution.problem, facts, solution.plot())


def html_of_family(family: Family) -> str:
    """The page of a family; the picture is over x and the first parameter."""
    spans = (
        f"{name}: {own.extremes[0]:g} to {own.extremes[-1]:g}" for name, own in family.problem.open.items()
    )
    facts = {
        "parameters": ", ".join(spans),
        "verdict, at the worst of them": str(family.verdict),
        "solved at": f"{len(family.function.interpolation)} parameters",
    }
    if family.estimated_error is not None:
        facts["its own estimate"] = f"{family.estimated_error:.1e}"
    drawn = len(family.problem.space) == 1 and family.names
    return page_of(family.problem, facts, family.plot() if drawn else None)
