"""Milliseconds per training step of hcpinn and its peers, side by side in one run.

    python benchmarks/step_time.py [--points 16384] [--rounds 7] [--runs 16] [--out FILE.json]

Every contestant is a process of its own that stays alive; rounds go from one to the next, so that a noisy
machine is noisy for all, and only one computes at a time. hcpinn's fourth-order equation and its batch of
runs are contestants like the others. What is not installed is left out and named. `benchmarks/README.md`
says how to take peers along to a machine on which nothing can be installed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = {
    "hcpinn": "hcpinn_jets.py",
    "JAX, nested grad": "jax_nested.py",
    "jinns": "jinns_pinn.py",
    "PyTorch, nested autograd": "pytorch_nested.py",
    "PyTorch, compiled": "pytorch_compiled.py",
    "DeepXDE (PyTorch)": "deepxde_pytorch.py",
    "DeepXDE (JAX)": "deepxde_jax.py",
}
PEERS = ("torch", "deepxde", "jinns", "flax")
SECONDS_PER_ROUND = 1.0
PAUSE = 0.3
"""Seconds between two contestants: threads of the last one may still spin."""


@dataclass(frozen=True)
class Task:
    """What one contestant is asked to do."""

    name: str
    points: int
    precision: str
    order: int = 2
    runs: int = 1

    @property
    def command(self) -> list[str]:
        script = str(HERE / "contestants" / SCRIPTS[self.name])
        numbers = {"points": self.points, "order": self.order, "precision": self.precision, "runs": self.runs}
        return [sys.executable, script, *(str(p) for k, v in numbers.items() for p in (f"--{k}", v))]

    def __str__(self) -> str:
        runs = f", {self.runs} runs at once" if self.runs > 1 else ""
        return f"{self.name}{runs}, order {self.order}"


class Contestant:
    """A running contestant."""

    def __init__(self, task: Task):
        self.task = task
        self.times: list[float] = []
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (closed with the contestant)
        self.process = subprocess.Popen(
            task.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env={**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
        )
        self.ready = self._answer()

    def _answer(self) -> dict | None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        return None

    def why_not(self) -> str:
        """The last word of a contestant that ended."""
        self.process.wait(timeout=60)
        self.errors.seek(0)
        return last_word(self.errors.read())

    def round(self) -> None:
        """Time enough steps to last about a second; multiples of ten, as compiled blocks are."""
        count = 10
        if self.times:
            count = max(10, int(SECONDS_PER_ROUND / self.times[-1]) // 10 * 10)
        assert self.process.stdin is not None
        print(count, file=self.process.stdin, flush=True)
        message = self._answer()
        if message is None:
            raise SystemExit(f"{self.task} broke off: {self.why_not()}")
        self.times.append(message["seconds"] / count)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.errors.close()


def last_word(text: str) -> str:
    """The line of an error output that says what went wrong: the last that names an error, or the last."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    named = [line for line in lines if line.split(":")[0].endswith(("Error", "Exception"))]
    return (named or lines or ["it ended without a word"])[-1]


def measure(tasks: list[Task], rounds: int) -> tuple[list[dict], dict[str, str]]:
    """The median time of each contestant per step and run, in milliseconds; and who was left out, and why."""
    contestants, left_out = [], {}
    for task in tasks:
        contestant = Contestant(task)
        if contestant.ready is None:
            left_out[str(task)] = contestant.why_not()
            print(f"  {task}: left out ({left_out[str(task)]})", flush=True)
            continue
        contestants.append(contestant)
    for _ in range(rounds + 1):  # the first round sets the step counts
        for contestant in contestants:
            time.sleep(PAUSE)
            contestant.round()
    rows = []
    for contestant in contestants:
        task = contestant.task
        times = [1e3 * t / task.runs for t in contestant.times[1:]]
        rows.append(
            {
                "contestant": task.name,
                "order": task.order,
                "points": task.points,
                "precision": task.precision,
                "runs": task.runs,
                "ms_per_step": statistics.median(times),
                "fastest_ms": min(times),
                "slowest_ms": max(times),
                "first_call_s": contestant.ready["first_s"],
                "loss": contestant.ready["loss"],
                "note": contestant.ready["note"],
            }
        )
        contestant.close()
    return rows, left_out


