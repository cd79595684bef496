"""Write what `benchmarks/walls.py` measured into docs/guides/boundaries.md.

python benchmarks/walls.py --out benchmarks/results/walls-cpu.json
python benchmarks/walls_page.py
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from pages import write_sections

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "guides" / "boundaries.md"
RESULTS = ROOT / "benchmarks" / "results" / "walls-cpu.json"


def sections() -> dict[str, str]:
    """The one section of the page."""
    return {"walls": _section(json.loads(RESULTS.read_text("utf-8")))}


def _section(found: dict[str, Any]) -> str:
    """What was measured: exactness in a sentence, evolutions and trainings as tables."""
    origin = f"Measured on {found['device'].removeprefix('cpu: ')}, JAX {found['versions']['jax']}."
    parts = [origin]
    if found.get("exact"):
        rows = found["exact"]
        network, evolution = (max(row[kind] for row in rows) for kind in ("network", "evolution"))
        parts[0] += (
            f" For random parameters, no condition of {len(rows)} combinations of kinds is off by more than "
            f"{_short(network)} of its size in training, {_short(evolution)} in evolution."
        )
    if found.get("evolve"):
        lines = [
            "| problem | error | estimated | verdict | seconds of the processor | unknowns | time steps |",
            "|---|---:|---:|---|---:|---:|---:|",
        ]
        for row in found["evolve"]:
            name = row["name"].replace(" | ", " and ")
            cells = [name, _short(row["error"]), _short(row["estimate"]), row["verdict"]]
            cells += [f"{row['processor_seconds']:.1f}", f"{row['unknowns']:,}", f"{row['time_steps']:,}"]
            lines.append("| " + " | ".join(cells) + " |")
        parts.append("\n".join(lines))
    if found.get("train"):
        lines = ["| training | walls | error | seconds |", "|---|---|---:|---:|"]
        for row in found["train"]:
            lines.append(
                f"| {row['name']} | {row['walls']} | {_short(row['error'])} | {row['seconds']:.0f} |"
            )
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _short(value: float) -> str:
    return f"{value:.1e}".replace("e-0", "e-")


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    write_sections(PAGE, sections())
