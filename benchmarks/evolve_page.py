"""Write what `benchmarks/evolution.py` measured into docs/guides/evolve.md.

python benchmarks/evolution.py --seeds 0 --out benchmarks/results/evolution-cpu.json
python benchmarks/evolution.py --seeds 2 --only / --out benchmarks/results/estimates-cpu.json
python benchmarks/evolution_growth.py run --out benchmarks/results/evolution_growth-cpu.json
python benchmarks/evolve_page.py
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import evolution_growth
from pages import write_sections

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "guides" / "evolve.md"
RESULTS = ROOT / "benchmarks" / "results" / "evolution-cpu.json"
ESTIMATES = ROOT / "benchmarks" / "results" / "estimates-cpu.json"
GROWTH = ROOT / "benchmarks" / "results" / "evolution_growth-cpu.json"
PICTURE = ROOT / "docs" / "images" / "evolution-growth-cpu.png"
_ROUNDING = 1e-12
"""Errors and estimates below it are rounding."""


def sections() -> dict[str, str]:
    """The table of the page, under the name of the machine, and what estimates are worth."""
    found = json.loads(RESULTS.read_text("utf-8"))
    lines = [
        "| problem | error | estimated | seconds | passes | unknowns | time steps |",
        "|---|" + "---:|" * 6,
    ]
    for row in found["rows"]:
        name = f"`{row['name']}`" if row["name"].replace("-", "").isalnum() else row["name"]
        cells = [name, _short(row["error"]), _short(row["estimate"]), f"{row['seconds']:.1f}"]
        cells += [str(len(row["features"])), f"{row['rank']:,}", f"{row['steps']:,}"]
        lines.append("| " + " | ".join(cells) + " |")
    ratio = max(max(r["error"], _ROUNDING) / max(r["estimate"], _ROUNDING) for r in found["rows"])
    origin = f"Measured on {found['device'].removeprefix('cpu: ')}, JAX {found['versions']['jax']}."
    origin += f" Rounding aside, no error is more than {ratio:.1f} times its estimate. {found['remark']}"
    return {
        "evolve": origin.strip() + "\n\n" + "\n".join(lines),
        "estimates": _estimates(),
        "growth": _growth(),
    }


def _growth() -> str:
    """The powers with which seconds per time step grow, and their picture."""
    found = json.loads(GROWTH.read_text("utf-8"))
    lines = [
        "| n | from … to | unknowns | ms per time step | power of n in the end |",
        "|---|" + "---:|" * 4,
    ]
    for what, rows in found["sweeps"].items():
        values, times = evolution_growth.series(what, rows)
        cells = [what]
        for series, form in ((values, ","), ([r["unknowns"] for r in rows], ","), (times, ".3g")):
            cells.append(f"{series[0]:{form}} … {series[-1]:{form}}")
        cells.append(f"{evolution_growth.power(values, times):.1f}")
        lines.append("| " + " | ".join(cells) + " |")
    origin = f"Seconds of the processor on one core of {found['device'].removeprefix('cpu: ').split(',')[0]}."
    picture = f"![Cost of a time step against what grows](../images/{PICTURE.name})"
    return "\n".join([origin, "", *lines, "", picture])


def _estimates() -> str:
    """How far estimate and truth lie apart on problems with known solutions."""
    rows = json.loads(ESTIMATES.read_text("utf-8"))["rows"]
    ratios = [max(r["estimate"], _ROUNDING) / max(r["error"], _ROUNDING) for r in rows]
    within = sum(ratio <= 30 for ratio in ratios) / len(rows)
    processor = sorted(r["processor_seconds"] for r in rows)[len(rows) // 2]
    largest = _short(max(r["error"] for r in rows))
    return (
        f"On {len(rows)} problems with known solutions (`benchmarks/manufactured.py`), asked for 1e-6, "
        f"the largest error is {largest}; no error is more than {1 / min(ratios):.1f} times its estimate, "
        f"and the estimate is at most 30 times the error in {within:.0%}. Half of them take less than "
        f"{processor:.1f} s of the processor."
    )


def reached(name: str) -> str:
    """Error and seconds on one problem, for a cell of another table."""
    rows = json.loads(RESULTS.read_text("utf-8"))["rows"]
    return next(
        (f"{_short(r['error'])} in {r['seconds']:.0f} s" for r in rows if r["name"] == name), "not yet run"
    )


def _short(value: float) -> str:
    return f"{value:.1e}".replace("e-0", "e-")


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    evolution_growth.draw(argparse.Namespace(file=GROWTH, out=PICTURE))
    write_sections(PAGE, sections())
