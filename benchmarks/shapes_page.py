"""Write what `benchmarks/shapes.py` measured into docs/guides/shapes.md.

python benchmarks/shapes.py --out benchmarks/results/shapes-cpu.json
python benchmarks/shapes_page.py
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pages import short, write_sections

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "guides" / "shapes.md"
RESULTS = ROOT / "benchmarks" / "results" / "shapes-cpu.json"


def sections() -> dict[str, str]:
    """What was measured: a sentence, and a table for each part."""
    found = json.loads(RESULTS.read_text("utf-8"))
    about = (
        f"Measured on {found['device'].removeprefix('cpu: ')}, JAX {found['versions']['jax']}; seconds are "
        "those of the processor."
    )
    if rows := found.get("exact"):
        values, slopes = ([row[k] for row in rows if row[k] is not None] for k in ("values", "slopes"))
        about += (
            f" At 10,000 points of the boundary of {len(rows)} shapes each, prescribed values are off by at "
            f"most {short(max(values))} of the function's size for random weights. u + ∂u/∂n = 0, held "
            f"by a null space of 300 features, is off by {short(min(slopes))} to {short(max(slopes))} "
            "of its largest slope, where no corner is re-entrant."
        )
    tables = {
        "heat": _heat, "eigenvalues": _spectra, "phases": _phases, "train": _trained, "cost": _cost,
    }  # fmt: skip
    return {
        "measured": "\n\n".join([about, *(t(found[part]) for part, t in tables.items() if part in found)])
    }


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _heat(rows: Sequence[dict[str, Any]]) -> str:
    return _table(
        ["heat on a disk, by Bessel functions", "error", "estimated", "seconds", "features"],
        [
            [
                row["name"],
                short(row["error"]),
                short(row["estimate"]),
                f"{row['processor_seconds']:.1f}",
                str(row["features"]),
            ]
            for row in rows
        ],
    )


def _spectra(rows: Sequence[dict[str, Any]]) -> str:
    names = {"disk": "disk, the first ten", "ellipse": "ellipse, the first ten", "L": "L, the first"}
    return _table(
        ["eigenvalues of −∇² with u = 0", "error", "seconds", "features"],
        [
            [
                names[row["name"]],
                short(row["error"]),
                f"{row['processor_seconds']:.1f}",
                str(row["features"]),
            ]
            for row in rows
        ],
    )


def _phases(rows: Sequence[dict[str, Any]]) -> str:
    return _table(
        ["Allen–Cahn, no flux", "error", "estimated", "seconds", "features", "elements good to", "and take"],
        [
            [
                row["name"],
                short(row["error"]),
                short(row["estimate"]),
                f"{row['processor_seconds']:.0f}",
                f"{row['features']:,}",
                short(row["reference_error"]),
                f"{row['reference_seconds']:.0f} s",
            ]
            for row in rows
        ],
    )


def _cost(rows: Sequence[dict[str, Any]]) -> str:
    by = {(row["condition"], row["features"]): row for row in rows}
    counts = sorted({row["features"] for row in rows})
    kinds = list(dict.fromkeys(row["condition"] for row in rows))
    return _table(
        [
            "features of a pass on a disk",
            *(f"{kind}: {what}" for kind in kinds for what in ("seconds", "MiB")),
        ],
        [
            [
                f"{count:,}",
                *(
                    cell
                    for kind in kinds
                    for cell in (
                        f"{by[kind, count]['processor_seconds']:.1f}",
                        f"{by[kind, count]['mebibytes']:,}",
                    )
                ),
            ]
            for count in counts
        ],
    )


def _trained(rows: Sequence[dict[str, Any]]) -> str:
    return _table(
        ["the same, trained by `expert`", "error", "estimated", "seconds"],
        [
            [row["name"], short(row["error"]), short(row["estimate"]), f"{row['processor_seconds']:.0f}"]
            for row in rows
        ],
    )


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    write_sections(PAGE, sections())
