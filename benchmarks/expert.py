"""How accurate the expert method is, and how fast: every problem of the catalogue, several seeds.

    python benchmarks/expert.py run --accuracy 1e-6 --max-seconds 60 --out results/expert/h200.json
    python benchmarks/expert.py own --accuracy 1e-5 --seed 3 --out results/expert/own-cpu.json
    python benchmarks/expert.py table results/expert/h200.json

The file has the summaries of all runs, by problem; problems that are in it are left out, so that a
broken-off job can be started again. `--together` trains the seeds of a problem at once.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np

from hcpinn import Run, Solution, find_method, find_problem, solve, solve_batch, solve_reference
from hcpinn.catalog import ENTRIES
from hcpinn.machine.files import write_bytes
from manufactured import draw
from others import OTHERS


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="train")
    run.set_defaults(do=train)
    run.add_argument(
        "--problems", nargs="*", default=list(ENTRIES), help="of the catalogue, or of benchmarks/others.py"
    )
    run.add_argument("--seeds", type=int, default=5)
    run.add_argument("--together", nargs="*", default=[], help="problems whose seeds train at once")
    run.add_argument("--accuracy", type=float, default=1e-6, help="where training stops")
    run.add_argument("--max-seconds", type=float, default=60.0, help="of each training")
    run.add_argument("--out", type=Path, required=True)
    own = commands.add_parser("own", help="train on manufactured problems, whose solutions are known")
    own.set_defaults(do=manufactured)
    own.add_argument("--seed", type=int, default=3, help="from which problems are drawn")
    own.add_argument("--accuracy", type=float, default=1e-5)
    own.add_argument("--max-seconds", type=float, default=60.0)
    own.add_argument("--out", type=Path, required=True)
    table = commands.add_parser("table", help="show what was found, as Markdown")
    table.set_defaults(do=show)
    table.add_argument("file", type=Path)
    settings = parser.parse_args()
    settings.do(settings)


def train(settings: argparse.Namespace) -> None:
    found = json.loads(settings.out.read_text()) if settings.out.exists() else {}
    began = time.monotonic()
    for name in settings.problems:
        if name in found:
            continue
        problem = OTHERS[name] if name in OTHERS else find_problem(name)
        trusted = solve_reference(problem)
        runs = [Run(problem, find_method("expert", problem), seed) for seed in range(settings.seeds)]
        options = {
            "accuracy": settings.accuracy,
            "max_seconds": settings.max_seconds,
            "reference": trusted,
            "progress": False,
        }
        if name in settings.together:
            solutions = solve_batch(runs, **options)
        else:
            solutions = [solve(r.problem, r.method, seed=r.seed, **options) for r in runs]
        together = len(runs) if name in settings.together else 1
        found[name] = facts = [{**described(s), "trained_together": together} for s in solutions]
        write_bytes(settings.out, (json.dumps(found, indent=1) + "\n").encode())
        print(line(name, facts), f"({time.monotonic() - began:.0f} s so far)", flush=True)


def manufactured(settings: argparse.Namespace) -> None:
    """One problem of each family with a known solution: true errors beside estimates."""
    found = json.loads(settings.out.read_text()) if settings.out.exists() else []
    done = {row["name"] for row in found}
    for known in draw(settings.seed):
        if known.family in done:
            continue
        begun = time.monotonic()
        solution = solve(
            known.problem,
            "expert",
            accuracy=settings.accuracy,
            max_seconds=settings.max_seconds,
            reference=False,
            progress=False,
        )
        row = {
            "name": known.family,
            "asked": settings.accuracy,
            "error": known.error(solution),
            "estimate": solution.estimated_error,
            "stop": solution.stop.name,
            "engine": solution.function.engine,
            "seconds": round(time.monotonic() - begun, 2),
        }
        found.append(row)
        write_bytes(settings.out, (json.dumps(found, indent=1) + "\n").encode())
        print(row, flush=True)


def described(solution: Solution) -> dict:
    """The summary of a run, its size, and its errors half way and at the end."""
    reference = solution.reference
    assert reference is not None
    middle = [len(reference.times) // 2, len(reference.times) - 1]
    problem = solution.problem
    values = problem.real_parts(solution.on_grid(reference.times[middle], *reference.coordinates))
    exact = problem.real_parts({n: v[middle] for n, v in reference.values.items()})
    at = {
        f"{reference.times[m]:g}": {
            n: float(np.linalg.norm(values[n][k] - v[k]) / np.linalg.norm(v[k])) for n, v in exact.items()
        }
        for k, m in enumerate(middle)
    }
    network = solution.method.network
    return {
        **solution.summary(),
        "rel_l2_at": at,
        "network": f"{network.depth}×{network.width}",  # type: ignore[attr-defined]
        "points": solution.method.points,
    }


def line(name: str, facts: list[dict]) -> str:
    """One row of the table: medians over seeds, and the worst."""
    fields = list(facts[0]["rel_l2"])
    middle = " / ".join(f"{statistics.median(f['rel_l2'][n] for f in facts):.1e}" for n in fields)
    worst = " / ".join(f"{max(f['rel_l2'][n] for f in facts):.1e}" for n in fields)
    steps = statistics.median(f["steps"] for f in facts)
    seconds = statistics.median(f["wall_s"] for f in facts)
    first = facts[0]
    return (
        f"| `{name}` | {middle} | {worst} | {seconds:.0f} | {steps:,.0f} | {first['network']} | "
        f"{first['parameters_trained']:,} | {first['points']:,} | {first['trained_together']} |"
    )


def show(settings: argparse.Namespace) -> None:
    print(
        "| problem | median error | worst | seconds | steps | network | parameters | points | together |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    found = json.loads(settings.file.read_text())
    for name in (*ENTRIES, *OTHERS):
        if name in found:
            print(line(name, found[name]))


if __name__ == "__main__":
    main()
