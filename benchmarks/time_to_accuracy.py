"""Seconds to a given accuracy: whole processes of hcpinn and its peers, and classical solvers beside them.

    python benchmarks/time_to_accuracy.py run --out benchmarks/results/time_to_accuracy-cpu.json
    python benchmarks/time_to_accuracy.py table benchmarks/results/time_to_accuracy-cpu.json
    python benchmarks/time_to_accuracy.py figure FILE.json… --out docs/images/time-to-accuracy.png

`allen-cahn-2` to a relative L2 error of 1e-3 and `kuramoto-sivashinsky` to 1e-2, one racer after the other.
Time runs from the start of the process, imports and compilation included. hcpinn is `hcpinn solve` with an
empty cache, by `evolve` and by `expert`: it also computes its reference, checks itself, draws its figures and
writes its files; other processes are asked for smaller errors, to show where it goes from there. Peers are
told their error by the same reference, now and then, off the clock, and stop there or at the time limit.
What is not installed is left out and named.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

# The racers share a GPU with this process, which needs little of it.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np

from hcpinn import find_method, find_problem, solve_reference
from step_time import last_word, write

HERE = Path(__file__).parent
TARGETS = {"allen-cahn-2": 1e-3, "kuramoto-sivashinsky": 1e-2}
RACERS = {
    "JAX, Adam + L-BFGS": ("plain_jax.py", ""),
    "jinns, Adam + Broyden": ("jinns_broyden.py", ""),
    "PyTorch, Adam + L-BFGS": ("plain_pytorch.py", ""),
    "PyTorch compiled, Adam + L-BFGS": ("plain_pytorch.py", "compiled"),
    "DeepXDE (PyTorch), Adam + L-BFGS": ("deepxde_pytorch.py", ""),
    "classical: SciPy": ("classical.py", "scipy"),
    "classical: hcpinn's reference": ("classical.py", "reference"),
}
OURS = {"hcpinn: evolve": ("evolve", (1, 1e-3, 1e-6)), "hcpinn: expert": ("expert", (1, 0.1))}
"""The method of each, and the accuracies it is asked for, as shares of the target."""
AGAIN = ", programs kept"
NAMES = [*OURS, *RACERS]
GRACE = 120.0
"""Seconds after the limit in which a racer may finish the block it is in."""


@dataclass
class Outcome:
    """What one racer did."""

    curve: list[tuple[float, float | None]]
    """Seconds and errors."""
    reached_s: float | None
    note: str = ""

    def facts(self) -> dict:
        return {
            "reached_s": self.reached_s,
            "last_s": self.curve[-1][0],
            "last_error": self.curve[-1][1],
            "curve": self.curve,
            "note": self.note,
        }


class LeftOutError(Exception):
    """A racer that could not start; the message says why."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="race")
    run.set_defaults(do=race)
    run.add_argument("--problems", nargs="*", choices=list(TARGETS), default=list(TARGETS))
    run.add_argument("--only", action="append", choices=NAMES)
    run.add_argument("--limit", type=float, default=600.0, help="seconds for each racer")
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--adam-steps", type=int, default=2_000, help="before a peer's second stage")
    run.add_argument("--out", type=Path, required=True)
    table = commands.add_parser("table", help="show what was found, as Markdown")
    table.set_defaults(do=lambda options: print(as_table(json.loads(options.file.read_text()))))
    table.add_argument("file", type=Path)
    figure = commands.add_parser("figure", help="draw error against time, a row of panels for each file")
    figure.set_defaults(do=draw)
    figure.add_argument("files", type=Path, nargs="+")
    figure.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.do(options)


