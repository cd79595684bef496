"""How many points to take through the network at once: the time of a step against the size of a chunk.

    python benchmarks/chunks.py run --out benchmarks/results/chunks-cpu.json
    python benchmarks/chunks.py table benchmarks/results/chunks-cpu.json

Rounds go from one size to the next, so that a noisy machine is noisy for all. Beside the time stands the
CPU time of all cores, which others disturb less but which does not show a core that waits.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import jax

from hcpinn.files import write_bytes
from hcpinn.speed import Case
from hcpinn.speed.record import load_average, origin

CASES = {
    "7×32": Case(),
    "7×32, float64": Case(precision="float64"),
    "7×32, fourth order, float64": Case(order=4, precision="float64"),
    "3×20, 3,072 points, float64": Case(width=20, depth=3, modes=5, points=3072, precision="float64"),
    "4×128": Case(width=128, depth=4, points=8192),
}
SIZES = (256, 512, 1024, 2048, 4096, 8192, 16_384)
SECONDS = 0.1
"""What a round of a case lasts, at about two million points a second."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="measure")
    run.set_defaults(do=measure)
    run.add_argument("--rounds", type=int, default=9)
    run.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES))
    run.add_argument("--out", type=Path, required=True)
    table = commands.add_parser("table", help="as Markdown")
    table.set_defaults(do=lambda settings: print("\n".join(markdown(json.loads(settings.file.read_text())))))
    table.add_argument("file", type=Path)
    settings = parser.parse_args()
    settings.do(settings)


def measure(settings: argparse.Namespace) -> None:
    record = origin("python benchmarks/chunks.py", sys.argv[1:])
    record["cases"] = {}
    for name in settings.only:
        record["cases"][name] = times(CASES[name], settings.rounds)
        print(name, record["cases"][name], flush=True)
        record["load_average_at_the_end"] = load_average()
        write_bytes(settings.out, (json.dumps(record, indent=1) + "\n").encode())


def times(case: Case, rounds: int) -> dict[str, Any]:
    """Milliseconds per step for each size, by the clock and of CPU, and the size hcpinn takes by itself."""
    steps = {size: case.step(chunk=size) for size in SIZES if size < 2 * case.points}
    count = max(1, round(SECONDS * 2e6 / case.points))
    found: dict[int, list[tuple[float, float]]] = {size: [] for size in steps}
    for _ in range(rounds + 1):
        for size, step in steps.items():
            clock, cpu = time.perf_counter(), time.process_time()
            jax.block_until_ready(step.advance(count))
            spent = time.perf_counter() - clock, time.process_time() - cpu
            found[size].append((1e3 * spent[0] / count, 1e3 * spent[1] / count))
    rows = {
        str(size): dict(
            zip(("ms", "cpu_ms"), map(statistics.median, zip(*each[1:], strict=True)), strict=True)
        )
        for size, each in found.items()
    }
    return {**dataclasses.asdict(case), "chosen": case.step().program.objective.chunk, "sizes": rows}


def markdown(record: dict[str, Any]) -> list[str]:
    """A line for each case: milliseconds by the clock, and of CPU."""
    heads = ["step", "chosen", *(f"{size:,}" for size in SIZES)]
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " --: |" * (len(heads) - 1)]
    for name, case in record["cases"].items():
        cells = [
            f"{found['ms']:.3g} / {found['cpu_ms']:.3g}" if found else ""
            for found in (case["sizes"].get(str(size)) for size in SIZES)
        ]
        lines.append("| " + " | ".join([name, f"{case['chosen']:,}", *cells]) + " |")
    return lines


if __name__ == "__main__":
    main()
