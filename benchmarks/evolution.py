"""How accurate `evolve` is, how honest its estimate, and how long it takes.

    python benchmarks/evolution.py --seeds 0 --out benchmarks/results/evolution-cpu.json
    python benchmarks/evolution.py --seeds 1 --only burgers_front sharp_front --out /tmp/some.json

Problems with a known solution, drawn by seed from `manufactured.py`, are measured against it; those of the
catalogue and a few well-known ones against the classical reference. The engine sees neither. Seconds are
those of `evolve`, compilation included.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

import hcpinn as hc
from hcpinn.catalog import ENTRIES
from hcpinn.evolution import Evolved, Function, evolve
from hcpinn.machine.precision import double
from hcpinn.machine.provenance import provenance
from hcpinn.reference import solve_reference
from manufactured import Known, draw

_TIGHT, _TIGHT_IN_SPACE = 1e-12, 1e-9
"""What references are refined to, in one dimension and in more: the judge must be better than the judged."""

_ROUNDING = 1e-12
"""Errors and estimates below it are rounding."""

Case = tuple[str, hc.Problem, Callable[[Evolved], tuple[float, float]]]
"""A name, a problem, and the error of a solution of it, with the error of what it is compared with."""


class _OnGrid:
    """An evolved function as a solution, as far as measuring an error asks for one."""

    def __init__(self, problem: hc.Problem, function: Function):
        self.problem, self.function = problem, function

    def on_grid(self, *axes: np.ndarray) -> dict[str, np.ndarray]:
        components = np.moveaxis(self.function.on_grid(*axes), 0, -1)
        return dict(zip(self.problem.fields, self.problem.to_fields(components), strict=True))


def with_known_solution(seeds: int) -> Iterator[Case]:
    """Every family of manufactured problems, once per seed."""
    for seed in range(seeds):
        for known in draw(seed):
            yield f"{known.family}/{seed}", known.problem, partial(_against_known, known)


def _against_known(known: Known, evolved: Evolved) -> tuple[float, float]:
    assert evolved.function is not None
    return known.error(_OnGrid(evolved.problem, evolved.function)), 0.0


def with_reference() -> Iterator[Case]:
    """The catalogue, and benchmarks others have published on."""
    line, pi = hc.Interval(-1, 1), np.pi
    problems = {name: entry.problem for name, entry in ENTRIES.items()}
    problems |= {
        "allen-cahn-1, γ₁ = 1e-4": hc.find_problem("allen-cahn-1").with_parameters(gamma1=1e-4),
        "advection, c = 40": hc.find_problem("advection").with_parameters(c=40.0),
        "kuramoto-sivashinsky, chaotic": hc.Problem(
            domain=hc.Interval(0, 2 * pi),
            horizon=1.0,
            rhs=lambda u: -100 / 16 * u * u.x - 100 / 16**2 * u.xx - 100 / 16**4 * u.xxxx,
            initial=lambda x: jnp.cos(x) * (1 + jnp.sin(x)),
        ),
        "kuramoto-sivashinsky, −sin πx": hc.Problem(
            domain=line,
            horizon=1.0,
            rhs=lambda u: -5 * u * u.x - 0.5 * u.xx - 0.005 * u.xxxx,
            initial=lambda x: -jnp.sin(pi * x),
        ),
        "burgers, 0.01/π": hc.Problem(
            domain=line,
            horizon=1.0,
            boundary=hc.Dirichlet(0.0),
            rhs=lambda u: 0.01 / pi * u.xx - u * u.x,
            initial=lambda x: -jnp.sin(pi * x),
        ),
        "korteweg-de-vries, 0.022²": hc.Problem(
            domain=line,
            horizon=1.0,
            rhs=lambda u: -u * u.x - 0.022**2 * u.xxx,
            initial=lambda x: jnp.cos(pi * x),
        ),
    }
    for name, problem in problems.items():
        yield name, problem, _against_reference


def _against_reference(evolved: Evolved) -> tuple[float, float]:
    tight = _TIGHT if len(evolved.problem.space) == 1 else _TIGHT_IN_SPACE
    reference = solve_reference(evolved.problem, tolerance=tight)
    assert evolved.function is not None
    found = evolved.function.on_grid(reference.times, *reference.coordinates)
    trusted = evolved.problem.real_parts(reference.values).values()
    errors = [np.linalg.norm(u - v) / np.linalg.norm(v) for u, v in zip(found, trusted, strict=True)]
    return float(max(errors)), reference.error_estimate


def measure(case: Case, accuracy: float, limit: float) -> dict[str, Any]:
    """One problem solved, timed and compared."""
    name, problem, error = case
    begun, processor = time.perf_counter(), time.process_time()
    evolved = evolve(problem, accuracy=accuracy, max_seconds=limit)
    seconds, processor = time.perf_counter() - begun, time.process_time() - processor
    true = doubt = float("nan")
    if evolved.function is not None:
        with double():
            true, doubt = error(evolved)
    return {
        "name": name,
        "error": true,
        "doubt": doubt,
        "estimate": evolved.estimated_error,
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
        "stop": evolved.stop.name,
        "features": [p.features for p in evolved.passes],
        "rank": evolved.passes[-1].rank if evolved.passes else 0,
        "steps": evolved.passes[-1].steps if evolved.passes else 0,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--accuracy", type=float, default=1e-6)
    parser.add_argument("--seeds", type=int, default=2, help="problems per manufactured family")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per problem")
    parser.add_argument("--only", nargs="*", help="names that contain one of these")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--remark", default="", help="a sentence to keep with the results")
    options = parser.parse_args()
    origin, rows = provenance(), []
    facts = {"device": origin.device, "versions": dict(origin.versions), "remark": options.remark}
    print(f"{'problem':32s} {'error':>8s} {'doubt':>8s} {'estimate':>8s} {'seconds':>8s}  stop")
    for group in (with_known_solution(options.seeds), with_reference()):
        for case in group:
            if options.only and not any(part in case[0] for part in options.only):
                continue
            row = measure(case, options.accuracy, options.limit)
            rows.append(row)
            print(
                f"{row['name']:32s} {row['error']:8.1e} {row['doubt']:8.1e} {row['estimate']:8.1e} "
                f"{row['seconds']:8.1f}  "
                f"{row['stop']} {row['features']} rank {row['rank']} steps {row['steps']} "
                f"cpu {row['processor_seconds']}",
                flush=True,
            )
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(
                json.dumps({"accuracy": options.accuracy, **facts, "rows": rows}, indent=1) + "\n"
            )
    summarise(rows)


def ratio(row: dict[str, Any]) -> float:
    """The estimate over the error, as far as that is known, both at least rounding."""
    return max(row["estimate"], _ROUNDING) / max(row["error"] - row["doubt"], _ROUNDING)


def summarise(rows: list[dict[str, Any]]) -> None:
    """How far estimate and truth lie apart, above what rounding leaves of either and what is in doubt."""
    ratios = np.array([ratio(row) for row in rows if row["error"] > 0])
    print(
        f"{len(rows)} problems; the true error is at most 3 estimates in {np.mean(ratios >= 1 / 3):.0%} and "
        f"the estimate at most 30 true errors in {np.mean(ratios <= 30):.0%}; "
        f"median {np.median([r['seconds'] for r in rows]):.1f} s"
    )


if __name__ == "__main__":
    main()
