"""Write the tables and figures of docs/guides/theory.md.

    python benchmarks/theory_page.py

Its tables come from `results/paper/theory` and `results/theory/widths.json`, its figures from
`results/theory/advection-ten-modes`.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
from pathlib import Path

from hcpinn.papers.hao2026.theory.stored import HEADS, row_cells, short
from hcpinn.papers.hao2026.theory.theory_figures import decay_figure, error_modes_figure
from hcpinn.papers.hao2026.theory_chapter import read_theory
from hcpinn.study.picture import small_png
from pages import write_sections

ROOT = Path(__file__).parent.parent
STORE = ROOT / "results" / "paper" / "theory"
BESIDES = ROOT / "results" / "theory"
PAGE = ROOT / "docs" / "guides" / "theory.md"
IMAGES = ROOT / "docs" / "images"

_CHOICES = [
    *((lift, "t/T") for lift in ("u0", "e^(-1t) u0", "e^(-10t) u0", "e^(tL) u0")),
    ("e^(-1t) u0", "1 - e^(-10t)"),
]
"""Lifts and gates of which a page tells."""


_ASIDE = ("effective rank", "λ₁, ")
"""Columns of the table for which the page has no room."""


def sections() -> dict[str, str]:
    """What the store has for the page, section by section."""
    return {"widths": widths(), "choices": choices(), "theory": kernels()}


def kernels() -> str:
    """The kernels of every problem, without the columns that the page does not discuss."""
    heads, lines = list(HEADS), [list(row_cells(row)) for row in _theory()]
    shown = [place for place, head in enumerate(heads) if not head.startswith(_ASIDE)]
    found = [[row[place] for place in shown] for row in (heads, ["---"] * len(heads), *lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in found)


def widths() -> str:
    """How far gradient descent leaves a frozen kernel, by width: the median over seeds, and all of them."""
    rows = json.loads((BESIDES / "widths.json").read_text("utf-8"))["rows"]
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    lines = [
        "| width | " + " | ".join(f"`{problem}`" for problem in problems) + " |",
        "| ---: |" + " ---: |" * len(problems),
    ]
    for width in dict.fromkeys(row["width"] for row in rows):
        found = {row["problem"]: row["differences"] for row in rows if row["width"] == width}
        told = (found[problem] for problem in problems)
        cells = [f"{_percent(statistics.median(v))} ({_percent(min(v))} – {_percent(max(v))})" for v in told]
        lines.append(f"| {width} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw() -> None:
    """Decay and spectral bias of transport with ten Fourier modes, as files for the page."""
    summary = json.loads((BESIDES / "advection-ten-modes" / "theory.json").read_text("utf-8"))
    for name, figure in {"decay": decay_figure, "modes": error_modes_figure}.items():
        stream = io.BytesIO()
        figure(summary).savefig(stream, dpi=100)
        (IMAGES / f"theory-{name}.png").write_bytes(small_png(stream.getvalue()))


def choices() -> str:
    """Lifts and gates beside each other on three problems."""
    lines = [
        "| problem | lift | gate | λ₁/λₙ | λ₁τ to a tenth | lift leaves | size of N |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    found = read_theory(STORE)
    for name in ("advection", "allen-cahn-1", "cahn-hilliard"):
        told = [c for c in found[name]["choices"] if (c["lift"], c["gate"]) in _CHOICES]
        for place, choice in enumerate(told):
            figures = (choice[n] for n in ("spread", "time_to_tenth", "lift_loss", "task_size"))
            kind = [f"`{choice[part].replace('-1t', '-t')}`" for part in ("lift", "gate")]
            cells = ["" if place else f"`{name}`", *kind, *(short(value) for value in figures)]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _theory() -> list[dict]:
    return json.loads((STORE / "table.json").read_text("utf-8"))["rows"]


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    draw()
    write_sections(PAGE, sections())
