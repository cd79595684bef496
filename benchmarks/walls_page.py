"""Write what `benchmarks/walls.py` measured into docs/guides/boundaries.md and docs/guides/waves.md.

python benchmarks/walls.py --out benchmarks/results/walls-cpu.json
python benchmarks/walls_page.py
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pages import short, write_sections

ROOT = Path(__file__).parent.parent
GUIDES = ROOT / "docs" / "guides"
RESULTS = ROOT / "benchmarks" / "results" / "walls-cpu.json"


def sections() -> dict[Path, dict[str, str]]:
    """By page its sections."""
    found = json.loads(RESULTS.read_text("utf-8"))
    first, second = ([row for row in found["evolve"] if row.get("order", 1) == order] for order in (1, 2))
    return {
        GUIDES / "boundaries.md": {
            "walls": "\n\n".join(
                [
                    _origin(found) + _exact(found["exact"]),
                    _evolved(first),
                    *([_trained(found["train"])] if "train" in found else []),
                ]
            )
        },
        GUIDES / "waves.md": {"waves": f"{_origin(found)}\n\n{_evolved(second)}"},
    }


def _origin(found: dict[str, Any]) -> str:
    return (
        f"Measured on {found['device'].removeprefix('cpu: ')}, JAX {found['versions']['jax']}, asked for "
        f"{short(found['accuracy'])}; seconds are those of the processor."
    )


def _exact(rows: Sequence[dict[str, Any]]) -> str:
    network, evolution = (max(row[kind] for row in rows) for kind in ("network", "evolution"))
    return (
        f" For random parameters, no condition of {len(rows)} combinations of kinds is off by more than "
        f"{short(network)} of its size in training, {short(evolution)} in evolution."
    )


def _evolved(rows: Sequence[dict[str, Any]]) -> str:
    """Evolutions as a table, with the drift of the energy where it is conserved."""
    drift = any("energy_drift" in row for row in rows)
    heads = ["error", "estimated", "verdict", "seconds", "seconds of the check", "unknowns", "time steps"]
    heads += ["energy drift"] * drift
    lines = [f"| problem | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for row in rows:
        cells = [row["name"].replace(" | ", " and "), short(row["error"]), short(row["estimate"])]
        cells += [row["verdict"], f"{row['processor_seconds']:.1f}", f"{row['reference_seconds']:.1f}"]
        cells += [f"{row['unknowns']:,}", f"{row['time_steps']:,}"]
        cells += [short(row["energy_drift"]) if "energy_drift" in row else ""] * drift
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _trained(rows: Sequence[dict[str, Any]]) -> str:
    lines = [
        "Exact walls beside the same conditions as [penalties](schemes.md#soft-conditions), trained by "
        "`expert` for as long:\n",
        "| problem | walls | error | seconds |",
        "|---|---|---:|---:|",
    ]
    for row in rows:
        name = row["name"].replace(" | ", " and ")
        lines.append(f"| {name} | {row['walls']} | {short(row['error'])} | {row['processor_seconds']:.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    for page, own in sections().items():
        write_sections(page, own)
