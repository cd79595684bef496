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
        "| family | asked for | worst error | estimated | slopes | nodes | CPU seconds "
        "| one classical | pays after |",
        "|---|" + "---:|" * 8,
    ]
    speeds = [
        "| family | Python, curves | page, curves | Python, samples | page, samples | page differs "
        "| page size |",
        "|---|" + "---:|" * 6,
    ]
    for name, row in found["cases"].items():
        cells = [f"{name}, {row['ranges']}", _short(row["accuracy"])]
        cells += [f"{_short(row['worst_error'])} of {row['checked']}", _short(row["estimated_error"])]
        slopes = _short(max(row["slopes"].values())) if "slopes" in row else "–"
        cells += [slopes, str(row["nodes"]), f"{row['cpu_s']:.0f}"]
        cells += [f"{row['classical_cpu_s']:.1f} s", str(row["pays_after"])]
        lines.append("| " + " | ".join(cells) + " |")
        if "page_difference" in row:
            cells = [name, *(_short(row[key]) for key in _SPEEDS), _short(row["page_difference"])]
            speeds.append("| " + " | ".join([*cells, f"{row['page_megabytes']:.1f} MB"]) + " |")
    origin = (
        f"Measured on {found['device'].removeprefix('cpu: ')}, JAX {found['versions']['jax']}, by "
        "`benchmarks/families.py`, in CPU seconds with compilation. The worst error is that of so many "
        "random parameters, against classical solutions. Slopes are derivatives by the parameters, against "
        "differences of classical solutions: the worst relative L2 error. After so many classical solutions "
        "the family pays."
    )
    fast = (
        "Values per second, in Python and in the page, in one run: curves are values at one parameter, on a "
        "grid in Python and along x in the page, samples those at one place for random parameters. The page "
        "differs from Python by at most so much at 1,000 random points."
    )
    beside = "".join(
        f"Trained for {row['trained']['seconds']:.0f} s with the parameters as inputs, `expert` is off by up "
        f"to {_short(row['trained']['worst_error'])} on {name}. "
        for name, row in found["cases"].items()
        if "trained" in row
    ) + (
        "`reacting-flow` is the equation of P²INN (Cho et al., ICML 2024), a network with the parameters as "
        "inputs, whose published relative errors over such equations go from 0.009 to 0.37."
    )
    return {"families": "\n".join([origin, "", *lines, "", beside, "", fast, "", *speeds])}


_SPEEDS = ("grid_values_per_cpu_s", "page_grid_values_per_s", "samples_per_cpu_s", "page_samples_per_s")


def _short(value: float) -> str:
    return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e")


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    write_sections(PAGE, sections())
