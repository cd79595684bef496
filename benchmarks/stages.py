"""Milliseconds per step of the study's own stages, alone and together: Adam and L-BFGS, with all its parts.

    python benchmarks/stages.py run --out benchmarks/results/stages-cpu.json
    python benchmarks/stages.py table benchmarks/results/stages-cpu.json

Each row is a method at its full number of points, from the initial parameters: time per step for one run,
and, for the study's own methods, per run and step for several seeds that train together. Beside it stands how
far the gradient is from the one without fused kernels, relative, in the stage's own precision.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np

from hcpinn import Run, find_method, find_problem
from hcpinn.jets.fused import SWITCH
from hcpinn.machine.files import write_bytes
from hcpinn.machine.precision import double
from hcpinn.machine.programs import keep_programs
from hcpinn.speed import TrainingStep, time_steps
from hcpinn.speed.bench import circumstances

ROWS = [
    ("allen-cahn-1", "pbc+ic1", 0),
    ("allen-cahn-1", "pbc+ic1+sa", 0),
    ("allen-cahn-1", "pbc+ic1+mb", 0),
    ("allen-cahn-1", "baseline", 0),
    ("allen-cahn-1", "pbc+ic1", 1),
    ("kuramoto-sivashinsky", "pbc+ic1", 0),
    ("kuramoto-sivashinsky", "pbc+ic1", 1),
]
"""Problem, method and number of the stage."""

ALONE = [
    ("allen-cahn-1", "rba-50k", 0),
    ("allen-cahn-1", "rba", 0),
    ("allen-cahn-1", "causal", 0),
]
"""Rivals with other networks, timed one run at a time."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="measure")
    run.set_defaults(do=measure)
    run.add_argument(
        "--together", type=int, nargs="*", default=[12, 64], help="how many runs share a program"
    )
    run.add_argument("--rounds", type=int, default=5)
    run.add_argument("--seconds", type=float, default=0.2, help="of each round, about")
    run.add_argument("--out", type=Path, required=True)
    table = commands.add_parser("table", help="show what was found, as Markdown")
    table.set_defaults(do=lambda options: print("\n".join(markdown(json.loads(options.file.read_text())))))
    table.add_argument("file", type=Path)
    options = parser.parse_args()
    options.do(options)


def measure(options: argparse.Namespace) -> None:
    keep_programs()
    record = circumstances("python benchmarks/stages.py", sys.argv[1:])
    rows = record["rows"] = []
    together = options.together or ([4] if jax.default_backend() == "cpu" else [12, 64])
    for problem, method, stage in (*ROWS, *ALONE):
        alone = (problem, method, stage) in ALONE
        for count in (1,) if alone else (1, *together):
            rows.append({**one(problem, method, stage, count, options), "alone": alone})
            print(describe(rows[-1]), flush=True)
            write_bytes(options.out, (json.dumps(record, indent=1) + "\n").encode())


def one(problem: str, method: str, stage: int, count: int, options: argparse.Namespace) -> dict[str, Any]:
    """Time one stage, several seeds of it together."""
    declared = find_problem(problem)
    own = find_method(method, declared)
    runs = [Run(declared, own, seed) for seed in range(count)]
    step = TrainingStep(runs, stage=stage)
    apart = difference(runs, stage, step) if count == 1 else None
    # As many steps as last about a tenth of a second on a GPU, and no more than the driver takes at once.
    steps = min(step.block, max(2, 1000 // count))
    timing = time_steps(
        lambda: step.advance(steps), steps=steps, rounds=options.rounds, seconds=options.seconds, limit=30.0
    )
    return {
        "problem": problem,
        "method": method,
        "stage": own.stages[stage].label,
        "precision": own.stages[stage].precision,
        "runs": count,
        "time": timing.median,
        "fastest": timing.fastest,
        "slowest": timing.slowest,
        "compiling": timing.compiling,
        "rounds": timing.rounds,
        "gradient_apart": apart,
    }


def difference(runs: list[Run], stage: int, fused: TrainingStep) -> float:
    """How far the gradient is from the one without fused kernels, relative."""
    before = os.environ.get(SWITCH)
    os.environ[SWITCH] = "off"
    try:
        plain = gradient(TrainingStep(runs, stage=stage))
    finally:
        os.environ.pop(SWITCH) if before is None else os.environ.update({SWITCH: before})
    return float(np.linalg.norm(gradient(fused) - plain) / np.linalg.norm(plain))


def gradient(step: TrainingStep) -> np.ndarray:
    """The gradient of each run's loss, all weights one."""
    with double():
        measure = jax.vmap(step.program.objective.measure, in_axes=(0, step.program.axes))
        return np.asarray(jax.jit(measure)(step.carry.theta, step.data).gradient, np.float64)


def describe(row: dict[str, Any]) -> str:
    each = 1e3 * row["time"] / row["runs"]
    return f"{row['problem']}, {row['method']}, {row['stage']}, {row['runs']} runs: {each:.4f} ms per run"


def markdown(record: dict[str, Any]) -> list[str]:
    """A row for each stage, a column for each number of runs."""
    counts = sorted({row["runs"] for row in record["rows"]})
    heads = ["problem", "method", "stage", "one run, ms"]
    heads += [f"{count} together, ms per run" for count in counts[1:]] + ["gain", "gradient apart"]
    lines = ["| " + " | ".join(heads) + " |", "| --- | --- | --- |" + " --: |" * (len(heads) - 3)]
    stages: dict[tuple[str, str, str], dict[int, dict[str, Any]]] = {}
    for row in record["rows"]:
        stages.setdefault((row["problem"], row["method"], row["stage"]), {})[row["runs"]] = row
    for (problem, method, stage), own in stages.items():
        alone = own[1].get("alone", False)
        if set(own) != set(counts) and not alone:  # broken off here
            continue
        each = [1e3 * own[count]["time"] / count for count in counts if count in own]
        found = [problem, f"`{method}`", f"{stage}, {own[1]['precision']}", *(f"{t:.3g}" for t in each)]
        found += [""] * len(counts) if alone else [f"{each[0] / min(each):.2g}×"]
        found.append(f"{own[1]['gradient_apart']:.1e}")
        lines.append("| " + " | ".join(found) + " |")
    return lines


if __name__ == "__main__":
    main()
