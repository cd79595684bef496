"""How the cost of an evolution grows: functions, points, fields and dimensions.

    python benchmarks/evolution_growth.py run --out benchmarks/results/evolution_growth-cpu.json
    python benchmarks/evolution_growth.py figure benchmarks/results/evolution_growth-cpu.json \
        --out docs/images/evolution-growth-cpu.png

Each case solves uₜ = 0.02 Δu + u − u³, periodic, on one basis to a fixed tolerance, after a first time that
compiles, and divides its seconds of the processor by its time steps. Where functions grow, there are two
points for each, as in the engine's passes.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from threadpoolctl import threadpool_limits

import hcpinn as hc
from growth import slope
from hcpinn.evolution.basis import Bases, Basis, orthonormal, quadrature
from hcpinn.evolution.features import sample
from hcpinn.evolution.lift import Carrier
from hcpinn.evolution.pointwise import Pointwise
from hcpinn.evolution.projection import Projection
from hcpinn.evolution.radau import Track, integrate
from hcpinn.evolution.walls import walls_along
from hcpinn.machine.files import write_bytes
from hcpinn.machine.precision import double
from hcpinn.machine.provenance import provenance
from hcpinn.solution.canvas import BLUE, GREY, finish, subplots
from manufactured import with_arguments

_STAGES, _TOLERANCE = 5, 1e-8


@dataclass(frozen=True)
class Case:
    """One basis; `functions` and `points` are those of each axis."""

    functions: int = 200
    points: int = 400
    fields: int = 1
    dimensions: int = 1


SWEEPS: dict[str, list[Case]] = {
    "functions": [Case(n, 2 * n) for n in (50, 100, 200, 400, 800)],
    "points": [Case(200, n) for n in (400, 800, 1600, 3200, 6400)],
    "fields": [Case(100, 200, n) for n in (1, 2, 3, 4)],
    "functions per axis, 2D": [Case(n, 2 * n, 1, 2) for n in (10, 20, 40, 80)],
    "functions per axis, 3D": [Case(n, 2 * n, 1, 3) for n in (6, 9, 14, 20)],
}
"""What grows, case by case."""


def problem_of(case: Case) -> hc.Problem:
    """The equation in so many fields, coupled in a ring, and dimensions."""
    names = "uvwp"[: case.fields]

    def laplacian(u: Any) -> Any:
        return sum(getattr(u, 2 * axis) for axis in "xyz"[: case.dimensions])

    def rhs(*fields: Any) -> Any:
        rates = tuple(
            0.02 * laplacian(u) + u - u * fields[(n + 1) % case.fields] ** 2 for n, u in enumerate(fields)
        )
        return rates if case.fields > 1 else rates[0]

    def initial(*space: Any) -> Any:
        values = tuple(
            sum(jnp.sin(2 * jnp.pi * (x + 0.1 * n)) for x in space) / 2 + 0.1 for n in range(case.fields)
        )
        return values if case.fields > 1 else values[0]

    with_arguments(rhs, names)
    with_arguments(initial, "xyz"[: case.dimensions])
    return hc.Problem(
        name="growth",
        domain=hc.Interval(0, 1) if case.dimensions == 1 else hc.Box(*[(0, 1)] * case.dimensions),
        horizon=1.0,
        boundary=hc.Periodic(),
        rhs=rhs,
        initial=initial,
    )


def measure(case: Case) -> dict[str, Any]:
    """Seconds of the processor per time step, once all is compiled."""
    problem = problem_of(case)
    rng = np.random.default_rng(0)
    with double(), threadpool_limits(1, user_api="blas"):
        bases = []
        for axis in range(case.dimensions):
            (wall,), of = walls_along(problem, axis)
            layer = sample(
                4 * case.functions, 0.0, 1.0, periodic=True, wall=wall, density=None, steepest=2.0, rng=rng
            )
            points, weights = quadrature(case.points, 0.0, 1.0, periodic=True, density=None)
            full = orthonormal(layer, points, weights, order=2, cut=0.0)
            bases.append(Bases.join([_first(full, case.functions)], of))
        projection = Projection(problem, Pointwise(problem), Carrier(problem), bases)

        def solve() -> Track:
            track = Track(_STAGES, [0.0], [])
            integrate(projection, projection.start(), (0.0, 1.0), track, _TOLERANCE)
            return track

        solve()
        begun = time.process_time()
        track = solve()
        spent = time.process_time() - begun
    return {
        **asdict(case),
        "unknowns": projection.unknowns,
        "steps": track.steps,
        "seconds_per_step": spent / track.steps,
    }


def _first(basis: Basis, count: int) -> Basis:
    """The smoothest functions of a basis."""
    assert basis.rank >= count
    layer = replace(basis.layer, mix=basis.layer.mix[:, :count])
    return Basis(layer, basis.points, basis.weights, tuple(v[:, :count] for v in basis.values))


def run(options: argparse.Namespace) -> None:
    origin, sweeps = provenance(), {}
    facts = {"device": origin.device, "versions": dict(origin.versions)}
    for what, cases in SWEEPS.items():
        sweeps[what] = []
        for case in cases:
            row = measure(case)
            sweeps[what].append(row)
            told = f"{row['unknowns']:7,} unknowns, {row['points']:5,} points per axis, {row['steps']} steps"
            print(f"{what:24s} {told}: {1e3 * row['seconds_per_step']:8.1f} ms per step", flush=True)
        write_bytes(options.out, (json.dumps({**facts, "sweeps": sweeps}, indent=1) + "\n").encode())


def draw(options: argparse.Namespace) -> None:
    sweeps = json.loads(options.file.read_text("utf-8"))["sweeps"]
    figure, axes = subplots(1, len(sweeps), (3.0 * len(sweeps), 2.9))
    for axis, (what, rows) in zip(axes[0], sweeps.items(), strict=True):
        values, times = series(what, rows)
        grown = power(values, times)
        axis.loglog(values, times, "o-", color=BLUE, markersize=4)
        axis.loglog(values, [times[-1] * (v / values[-1]) ** grown for v in values], ":", color=GREY)
        axis.set(xlabel=what, title=f"time ∝ n^{grown:.1f}")
        axis.set_xticks(values, [f"{v:,}" for v in values])
        axis.minorticks_off()
        axis.grid(True, color=GREY, alpha=0.2)
    axes[0][0].set_ylabel("ms per time step")
    finish(figure, options.out)


def series(what: str, rows: list[dict[str, Any]]) -> tuple[list[int], list[float]]:
    """What grows, and milliseconds per time step."""
    key = "functions" if what.startswith("functions") else what
    return [row[key] for row in rows], [1e3 * row["seconds_per_step"] for row in rows]


def power(values: list[int], times: list[float]) -> float:
    """The power with which time grows in the end, from the last three cases."""
    return slope(values[-3:], times[-3:])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    for name, do, about in (("run", run, "measure"), ("figure", draw, "draw what a file holds")):
        command = commands.add_parser(name, help=about)
        command.set_defaults(do=do)
        if name == "figure":
            command.add_argument("file", type=Path)
        command.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
