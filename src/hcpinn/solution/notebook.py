"""A solution as a notebook shows it: the equation, the verdict, the errors, and a picture."""

from __future__ import annotations

import base64
import html
import io
from typing import TYPE_CHECKING

from ..problem.text.describe import equation_lines
from ..problem.text.typeset import MATHML

if TYPE_CHECKING:
    from .solution import Solution


def html_of(solution: Solution) -> str:
    """The page of a solution; its figure is drawn once."""
    problem = solution.problem
    lines = "".join(
        f"<div style='margin:.4em 0'><math><mrow>{line}</mrow></math></div>"
        for line in equation_lines(problem, MATHML)
    )
    facts = {"verdict": str(solution.verdict), "method": solution.method.name}
    if solution.rel_l2 is not None:
        facts["relative L2 error"] = ", ".join(f"{name}: {e:.1e}" for name, e in solution.rel_l2.items())
    if solution.estimated_error is not None:
        facts["its own estimate"] = f"{solution.estimated_error:.1e}"
    facts["stopped because"] = solution.stop.value
    rows = "".join(
        f"<tr><th style='text-align:left;vertical-align:top'>{title}</th>"
        f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
        for title, text in facts.items()
    )
    stream = io.BytesIO()
    solution.plot().savefig(stream, format="png")
    picture = base64.b64encode(stream.getvalue()).decode()
    return (
        f"<div><b>{html.escape(problem.name)}</b>{lines}<table>{rows}</table>"
        f"<img style='max-width:100%' alt='{html.escape(problem.name)}' "
        f"src='data:image/png;base64,{picture}'></div>"
    )
