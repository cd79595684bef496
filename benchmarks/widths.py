"""How far gradient descent leaves what a frozen kernel predicts, as the network becomes wider.

    python benchmarks/widths.py --out results/theory/widths.json

Two problems with exact initial data, the study's lift and gate, ten Fourier modes and networks of two layers.
The difference is |ρ measured − ρ predicted| over |ρ predicted − ρ₀| at λ₁τ = 1.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import hcpinn as hc
from hcpinn.machine.commit import source_commit
from hcpinn.machine.provenance import provenance
from hcpinn.theory import System, descend, freeze, hard_method

PROBLEMS = ("advection", "allen-cahn-1")
WIDTHS = (32, 128, 512)
POINTS, STEPS, MODES, LAYERS = 64, 100, 10, 2


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    rows = []
    for problem in PROBLEMS:
        for width in WIDTHS:
            found = [_difference(problem, width, seed) for seed in range(chosen.seeds)]
            rows.append({"problem": problem, "width": width, "differences": found})
            print(f"{problem} {width}: " + ", ".join(f"{value:.2%}" for value in found), flush=True)
    told = provenance()
    facts = {"device": told.device, "versions": dict(told.versions), "commit": source_commit()}
    settings = {"points": POINTS, "steps": STEPS, "modes": MODES, "layers": LAYERS}
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(json.dumps({"settings": settings, **facts, "rows": rows}, indent=1) + "\n", "utf-8")


def _difference(name: str, width: int, seed: int) -> float:
    problem = hc.find_problem(name)
    row = hc.find_method("paper", problem)
    method = hard_method(problem, replace(row, embedding=hc.Fourier(MODES), network=hc.MLP(width, LAYERS)))
    system = System(problem, method, points=POINTS, seed=seed)
    frozen = freeze(system.tangent())
    descent = descend(system, step=1.0 / STEPS / float(frozen.eigenvalues[0]), counts=[STEPS])
    return descent.deviations(frozen)[-1]


if __name__ == "__main__":
    main()
