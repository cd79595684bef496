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


_SECONDS, _STEPS = (5, 10, 20, 30), (1000, 2000, 4000)
"""When trainings are compared."""


def _trained(rows: Sequence[dict[str, Any]]) -> str:
    """Errors of trainings by seconds and steps, and how often exact walls are five times as accurate."""
    heads = [*(f"{seconds} s" for seconds in _SECONDS), *(f"{steps:,} steps" for steps in _STEPS)]
    lines = [f"| problem | walls | {' | '.join(heads)} |", "|---|---|" + "---:|" * len(heads)]
    at: dict[tuple[str, str], list[float | None]] = {}
    for row in rows:
        own = [
            *(_by(row, 0, seconds, slack=1.0) for seconds in _SECONDS),
            *(_by(row, 1, steps, slack=0.8) for steps in _STEPS),
        ]
        at[row["name"], row["walls"]] = own
        cells = [row["name"].replace(" | ", " and "), row["walls"]]
        cells += ["" if error is None else short(error) for error in own]
        lines.append("| " + " | ".join(cells) + " |")
    names = [name for name, walls in at if walls == "penalty" and (name, "exact") in at]
    spans = {"seconds": slice(0, len(_SECONDS)), "steps": slice(len(_SECONDS), None)}
    said = []
    for what, part in spans.items():
        kept = [
            penalty / exact
            for name in names
            for penalty, exact in zip(at[name, "penalty"][part], at[name, "exact"][part], strict=True)
            if penalty is not None and exact is not None
        ]
        ratios = sorted(kept)
        said.append(
            f"After the same {what}, exact walls are {ratios[len(ratios) // 2]:.1f} times as accurate in the "
            f"median, {ratios[0]:.1f} to {ratios[-1]:.0f} times in all, and at least 5 times in "
            f"{sum(r >= 5 for r in ratios)} of {len(ratios)} comparisons."
        )
    return "\n\n".join(
        [
            "Exact walls beside the same conditions as [penalties](schemes.md#soft-conditions), trained by "
            "`expert` with `growth=None`; nothing else differs. “Grown” is `expert` as it comes, asked for "
            "1e-8: [growth](schemes.md#growth) needs exact walls. Seconds include preparation and "
            "compilation.",
            "\n".join(lines),
            " ".join(said),
        ]
    )


def _by(row: dict[str, Any], place: int, most: float, *, slack: float) -> float | None:
    """The error a training had come to by so many seconds (place 0) or steps (1); None where it did not."""
    seen = [own for own in row["seconds, steps, error"] if own[place] <= most]
    return seen[-1][2] if seen and (place == 0 or seen[-1][place] >= slack * most) else None


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    for page, own in sections().items():
        write_sections(page, own)
