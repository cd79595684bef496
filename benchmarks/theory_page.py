"""Write what `hcpinn theory` found on every problem into docs/guides/theory.md.

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

from hcpinn.study.picture import small_png
from hcpinn.study.theory_chapter import read_theory
from hcpinn.theory.comparison import CLEAR
from hcpinn.theory.figures import decay_figure, modes_figure
from hcpinn.theory.table import short, to_markdown
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


def sections() -> dict[str, str]:
    """What the store has for the page, section by section."""
    table = to_markdown(_theory()).rstrip()
    return {"widths": widths(), "choices": choices(), "theory": table, "questions": questions()}


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
    for name, figure in {"decay": decay_figure, "modes": modes_figure}.items():
        stream = io.BytesIO()
        figure(summary).savefig(stream, dpi=100)
        (IMAGES / f"theory-{name}.png").write_bytes(small_png(stream.getvalue()))


def choices() -> str:
    """Lifts and gates beside each other on three problems."""
    lines = [
        "| problem | lift | gate | condition | λ₁/λₙ | λ₁τ to a tenth | lift leaves | size of N |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    found = read_theory(STORE)
    for name in ("advection", "allen-cahn-1", "cahn-hilliard"):
        told = [c for c in found[name]["choices"] if (c["lift"], c["gate"]) in _CHOICES]
        for place, choice in enumerate(told):
            figures = (choice[n] for n in ("condition", "spread", "time_to_tenth", "lift_loss", "task_size"))
            kind = [f"`{choice[part].replace('-1t', '-t')}`" for part in ("lift", "gate")]
            cells = ["" if place else f"`{name}`", *kind, *(short(value) for value in figures)]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def questions() -> str:
    """What the kernels of each problem say on the study's explanation, question by question."""
    lines = [
        "| problem | is soft training split unevenly? | is the hard kernel better conditioned? | "
        "does hard training, with frozen kernels, get further? |",
        "| --- | --- | --- | --- |",
    ]
    for row in _theory():
        found, shares = row["findings"], row["shares"]
        split = f"{_yes(found['uneven'])}, {short(found['imbalance'])} : 1"
        if min(shares, key=shares.get) == "residual":
            split += ", and the initial data hold the larger part"
        answers = [
            split,
            f"{_yes(found['better_conditioned'])}, {_compared(found['spread_ratio'])}",
            f"{_yes(found['goes_further'])}, {_compared(found['left_ratio'])}",
        ]
        lines.append(f"| `{row['problem']}` | {' | '.join(answers)} |")
    return "\n".join(lines)


def _theory() -> list[dict]:
    return json.loads((STORE / "table.json").read_text("utf-8"))["rows"]


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"


def _compared(gain: float) -> str:
    """By what factor hard is ahead of soft."""
    if 1 / CLEAR < gain < CLEAR:
        return "alike"
    return f"{gain:.2g} times" if gain > 1 else f"{1 / gain:.2g} times worse"


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    draw()
    write_sections(PAGE, sections())
