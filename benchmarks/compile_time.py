"""Seconds from the start of a program to its first training step, for every problem of the catalogue.

    python benchmarks/compile_time.py run --out benchmarks/results/compile_time-cpu.json
    python benchmarks/compile_time.py table benchmarks/results/compile_time-cpu.json

Each measurement is a process of its own. It is `cold` with an empty cache folder, and `kept` when it runs
again with the compiled programs and the reference that the first one left. Imports, checks, the classical
reference, compilation and data are all part of it; the reference is also given by itself.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

METHODS = ("expert", "paper")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="measure")
    run.set_defaults(do=measure)
    run.add_argument("--problems", nargs="*", help="of the catalogue; all unless given")
    run.add_argument("--methods", nargs="*", default=METHODS)
    run.add_argument("--out", type=Path, required=True)
    table = commands.add_parser("table", help="as Markdown")
    table.set_defaults(do=show)
    table.add_argument("file", type=Path)
    one = commands.add_parser("one", help="a single measurement, in this process")
    one.set_defaults(do=single)
    one.add_argument("problem")
    one.add_argument("method")
    one.add_argument("--began", type=float, default=time.time(), help="when the process was started")
    settings = parser.parse_args()
    settings.do(settings)


def measure(settings: argparse.Namespace) -> None:
    from hcpinn.catalog import ENTRIES
    from hcpinn.files import write_bytes
    from hcpinn.speed.record import load_average, origin

    record = origin("python benchmarks/compile_time.py", sys.argv[1:])
    record["rows"] = rows = []
    for problem in settings.problems or ENTRIES:
        for method in settings.methods:
            with tempfile.TemporaryDirectory() as cache:
                for state in ("cold", "kept"):
                    row = {"problem": problem, "method": method, "state": state}
                    row |= {**in_a_process(problem, method, cache), "load_average": load_average()}
                    rows.append(row)
                    times = f"{row['first_step_s']:7.1f} s, {row['cpu_s']:.1f} s of CPU"
                    rest = f"reference {row['reference_s']:.1f} s; {row['programs']} programs"
                    print(f"{problem:24s}{method:8s}{state:6s}{times}; {rest}", flush=True)
            write_bytes(settings.out, (json.dumps(record, indent=1) + "\n").encode())
    print(f"written to {settings.out}")


def in_a_process(problem: str, method: str, cache: str) -> dict[str, Any]:
    environment = {**os.environ, "HCPINN_CACHE": cache}
    command = [sys.executable, __file__, "one", problem, method, "--began", repr(time.time())]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{problem} with {method} failed: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def single(settings: argparse.Namespace) -> None:
    """What `hcpinn solve` does until its second block of steps is done."""
    from jax import monitoring

    programs: list[float] = []

    def listen(event: str, seconds: float, **_: Any) -> None:
        if event.endswith("backend_compile_duration"):
            programs.append(seconds)

    monitoring.register_event_duration_secs_listener(listen)

    import hcpinn as hc
    from hcpinn import solving
    from hcpinn.programs import keep_programs
    from hcpinn.training import Progress

    imported = time.time()
    keep_programs()
    reference_s = 0.0
    solve_reference = solving.solve_reference

    def timed(*arguments: Any, **options: Any) -> Any:
        nonlocal reference_s
        began = time.time()
        try:
            return solve_reference(*arguments, **options)
        finally:
            reference_s += time.time() - began

    solving.solve_reference = timed

    class Enough(Exception):
        """Two blocks of steps are done."""

    class Watch(Progress):
        """Notes when blocks end."""

        ends: list[tuple[float, float, int, int]]

        def losses(self, done: int, names: Any, losses: Any) -> None:
            self.ends.append((time.time(), time.process_time(), len(losses), len(programs)))
            if len(self.ends) == 2:
                raise Enough

    watch = Watch(visible=False)
    watch.ends = []
    problem = hc.find_problem(settings.problem)
    run = hc.Run(problem, hc.find_method(settings.method, problem), 0)
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(Enough):
        solving.solve_batch([run], out=folder, progress=watch)
    (first, cpu, steps, count), (second, cpu_second, _, _) = watch.ends
    but_one = 1 - 1 / steps
    print(
        json.dumps(
            {
                "first_step_s": first - settings.began - but_one * (second - first),
                "cpu_s": cpu - but_one * (cpu_second - cpu),
                "import_s": imported - settings.began,
                "reference_s": reference_s,
                "compiling_s": sum(programs[:count]),
                "programs": count,
            }
        )
    )


def show(settings: argparse.Namespace) -> None:
    print("\n".join(markdown(json.loads(settings.file.read_text("utf-8")))))


def markdown(record: dict[str, Any]) -> list[str]:
    """A line for each problem: seconds to the first step, and in brackets those without the reference."""
    found = {(r["problem"], r["method"], r["state"]): r for r in record["rows"]}
    methods = list(dict.fromkeys(r["method"] for r in record["rows"]))
    heads = ["problem", *(f"`{m}`, {state}" for m in methods for state in ("cold", "kept"))]
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join(["---"] * len(heads)) + " |"]
    for problem in dict.fromkeys(r["problem"] for r in record["rows"]):
        cells = [f"`{problem}`"]
        for method in methods:
            for state in ("cold", "kept"):
                row = found.get((problem, method, state))
                if row is None:
                    cells.append("")
                    continue
                whole, own = row["first_step_s"], row["first_step_s"] - row["reference_s"]
                cells.append(
                    f"{whole:.1f} s ({own:.1f} s)" if row["reference_s"] > 0.05 else f"{whole:.1f} s"
                )
        lines.append("| " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    main()
