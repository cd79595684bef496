"""Train the rows of the study's tables, those of one shape together, and keep their summaries.

    python benchmarks/ablation.py --tables allen-cahn-1 allen-cahn-2 --out results/h200/ablation
    python benchmarks/ablation.py --solve allen-cahn-1 causal gamma1=1e-4 --out results/h200/rivals

Each row leaves a summary; rows whose summary is there already are left out, so that a
broken-off job can be started again.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from pathlib import Path

from hcpinn import Run, find_method, find_problem, solve_batch
from hcpinn.catalog import published_rows
from hcpinn.errors import MethodError
from hcpinn.planning import check_alike


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="*", default=[], help="names of ablation tables")
    parser.add_argument("--rows", nargs="*", help="only these rows of the tables")
    parser.add_argument(
        "--solve", nargs="+", action="append", default=[], metavar=("PROBLEM", "METHOD"), help="single runs"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, help="of the first stage, in place of the method's")
    parser.add_argument("--max-seconds", type=float, help="of training, for each group")
    parser.add_argument("--out", type=Path, required=True)
    settings = parser.parse_args()
    runs: list[Run] = []
    for row in published_rows():
        wanted = settings.rows is None or row.method in settings.rows
        if wanted and row.table.removeprefix("ablation ") in settings.tables:
            runs.append(Run(row.declare(), row.train(), settings.seed))
    for name, method, *changes in settings.solve:
        values = {key: float(value) for key, value in (change.split("=") for change in changes)}
        problem = find_problem(name).with_parameters(**values)
        runs.append(Run(problem, find_method(method, problem), settings.seed))
    if settings.steps:
        runs = [Run(r.problem, _shortened(r.method, settings.steps), r.seed) for r in runs]
    settings.out.mkdir(parents=True, exist_ok=True)
    for group in _groups([run for run in runs if not _path(settings.out, run).exists()]):
        began = time.monotonic()
        for run, solution in zip(group, solve_batch(group, max_seconds=settings.max_seconds), strict=True):
            facts = {**solution.summary(), "trained_together": len(group)}
            _path(settings.out, run).write_text(json.dumps(facts, indent=1) + "\n")
            print(f"{run.problem.name:22} {run.method.name:14} {solution.rel_l2}", flush=True)
        print(f"{len(group)} runs in {time.monotonic() - began:.0f} s", flush=True)


def _shortened(method, steps):
    first = dataclasses.replace(method.stages[0], steps=steps)
    return dataclasses.replace(method, stages=(first, *method.stages[1:]))


def _groups(runs: list[Run]) -> list[list[Run]]:
    """Runs that can train together."""
    groups: list[list[Run]] = []
    for run in runs:
        for group in groups:
            try:
                check_alike([group[0], run])
            except MethodError:
                continue
            group.append(run)
            break
        else:
            groups.append([run])
    return groups


def _path(folder: Path, run: Run) -> Path:
    values = "".join(
        f"-{name}-{value:g}"
        for name, value in run.problem.parameters.items()
        if value != find_problem(run.problem.name).parameters[name]
    )
    return folder / f"{run.problem.name}{values}-{run.method.name}-{run.seed}.json"


if __name__ == "__main__":
    main()