def race(options: argparse.Namespace) -> None:
    rows, left_out = [], {}
    settings = {}
    with tempfile.TemporaryDirectory() as scratch:
        for problem in options.problems:
            target = TARGETS[problem]
            trusted = write_reference(problem, Path(scratch))
            settings[problem] = shared_settings(problem, options.adam_steps)
            for name in options.only or NAMES:
                try:
                    if name in OURS:
                        found = solve(name, problem, target, options, Path(scratch))
                    else:
                        given = [*settings[problem].items(), ("reference", trusted), ("problem", problem)]
                        found = {name: peer(name, [*given, ("target", target)], options)}
                except LeftOutError as error:
                    left_out[name] = str(error)
                    print(f"  {name}: left out ({error})", flush=True)
                    continue
                for title, outcome in found.items():
                    fixed = {"problem": problem, "contestant": title, "target": target, "seed": options.seed}
                    rows.append({**fixed, **outcome.facts()})
                    print(f"  {problem}, {title}: {in_words(rows[-1])}", flush=True)
    findings = {"limit_s": options.limit, "settings": settings, "rows": rows, "left_out": left_out}
    write(options.out, "time_to_accuracy.py", findings)
    print(as_table(findings))


def write_reference(problem: str, folder: Path) -> Path:
    """The trusted values every error is measured with, as a file that needs no hcpinn to read."""
    reference = solve_reference(find_problem(problem))
    path = folder / f"{problem}.npz"
    arrays = {"times": reference.times, "points": reference.coordinates[0], "values": reference.values["u"]}
    np.savez(path, allow_pickle=False, **arrays)
    return path


def shared_settings(problem: str, adam_steps: int) -> dict[str, int]:
    """Sizes that peers share with hcpinn's default method on this machine."""
    method = find_method("expert", find_problem(problem))
    network = method.network
    sizes = {"width": network.width, "depth": network.depth, "modes": method.embedding.modes}  # type: ignore
    return {**sizes, "points": method.points, "adam-steps": adam_steps}


def solve(
    name: str, problem: str, target: float, options: argparse.Namespace, folder: Path
) -> dict[str, Outcome]:
    """`hcpinn solve` by a method with an empty cache, to each accuracy; to the first with programs kept."""
    method, shares = OURS[name]
    curve = []
    for share in shares:
        cache = folder / f"{problem}-{method}-{share:g}"
        curve.append(whole_process(problem, method, share * target, options, cache))
    again = whole_process(problem, method, target, options, folder / f"{problem}-{method}-1")
    return {
        name: Outcome(curve, reached(curve[0], target), "each point a process of its own"),
        f"{name}{AGAIN}": Outcome(
            [again], reached(again, target), "a second process, compiled programs on disk"
        ),
    }


def reached(point: tuple[float, float | None], target: float) -> float | None:
    seconds, error = point
    return seconds if error is not None and error <= target else None


def whole_process(
    problem: str, method: str, accuracy: float, options: argparse.Namespace, cache: Path
) -> tuple[float, float]:
    """Seconds of one `hcpinn solve`, from start to end, and its error."""
    out = cache / "out"
    command = [sys.executable, "-m", "hcpinn.cli", "solve", problem, "--method", method]
    command += ["--accuracy", f"{accuracy:g}", "--seed", str(options.seed), "--out", str(out)]
    command += ["--max-seconds", str(options.limit)]
    began = time.time()
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "HCPINN_CACHE": str(cache)}
    )
    seconds = time.time() - began
    if not (out / "summary.json").exists():
        raise LeftOutError(last_word(done.stderr))
    return seconds, json.loads((out / "summary.json").read_text())["rel_l2"]["u"]


