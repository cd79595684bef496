"""Seconds from the start of a program to its first training step, for every problem of the catalogue.

    python benchmarks/compile_time.py run --out benchmarks/results/compile_time-cpu.json
    python benchmarks/compile_time.py table benchmarks/results/compile_time-cpu.json

Each measurement is a process of its own. It is `cold` with an empty cache folder, and `kept` when it runs
again with the compiled programs, the kernels and the reference that the first one left. Imports, checks,
compilation and data are all part of it, and so is whatever goes on beside them. The classical reference is
computed beside the training, which goes on here until it is there.
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
    from hcpinn.machine.files import write_bytes
    from hcpinn.speed.bench import circumstances, load_average

    record = circumstances("python benchmarks/compile_time.py", sys.argv[1:])
    record["rows"] = rows = []
    for problem in settings.problems or ENTRIES:
        for method in settings.methods:
            with tempfile.TemporaryDirectory() as cache:
                for state in ("cold", "kept"):
                    row = {"problem": problem, "method": method, "state": state}
                    row |= {**in_a_process(problem, method, cache), "load_average": load_average()}
                    rows.append(row)
                    times = f"{row['first_step_s']:7.1f} s, shown after {row['shown_s']:.1f} s"
                    rest = f"reference after {row['reference_at_s']:.1f} s; {row['programs']} programs"
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
    """What `hcpinn solve` does until its first block of steps is done and the reference is there."""
    from jax import monitoring

    programs: list[float] = []

    def listen(event: str, seconds: float, **_: Any) -> None:
        if event.endswith("backend_compile_duration"):
            programs.append(seconds)

    monitoring.register_event_duration_secs_listener(listen)

    import hcpinn as hc
    from hcpinn import solving
    from hcpinn.descent import Progress
    from hcpinn.descent.program import Program
    from hcpinn.machine.programs import keep_programs
    from hcpinn.solving import references

    found: dict[str, float] = {"import_s": time.time() - settings.began}
    keep_programs()
    solve_reference, advance = references.solve_reference, Program.advance

    def timed_reference(*arguments: Any, **options: Any) -> Any:
        began = time.time()
        reference = solve_reference(*arguments, **options)
        found.setdefault("reference_s", time.time() - began)
        found.setdefault("reference_at_s", time.time() - settings.began)
        return reference

    def timed_advance(*arguments: Any) -> Any:
        result = advance(*arguments)  # which has compiled now, while the steps themselves go on
        if "compiled_s" not in found:
            found["compiled_s"] = time.time() - settings.began
            found["cpu_s"] = time.process_time()
            found["compiling_s"], found["programs"] = sum(programs), len(programs)
        return result

    references.solve_reference, Program.advance = timed_reference, timed_advance

    class Enough(Exception):
        """A block of steps is done, and the reference is there."""

    class Watch(Progress):
        """Notes when the first block ends."""

        def losses(self, done: int, names: Any, losses: Any) -> None:
            if "shown_s" not in found:
                found["shown_s"] = shown = time.time() - settings.began
                steps = shown - found["compiled_s"]
                found["first_step_s"] = found["compiled_s"] + steps / len(losses)
            if "reference_at_s" in found:
                raise Enough

    watch = Watch(visible=False)
    problem = hc.find_problem(settings.problem)
    run = hc.Run(problem, hc.find_method(settings.method, problem), 0)
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(Enough):
        solving.solve_batch([run], out=folder, progress=watch)
    print(json.dumps(found))


def show(settings: argparse.Namespace) -> None:
    print("\n".join(markdown(json.loads(settings.file.read_text("utf-8")))))


def markdown(record: dict[str, Any]) -> list[str]:
    """A line for each problem: seconds to the first step, and in brackets until the reference is there."""
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
                late = "reference_at_s" in row and row["reference_s"] > 0.05
                more = f" ({row['reference_at_s']:.1f} s)" if late else ""
                cells.append(f"{row['first_step_s']:.1f} s{more}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    main()
