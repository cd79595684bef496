"""How the cost of a training step grows: points, width, depth, order, fields, dimensions, runs in a batch.

    python benchmarks/growth.py run --out benchmarks/results/growth-cpu.json
    python benchmarks/growth.py figure benchmarks/results/growth-cpu.json --out docs/images/growth-cpu.png
    python benchmarks/growth.py table benchmarks/results/growth-cpu.json

A case that would take longer than `--limit` seconds, and one beyond `--max-points`, is left out and named.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hcpinn.errors import HcpinnError
from hcpinn.machine.files import write_bytes
from hcpinn.machine.programs import keep_programs
from hcpinn.solution.canvas import BLUE, GREY, ORANGE, finish, subplots
from hcpinn.speed import BenchCase, BenchRow, Ceilings, measure_case, measure_ceilings
from hcpinn.speed.bench import circumstances, load_average

TITLES = {"points": "residual points", "order": "order of the equation", "runs": "runs in a batch"}

BASE = BenchCase(points=8192, modes=2)
"""The start of all sweeps: second order, one field, one dimension, 7×32, one run, few features."""

SWEEPS: Mapping[str, tuple[int, ...]] = {
    "points": (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
    "width": (8, 16, 32, 64, 128, 256),
    "depth": (1, 2, 4, 8, 16),
    "order": (1, 2, 3, 4, 5, 6),
    "fields": (1, 2, 3, 4),
    "dimensions": (1, 2, 3),
    "runs": (1, 2, 4, 8, 16, 32, 64),
}


@dataclass(frozen=True)
class Left:
    """A case that was left out, and why."""

    case: BenchCase
    why: str


def sweep(
    what: str,
    ceilings: Ceilings,
    *,
    base: BenchCase = BASE,
    values: Sequence[int] | None = None,
    rounds: int = 5,
    limit: float = 60.0,
) -> Iterator[BenchRow | Left]:
    """Time steps that differ in one thing, from the smallest on.

    A case whose calls, forecast from the case before, would take longer than `limit` seconds is left out.
    """
    last: BenchRow | None = None
    for value in SWEEPS[what] if values is None else values:
        case = dataclasses.replace(base, **{what: value})
        if last is not None:
            # The first call, which compiles, a second one and one round: three steps at the least.
            expected = 3 * last.time * value / getattr(last.case, what)
            if expected > limit:
                yield Left(case, f"it would take about {expected:.0f} s, more than {limit:.0f} s")
                continue
        last = measure_case(case, ceilings, rounds=rounds, limit=limit)
        yield last


def slope(values: Sequence[float], times: Sequence[float]) -> float:
    """The power p in time ∝ valueᵖ, by least squares over the larger half of the values, or all of a few."""
    half = len(values) // 2 if len(values) > 6 else 0
    return float(np.polyfit(np.log(values[half:]), np.log(times[half:]), 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="measure")
    run.set_defaults(do=measure)
    run.add_argument("--only", nargs="*", choices=list(SWEEPS), default=list(SWEEPS))
    run.add_argument("--precision", choices=["float32", "float64"], default=BASE.precision)
    run.add_argument("--points", type=int, default=BASE.points, help="where points are not what grows")
    run.add_argument("--max-points", type=int, default=max(SWEEPS["points"]))
    run.add_argument("--limit", type=float, default=60.0, help="seconds of steps for a single case")
    run.add_argument("--rounds", type=int, default=5)
    run.add_argument("--out", type=Path, required=True)
    for name, do, about in (("figure", draw, "draw what a file holds"), ("table", show, "as Markdown")):
        command = commands.add_parser(name, help=about)
        command.set_defaults(do=do)
        command.add_argument("file", type=Path)
        if name == "figure":
            command.add_argument("--out", type=Path, required=True)
    settings = parser.parse_args()
    settings.do(settings)


def measure(settings: argparse.Namespace) -> None:
    keep_programs()
    record = circumstances("python benchmarks/growth.py", sys.argv[1:])
    ceilings = measure_ceilings(settings.precision)
    base = dataclasses.replace(BASE, precision=settings.precision, points=settings.points)
    record["ceilings"] = {settings.precision: dataclasses.asdict(ceilings)}
    record["sweeps"], record["left_out"] = {}, []
    for what in settings.only:
        rows = record["sweeps"][what] = []
        values = [v for v in SWEEPS[what] if what != "points" or v <= settings.max_points]
        found = sweep(what, ceilings, base=base, values=values, rounds=settings.rounds, limit=settings.limit)
        for row in found:
            if isinstance(row, Left):
                record["left_out"].append({**dataclasses.asdict(row.case), "why": row.why})
                print(f"{what} {getattr(row.case, what):>10,}  left out: {row.why}")
                continue
            rows.append(row.plain())
            print(
                f"{what} {getattr(row.case, what):>10,}  {1e3 * row.time:9.3g} ms  {row.ratio:6.2f} × floor",
                flush=True,
            )
        record["load_average_at_the_end"] = load_average()
        write_bytes(settings.out, (json.dumps(record, indent=1) + "\n").encode())
    print(f"written to {settings.out}")


def series(record: dict[str, Any], what: str) -> tuple[list[float], list[float], list[float]]:
    """Values, seconds per step, and floors."""
    rows = record["sweeps"][what]
    return [r[what] for r in rows], [r["time"] for r in rows], [r["floor"] for r in rows]


def draw(settings: argparse.Namespace) -> None:
    record = read(settings.file)
    names = [name for name in SWEEPS if record["sweeps"].get(name)]
    across = min(4, len(names) + 1)  # the last panel is for the legend
    down = -(-(len(names) + 1) // across)
    figure, axes = subplots(down, across, (3.25 * across, 3.0 * down))
    panels = np.ravel(axes)
    for axis, what in zip(panels, names, strict=False):
        values, times, floors = series(record, what)
        axis.loglog(values, [1e3 * t for t in times], "o-", color=BLUE, markersize=4, label="measured")
        axis.loglog(values, [1e3 * t for t in floors], "--", color=ORANGE, label="floor of this machine")
        if len(values) > 1:
            power = slope(values, times)
            fitted = [1e3 * times[-1] * (value / values[-1]) ** power for value in values]
            axis.loglog(values, fitted, ":", color=GREY, label="fitted power")
            axis.set_title(f"time ∝ n^{power:.2f}")
        axis.set_xlabel(TITLES.get(what, what))
        if len(values) < 8 and what != "points":
            axis.set_xticks(values, [str(v) for v in values])
            axis.minorticks_off()
        axis.grid(True, which="major", color=GREY, alpha=0.2)
    for axis in panels[::across]:
        axis.set_ylabel("ms per step")
    for axis in panels[len(names) :]:
        axis.set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    panels[-1].legend(handles, labels, loc="center", frameon=False)
    finish(figure, settings.out)
    print(f"drawn in {settings.out}")


def show(settings: argparse.Namespace) -> None:
    print("\n".join(markdown(read(settings.file))))


def markdown(record: dict[str, Any]) -> list[str]:
    """A line for each sweep."""
    lines = [
        "| what grows | from … to | ms per step | power | over floor |",
        "| --- | --- | --- | --- | --- |",
    ]
    for what in SWEEPS:
        if not record["sweeps"].get(what):
            continue
        values, times, floors = series(record, what)
        power = f"{slope(values, times):.2f}" if len(values) > 1 else ""
        ratios = [t / f for t, f in zip(times, floors, strict=True)]
        lines.append(
            f"| {TITLES.get(what, what)} | {values[0]:,} … {values[-1]:,} | "
            f"{1e3 * times[0]:.3g} … {1e3 * times[-1]:.3g} | {power} | {ratios[0]:.1f} … {ratios[-1]:.1f} |"
        )
    return lines


def read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SystemExit(f"Cannot read {path}: {error}") from error
    if "sweeps" not in record:
        raise SystemExit(f"{path} holds no growth of a step's cost.")
    return record


if __name__ == "__main__":
    try:
        main()
    except HcpinnError as error:
        raise SystemExit(f"Error: {error}") from error