def show(rows: list[dict]) -> None:
    """A table; times are per step, and per run where several are trained at once."""
    ours = {r["order"]: r["ms_per_step"] for r in rows if r["contestant"] == "hcpinn" and r["runs"] == 1}
    heads = f"{'ms':>10s}{'min':>9s}{'max':>9s}{'over ours':>11s}{'first call':>12s}"
    print(f"{'contestant':28s}{'order':>6s}{'runs':>6s}{heads}")
    for r in rows:
        ratio = r["ms_per_step"] / ours[r["order"]] if r["order"] in ours else float("nan")
        times = f"{r['ms_per_step']:10.3f}{r['fastest_ms']:9.3f}{r['slowest_ms']:9.3f}"
        facts = f"{r['order']:6d}{r['runs']:6d}{times}{ratio:10.2f}x{r['first_call_s']:11.1f}s"
        print(f"{r['contestant']:28s}{facts}  {r['note']}".rstrip())
    if {2, 4} <= set(ours):
        print(f"hcpinn, fourth order over second: {ours[4] / ours[2]:.2f}x")


def markdown(findings: dict) -> list[str]:
    """The table, as Markdown: contestants as rows."""
    rows = findings["rows"]
    ours = next(
        r["ms_per_step"] for r in rows if (r["contestant"], r["order"], r["runs"]) == ("hcpinn", 2, 1)
    )
    lines = ["| contestant | ms per step | over ours | first call |", "| --- | --: | --: | --: |"]
    for r in rows:
        name = r["contestant"] + (f", order {r['order']}" if r["order"] != 2 else "")
        name += f", {r['runs']} runs, per run" if r["runs"] > 1 else ""
        name += f" ({r['note']})" if r["note"] else ""
        own = r["contestant"] == "hcpinn" and (r["order"], r["runs"]) != (2, 1)
        ratio = "" if own else f"{r['ms_per_step'] / ours:.3g}×"
        lines.append(f"| {name} | {r['ms_per_step']:.3g} | {ratio} | {r['first_call_s']:.2g} s |")
    lines += [f"| {name} | left out: {why} | | |" for name, why in findings["left_out"].items()]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=16_384)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--precision", choices=["float32", "float64"], default="float32")
    parser.add_argument("--only", action="append", choices=list(SCRIPTS))
    parser.add_argument("--runs", type=int, default=16, help="runs of hcpinn's batch; 1: no batch")
    parser.add_argument("--fourth-order", choices=["hcpinn", "all", "none"], default="hcpinn")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    given = (options.points, options.precision)
    tasks = []
    for name in options.only or list(SCRIPTS):
        tasks.append(Task(name, *given))
        if options.fourth_order in ("all", name):
            tasks.append(Task(name, *given, order=4))
        if name == "hcpinn" and options.runs > 1:
            tasks.append(Task(name, *given, runs=options.runs))
    rows, left_out = measure(tasks, options.rounds)
    show(rows)
    if options.out is not None:
        save(options.out, {**record("step_time.py"), "rows": rows, "left_out": left_out})
        print(f"written to {options.out}")


def record(program: str) -> dict:
    """The command, the machine and all versions."""
    from hcpinn.speed.bench import circumstances

    facts = circumstances(f"python benchmarks/{program}", sys.argv[1:])
    facts["versions"] |= peer_versions()
    return facts


def save(path: Path, found: dict) -> None:
    """Write findings as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n")


def peer_versions() -> dict[str, str]:
    found = {}
    for package in PEERS:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


if __name__ == "__main__":
    main()