def peer(name: str, given: list[tuple[str, object]], options: argparse.Namespace) -> Outcome:
    """Start a racer and follow it."""
    script, way = RACERS[name]
    numbers = [*given, ("limit", options.limit), ("seed", options.seed), ("way", way)]
    arguments = [f"--{key}={value}" for key, value in numbers]
    curve: list[tuple[float, float | None]] = []
    with tempfile.TemporaryFile("w+") as errors:
        began = time.time()
        process = subprocess.Popen(
            [sys.executable, str(HERE / "racers" / script), *arguments, f"--began={began}"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        watchdog = threading.Timer(options.limit + GRACE, process.kill)
        watchdog.start()
        try:
            for line in process.stdout:  # type: ignore[union-attr]
                if line.startswith("{"):
                    message = json.loads(line)
                    curve.append((message["seconds"], message["error"]))
            process.wait()
        finally:
            watchdog.cancel()
            process.kill()
        errors.seek(0)
        said = errors.read()
    if not curve and process.returncode == -signal.SIGKILL:
        raise LeftOutError(f"not ready after {options.limit + GRACE:.0f} s")
    if not curve:
        raise LeftOutError(last_word(said))
    target = dict(given)["target"]
    seconds = reached(curve[-1], target)  # type: ignore[arg-type]
    broken = seconds is None and curve[-1][0] < options.limit
    return Outcome(curve, seconds, f"it ended early: {last_word(said)}" if broken else "")


def in_words(row: dict) -> str:
    """How a race ended."""
    if row["reached_s"] is not None:
        return f"{row['reached_s']:.3g} s"
    errors = [error for _, error in row["curve"] if error is not None]
    best = f"{min(errors):.1e}" if errors else "no number"
    return f"not reached: {best} at best in {row['last_s']:.0f} s"


def as_table(findings: dict) -> str:
    """Problems as columns, racers as rows."""
    problems = list(dict.fromkeys(row["problem"] for row in findings["rows"]))
    names = list(dict.fromkeys(row["contestant"] for row in findings["rows"]))
    cells = {(row["problem"], row["contestant"]): in_words(row) for row in findings["rows"]}
    targets = {row["problem"]: row["target"] for row in findings["rows"]}
    lines = [
        "| | " + " | ".join(f"`{p}` to {targets[p]:.0e}" for p in problems) + " |",
        "| --- |" + " --- |" * len(problems),
    ]
    lines += [f"| {n} | " + " | ".join(cells.get((p, n), "left out") for p in problems) + " |" for n in names]
    lines += [f"| {n} | left out: {why} |" for n, why in findings["left_out"].items() if n not in names]
    return "\n".join(lines)


def draw(options: argparse.Namespace) -> None:
    """Error against seconds, both logarithmic: a panel per problem, a row of panels per file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    records = [json.loads(path.read_text()) for path in options.files]
    problems = list(dict.fromkeys(row["problem"] for r in records for row in r["rows"]))
    names = list(dict.fromkeys(row["contestant"] for r in records for row in r["rows"]))
    styles = {name: {"color": f"C{number}", "lw": 1.4} for number, name in enumerate(names)}
    size = (5.2 * len(problems), 3.6 * len(records) + 1.0)
    figure, axes = plt.subplots(
        len(records), len(problems), figsize=size, squeeze=False, layout="constrained"
    )
    shown = {}
    for record, line in zip(records, axes, strict=True):
        for problem, ax in zip(problems, line, strict=True):
            for row in record["rows"]:
                if row["problem"] != problem:
                    continue
                points = [(s, e) for s, e in row["curve"] if e is not None]
                name = row["contestant"]
                mark = "*" if name.startswith("classical") else "o" if len(points) < 5 else None
                shown[name] = ax.plot(*zip(*points, strict=True), marker=mark, **styles[name])[0]
            target = next(row["target"] for row in record["rows"] if row["problem"] == problem)
            ax.axhline(target, color="0.6", lw=0.8, ls="--")
            ax.set(xscale="log", yscale="log", xlabel="seconds", ylabel="relative L2 error")
            ax.set_title(f"{problem}, {record['device']}", fontsize=9)
            ax.xaxis.set_minor_formatter(NullFormatter())
            ax.grid(alpha=0.25)
    figure.legend(
        shown.values(), shown.keys(), loc="outside lower center", ncols=1 + len(problems), fontsize=8
    )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out, dpi=130)
    print(f"drawn to {options.out}")


if __name__ == "__main__":
    main()
