"""Optimisers on the networks of `hcpinn study optimisers`, several processes side by side.

    python benchmarks/optimisers.py run --part 0 --parts 8 --out out/part-0.json
    python benchmarks/optimisers.py join out/part-*.json --out benchmarks/results/optimisers-xeon.json
    python benchmarks/optimisers.py show benchmarks/results/optimisers-xeon.json

A part takes every n-th run of the study, first seed only. Bind each process to cores of its own, as with
`taskset`, so that seconds can be compared.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import hcpinn as hc
from hcpinn.machine.files import write_bytes
from hcpinn.machine.provenance import provenance
from hcpinn.study.optimisers import PROBLEMS, optimisers


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run")
    run.set_defaults(do=train)
    run.add_argument("--part", type=int, default=0)
    run.add_argument("--parts", type=int, default=1)
    run.add_argument("--out", type=Path, required=True)
    whole = commands.add_parser("join")
    whole.set_defaults(do=join)
    whole.add_argument("files", type=Path, nargs="+")
    whole.add_argument("--out", type=Path, required=True)
    show = commands.add_parser("show")
    show.set_defaults(do=lambda settings: print(table(json.loads(settings.file.read_text())["rows"])))
    show.add_argument("file", type=Path)
    settings = parser.parse_args()
    settings.do(settings)


def train(settings: argparse.Namespace) -> None:
    runs = [run for section in optimisers().sections for run in section.runs if run.seed == 0]
    references: dict[str, hc.Reference] = {}
    rows: list[dict[str, Any]] = []
    for run in runs[settings.part :: settings.parts]:
        begun = time.monotonic()
        solution = hc.solve(run.problem, run.method, reference=False, progress=False)
        seconds = time.monotonic() - begun
        name = run.problem.name
        if name not in references:
            references[name] = hc.solve_reference(run.problem)
        reference = references[name]
        values = solution.on_grid(reference.times, *reference.coordinates)
        errors = [np.linalg.norm(values[n] - v) / np.linalg.norm(v) for n, v in reference.values.items()]
        rows.append(
            {
                "problem": name,
                "optimiser": run.method.name,
                "steps": len(solution.history.loss),
                "seconds": round(seconds, 2),
                "error": float(max(errors)),
            }
        )
        _write(settings.out, rows)


def join(settings: argparse.Namespace) -> None:
    _write(settings.out, [row for path in settings.files for row in json.loads(path.read_text())["rows"]])


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    facts = provenance(1)
    found = {"device": facts.device, "versions": dict(facts.versions), "rows": rows}
    write_bytes(path, (json.dumps(found, indent=1) + "\n").encode())


def table(rows: list[dict[str, Any]]) -> str:
    """The error at each budget, with its seconds, as Markdown."""
    lines = [
        "| optimiser | " + " | ".join(f"`{name}`" for name in PROBLEMS) + " |",
        "|---|" + "---|" * len(PROBLEMS),
    ]
    for optimiser in dict.fromkeys(row["optimiser"] for row in sorted(rows, key=_order)):
        cells = []
        for name in PROBLEMS:
            own = [r for r in rows if (r["optimiser"], r["problem"]) == (optimiser, name)]
            own.sort(key=lambda row: row["steps"])
            cells.append(", ".join(f"{r['error']:.0e} in {r['seconds']:.0f} s" for r in own))
        lines.append(f"| {optimiser} | " + " | ".join(cells).replace("e-0", "e-") + " |")
    return "\n".join(lines)


def _order(row: dict[str, Any]) -> int:
    from hcpinn.study.optimisers import OPTIMISERS

    return list(OPTIMISERS).index(row["optimiser"])


if __name__ == "__main__":
    main()
