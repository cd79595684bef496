"""Write what `benchmarks/families.py` measured into docs/guides/families.md.

python benchmarks/families.py
python benchmarks/families_page.py
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from pages import write_sections

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "guides" / "families.md"
RESULTS = ROOT / "benchmarks" / "results" / "families-cpu.json"


def sections() -> dict[str, str]:
    """The one table of the page, under the name of the machine."""
    found = json.loads(RESULTS.read_text("utf-8"))
    lines = [
        "| family | asked for | worst error | estimated | nodes | CPU seconds | one classical "
        "| values per second, grid | values per second, samples |",
        "|---|" + "---:|" * 8,
    ]
    for name, row in found["cases"].items():
        cells = [f"{name}, {row['ranges']}", _short(row["accuracy"])]
        cells += [f"{_short(row['worst_error'])} of {row['checked']}", _short(row["estimated_error"])]
        cells += [str(row["nodes"]), f"{row['cpu_s']:.0f}", f"{row['classical_cpu_s']:.1f} s"]
        cells += [_short(row["grid_values_per_cpu_s"]), _short(row["samples_per_cpu_s"])]
        lines.append("| " + " | ".join(cells) + " |")
    origin = (
        f"Measured on {found['device'].removeprefix('cpu: ')}, JAX {found['versions']['jax']}, by "
        "`benchmarks/families.py`, in CPU seconds with compilation. The worst error is that of so many "
        "random parameters, against classical solutions. Values per second are on a grid of times and "
        "places at one parameter, and at one time and place for a million random parameters."
    )
    return {"families": origin + "\n\n" + "\n".join(lines)}


def _short(value: float) -> str:
    return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e")


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    write_sections(PAGE, sections())
