"""Write what `benchmarks/fits.py` measured into docs/guides/fit.md, and draw its figures.

python benchmarks/fits.py repeats
python benchmarks/fits.py whole
python benchmarks/fits.py beside --deepxde PYTHON
python benchmarks/fit_page.py
python benchmarks/fit_page.py --figures     # runs the guide's and an example's program
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pages import write_sections

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "guides" / "fit.md"
RESULTS = ROOT / "benchmarks" / "results" / "fits-cpu.json"


RAISSI = {
    "burgers, no noise": ("0.096", "0.469"),
    "burgers, 1% noise": ("0.039", "0.008"),
    "burgers, 5% noise": ("0.190", "6.2"),
    "burgers, 10% noise": ("0.101", "6.4"),
}
"""Relative errors of λ₁ and λ₂ in percent, as published (Raissi, Perdikaris and Karniadakis, 2019)."""


def sections() -> dict[str, str]:
    """The tables of the page."""
    found = json.loads(RESULTS.read_text("utf-8"))
    lines = [
        f"Measured on {found['device'].removeprefix('cpu: ')}.",
        "",
        "Repeats with fresh noise, from the true values: the median relative error of each unknown with its "
        "quartiles (of functions the relative L2 error), the root mean square error over the Cramér–Rao "
        "bound, how often 95% intervals hold the truth, and the estimated noise over the true one (median, "
        "least, most).",
        "",
        "| problem | values | repeats | median error (quartiles) | over the bound | coverage | noise |",
        "|---|" + "---:|" * 6,
    ]
    for name, row in found["repeats"].items():
        errors = [
            f"{key}: {_short(row['median_error'][key])} ({_short(q[0])} to {_short(q[1])})"
            for key, q in row["quartiles"].items()
        ]
        cells = [
            name,
            f"{row['values']:,}",
            str(row["repeats"]),
            "<br>".join(errors),
            "<br>".join(f"{v:.2f}" for v in row.get("rms_to_bound", {}).values()),
            "<br>".join(f"{100 * v:.0f}%" for v in row["coverage"].values()),
            "{:.3f} ({:.2f} to {:.2f})".format(*row["noise_ratio"]),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        "Whole fits, from a guess that is wrong by a factor of about two or more, with one draw of noise, "
        "three starts and the check. CPU seconds count compilation.",
        "",
        "| fit | found | truth | verdict | CPU seconds |",
        "|---|---|---|---|---:|",
    ]
    for name, row in found["whole"].items():
        told = [_told(key, value) for key, value in row["estimates"].items()]
        cells = [
            name,
            "<br>".join(t[0] for t in told),
            "<br>".join(t[1] for t in told),
            row["verdict"].split(":")[0],
            f"{row['cpu_s']:.0f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return {"fits": "\n".join([*lines, *_burgers(found), *_beside(found)])}


def _burgers(found: dict[str, Any]) -> list[str]:
    """Median errors beside published ones, in percent."""
    rows = {name: found["repeats"].get(name) for name in RAISSI}
    if not any(rows.values()):
        return []
    lines = [
        "",
        "Burgers' equation, uₜ + λ₁ u uₓ = λ₂ uₓₓ, from 2,000 scattered values: median errors in percent "
        "(without noise, that of the whole fit), beside those that Raissi et al. (2019) published for one "
        "draw of noise. The bound is the least standard deviation that an unbiased estimate can have "
        "(Cramér–Rao); a single error below it is luck.",
        "",
        "| noise | λ₁ | λ₁, bound | λ₁, Raissi | λ₂ | λ₂, bound | λ₂, Raissi |",
        "|---|" + "---:|" * 6,
    ]
    for name, row in rows.items():
        if row:
            own = [row["median_error"][key] for key in ("l1", "l2")]
        elif name in found["whole"]:
            each = found["whole"][name]["estimates"]
            own = [abs(each[key]["value"] / each[key]["truth"] - 1) for key in ("l1", "l2")]
        else:
            continue
        cells = [name.split(", ")[1]]
        for number, (key, theirs) in enumerate(zip(("l1", "l2"), RAISSI[name], strict=True)):
            bound = 100 * row["bound"][key] if row else 0.0
            cells += [f"{100 * own[number]:.2g}", f"{bound:.2g}", theirs]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _beside(found: dict[str, Any]) -> list[str]:
    """One set of data fitted in three ways."""
    rows = found.get("beside", {}).get("burgers, 1% noise")
    if not rows:
        return []
    lines = [
        "",
        "The same data (Burgers, 1% noise) in one run on one core: `hc.fit`, `hc.fit` with a method that "
        f"trains, and DeepXDE {rows['DeepXDE']['version']} on PyTorch. Both trainings have a 4×20 network "
        f"and up to {rows['limit_s']:.0f} s.",
        "",
        "| way | error of λ₁ | error of λ₂ | CPU seconds |",
        "|---|---:|---:|---:|",
    ]
    for way in ("evolution", "training", "DeepXDE"):
        row = rows[way]
        errors = " | ".join(f"{100 * v:.2g}%" for v in row["error"].values())
        lines.append(f"| {way} | {errors} | {row['cpu_s']:.0f} |")
    return lines


def _told(name: str, found: dict[str, Any]) -> tuple[str, str]:
    """What was found of one unknown, and what is true."""
    if "rel_l2" in found:
        return (
            f"{name}: relative L2 error {_short(found['rel_l2'])}",
            f"in the band at {100 * found['band_covers']:.0f}% of places",
        )
    if "value" not in found:
        return name, ""
    if found["error"] is None:
        return f"{name}: no interval", ""
    return (
        f"{name} = {found['value']:.5g} ± {found['error']:.2g}",
        f"{found['truth']:.5g}" if "truth" in found else "",
    )


def _short(value: float) -> str:
    return f"{value:.1e}".replace("e-0", "e-")


def figures() -> None:
    """Run the first program of the guide and an example, and draw."""
    sys.path.insert(0, str(ROOT / "examples"))
    import fit_conductivity

    code = PAGE.read_text("utf-8").split("```python\n")[1].split("```")[0]
    names: dict[str, Any] = {}
    exec(code, names)
    print(names["fit"].plot(ROOT / "docs" / "images" / "fit-decay.png"))
    fit_conductivity.main(folder=ROOT / "out" / "fit-conductivity")
    drawn = ROOT / "out" / "fit-conductivity" / "k.png"
    drawn.replace(ROOT / "docs" / "images" / "fit-conductivity.png")


if __name__ == "__main__":
    if "--figures" in sys.argv:
        figures()
    else:
        write_sections(PAGE, sections())
