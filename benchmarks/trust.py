"""Whether a verdict can be trusted: runs made to fail or to succeed, judged, and measured apart.

    python benchmarks/trust.py run --out results/trust/cpu.json
    python benchmarks/trust.py table results/trust/cpu.json

Each run is solved and judged as any other. Its true error is then measured against a reference of
its own, with a tighter tolerance and on a grid that shares few places with that of the verdict.
Cases that are in the file already are left out.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from hcpinn import MLP, Broyden, Decay, Method, Problem, Run, find_method, find_problem, solve_batch
from hcpinn.checking import relative_errors
from hcpinn.machine.provenance import provenance
from hcpinn.reference import solve_reference

ACCURACY = 1e-3
LESSONS = 12
"""Over the whole horizon, where a run is meant to fail: enough for the loss to become small."""

Change = Callable[[Problem, Method], Method]


def _short(problem: Problem, method: Method, **changes: object) -> Method:
    return dataclasses.replace(method, **{"lessons": LESSONS, **changes})  # type: ignore[arg-type]


HANDICAPS: dict[str, tuple[str, Change]] = {
    "none": ("the method as it is", lambda p, m: m),
    "few points": ("300 points, a quarter of the parameters", lambda p, m: _short(p, m, points=300)),
    "small network": ("one layer of four", lambda p, m: _short(p, m, network=MLP(4, 1))),
    "one stage": (
        "all of the horizon at once, on fixed points, with the decay lift",
        lambda p, m: dataclasses.replace(
            m, lift=Decay(1.0), horizons=(1.0,), lessons=1, resampling=None, stages=(Broyden(steps=600),)
        ),
    ),
    "kink": ("the decay lift, which keeps the kink of u0", lambda p, m: _short(p, m, lift=Decay(1.0))),
}

CASES = [
    *[("none", name, 4) for name in ("advection", "allen-cahn-2", "gray-scott", "schrodinger")],
    *[("none", name, 4) for name in ("allen-cahn-1", "allen-cahn-dirichlet", "kuramoto-sivashinsky")],
    *[("few points", name, 4) for name in ("allen-cahn-1", "kuramoto-sivashinsky", "schrodinger")],
    *[("small network", name, 4) for name in ("allen-cahn-2", "gray-scott", "kuramoto-sivashinsky")],
    *[("one stage", name, 4) for name in ("advection", "allen-cahn-1", "cahn-hilliard")],
    ("kink", "allen-cahn-1", 4),
]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="train, judge and measure")
    run.set_defaults(do=experiment)
    run.add_argument("--out", type=Path, required=True)
    run.add_argument("--max-seconds", type=float, default=150.0, help="of training, for each case")
    table = commands.add_parser("table", help="show the outcome, as Markdown")
    table.set_defaults(do=show)
    table.add_argument("out", type=Path)
    settings = parser.parse_args()
    settings.do(settings)


def experiment(settings: argparse.Namespace) -> None:
    began = time.monotonic()
    found = json.loads(settings.out.read_text()) if settings.out.exists() else []
    settings.out.parent.mkdir(parents=True, exist_ok=True)
    for handicap, name, seeds in CASES:
        if any((f["handicap"], f["problem"]) == (handicap, name) for f in found):
            continue
        found += list(_judged(handicap, name, seeds, settings.max_seconds))
        settings.out.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{handicap:14} {name:22} {time.monotonic() - began:.0f} s so far", flush=True)
    show(settings)


def _judged(handicap: str, name: str, seeds: int, seconds: float) -> Iterator[dict]:
    problem = find_problem(name)
    method = HANDICAPS[handicap][1](problem, find_method("expert", problem))
    runs = [Run(problem, method, seed) for seed in range(seeds)]
    truth = solve_reference(problem, times=232, points=701, tolerance=1e-11)
    for solution in solve_batch(runs, accuracy=ACCURACY, max_seconds=seconds, progress=False):
        values = solution.on_grid(truth.times, *truth.coordinates)
        true = max(relative_errors(problem, values, truth.values)[0].values())
        yield {
            "handicap": handicap,
            "problem": name,
            "seed": solution.seed,
            "loss": float(np.nanmin(solution.history.loss)),
            "verdict": solution.verdict.status,
            "claimed": solution.verdict.error,
            "true": true,
            "steps": sum(count for _, count in solution.history.stages),
            "wall_s": round(solution.seconds, 1),
            "device": provenance().device,
            "versions": dict(provenance().versions),
        }


def show(settings: argparse.Namespace) -> None:
    found = json.loads(settings.out.read_text())
    print("| handicap | problem | runs | smallest loss | true error | converged | suspect | not converged |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for handicap, name, _ in CASES:
        own = [f for f in found if (f["handicap"], f["problem"]) == (handicap, name)]
        if own:
            errors = sorted(f["true"] for f in own)
            states = [f["verdict"] for f in own]
            counts = [states.count(s) for s in ("converged", "suspect", "not converged")]
            print(
                f"| {handicap} | `{name}` | {len(own)} | {min(f['loss'] for f in own):.0e} | "
                f"{errors[0]:.1e} to {errors[-1]:.1e} | {' | '.join(map(str, counts))} |"
            )
    called = [f for f in found if f["verdict"] == "converged"]
    good = [f for f in found if f["true"] <= ACCURACY]
    worst = max((f["true"] / f["claimed"] for f in called), default=0.0)
    print(
        f"\n{len(found)} runs, {len(called)} called converged; true over claimed error among these: at most "
        f"{worst:.2f}.\n{len(good)} runs have a true error of at most {ACCURACY:g}; "
        f"{sum(f['verdict'] == 'converged' for f in good)} of them are called converged."
    )


if __name__ == "__main__":
    main()
