"""Error against seconds: whole processes of hcpinn and its peers, and classical solvers beside them.

    python benchmarks/time_to_accuracy.py run --limit 100 --out benchmarks/results/time_to_accuracy-cpu.json
    python benchmarks/time_to_accuracy.py table benchmarks/results/time_to_accuracy-cpu.json
    python benchmarks/time_to_accuracy.py figure FILE.json… --out docs/images/time-to-accuracy.png

One racer after the other, each point of a curve measured from the start of its process, imports and
compilation included, and every error on one grid against one reference, refined to 1e-12, which no racer
takes part in computing. hcpinn is `hcpinn solve` by `evolve` and by `expert`, a process for each accuracy it
is asked for: first with an empty cache, then with what that kept. It also computes its own reference, checks
itself, draws its figures and writes its files. Classical solvers are processes too, one for each accuracy.
Peers are told their error now and then, off the clock, and go on to the time limit.

The file grows with every racer, and the same command goes on where it was left: `--within` ends it early.
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
from pathlib import Path

# The racers share a GPU with this process, which needs little of it.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np

import hcpinn as hc
from pages import short
from step_time import last_word, record, save

HERE = Path(__file__).parent
TARGETS = {"allen-cahn-1": 1e-3, "allen-cahn-2": 1e-3, "burgers": 1e-3, "kuramoto-sivashinsky": 1e-2}
"""The error asked for in the table; what peers get near in minutes."""
DECLARATIONS = {"burgers": str(HERE / "racers" / "burgers.toml")}
"""Of problems that are not in the catalogue."""
WITHOUT_PEERS = ("allen-cahn-1",)
"""Problems on which peers race only if `--only` names them: it is much like the second."""
CLASSICAL = {
    "classical: SciPy": ("classical.py", "scipy"),
    "classical: hcpinn's reference": ("classical.py", "reference"),
}
PEERS = {
    "JAX, Adam + L-BFGS": ("plain_jax.py", ""),
    "jinns, Adam + Broyden": ("jinns_broyden.py", ""),
    "PyTorch, Adam + L-BFGS": ("plain_pytorch.py", ""),
    "PyTorch compiled, Adam + L-BFGS": ("plain_pytorch.py", "compiled"),
    "DeepXDE (PyTorch), Adam + L-BFGS": ("deepxde_pytorch.py", ""),
}
OURS = {"hcpinn: evolve": ("evolve", (1, 1e-3, 1e-6)), "hcpinn: expert": ("expert", (1, 0.1))}
"""The method of each, and the accuracies it is asked for, as shares of the target."""
AGAIN = ", programs kept"
SHARES = (1, 1e-3, 1e-6)
"""The same for classical solvers."""
NAMES = [*OURS, *CLASSICAL, *PEERS]
PATIENCE = 3.0
"""After so many times the limit a racer is ended: checks are off its clock, and a block may be long."""
_TIGHT = 1e-12
"""What the reference is refined to: the judge must be better than the judged."""

Point = tuple[float, float | None]
"""Seconds, and the error."""


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
    run.add_argument("--within", type=float, default=float("inf"), help="start no racer that may end later")
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--adam-steps", type=int, default=2_000, help="before a peer's second stage")
    run.add_argument("--out", type=Path, required=True)
    table = commands.add_parser("table", help="show what was found, as Markdown")
    table.set_defaults(do=lambda options: print(as_table(json.loads(options.file.read_text()))))
    table.add_argument("file", type=Path)
    figure = commands.add_parser("figure", help="draw error against time, a panel for each problem")
    figure.set_defaults(do=draw)
    figure.add_argument("file", type=Path)
    figure.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.do(options)


def race(options: argparse.Namespace) -> None:
    """Race whoever has not raced yet, and write the file after each."""
    began = time.time()
    found = so_far(options)
    done = {(row["problem"], row["contestant"]) for row in [*found["rows"], *found["left_out"]]}
    due = [
        (problem, name)
        for problem in options.problems
        for name in options.only or NAMES
        if (problem not in WITHOUT_PEERS or name not in PEERS or options.only) and (problem, name) not in done
    ]
    for number, (problem, name) in enumerate(due):
        quiet = Quiet()
        if time.time() - began + longest(name, options.limit) > options.within:
            print(f"{len(due) - number} racers are left. The same command goes on from here.")
            break
        try:
            rows = one(problem, name, options)
        except LeftOutError as error:
            found["left_out"].append({"problem": problem, "contestant": name, "why": str(error)})
            print(f"  {problem}, {name}: left out ({error})", flush=True)
        else:
            found["rows"] += [{**row, "others": quiet.others()} for row in rows]
            for row in rows:
                print(f"  {problem}, {row['contestant']}: {in_words(row)}", flush=True)
        save(options.out, found)
    print(as_table(found))


class Quiet:
    """What other processes take of the machine from now on, where the system says so."""

    def __init__(self) -> None:
        self.began, self.busy, self.own = time.time(), busy_seconds(), own_seconds()

    def others(self) -> float | None:
        """Their share of all cores."""
        busy = busy_seconds()
        if busy is None or self.busy is None:
            return None
        theirs = (busy - self.busy) - (own_seconds() - self.own)
        return round(max(theirs, 0.0) / (time.time() - self.began) / (os.cpu_count() or 1), 3)


def busy_seconds() -> float | None:
    """Of all cores since the machine was started."""
    try:
        user, nice, system, _, _, irq, soft = Path("/proc/stat").read_text().split()[1:8]
    except OSError:
        return None
    return sum(map(int, (user, nice, system, irq, soft))) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Of this process and of those it has waited for."""
    return sum(os.times()[:4])


def so_far(options: argparse.Namespace) -> dict:
    """What the file holds, if a race of this kind was begun there."""
    fixed = {"limit_s": options.limit, "seed": options.seed, "adam_steps": options.adam_steps}
    fresh = {**record("time_to_accuracy.py"), **fixed, "rows": [], "left_out": []}
    del fresh["load_average"]  # every row says what else ran meanwhile
    if not options.out.exists():
        return fresh
    found = json.loads(options.out.read_text())
    for key in ("device", *fixed):
        if found.get(key) != fresh[key]:
            raise SystemExit(
                f"{options.out} holds a race with {key} = {found.get(key)}, not {fresh[key]}. "
                "Name another file, or remove this one."
            )
    return found


def longest(name: str, limit: float) -> float:
    """About how many seconds a racer may take; ours and the classical ones end by themselves."""
    return limit + 0.1 * limit if name in PEERS else 0.5 * limit


def one(problem: str, name: str, options: argparse.Namespace) -> list[dict]:
    """The rows of one racer on one problem."""
    trusted = hc.solve_reference(declared(problem), tolerance=_TIGHT)
    fixed = {"problem": problem, "target": TARGETS[problem]}
    with tempfile.TemporaryDirectory() as scratch:
        if name in OURS:
            curves = solve(name, problem, trusted, options, Path(scratch))
            return [row({**fixed, "contestant": title}, curve) for title, curve in curves.items()]
        values = Path(scratch) / "reference.npz"
        arrays = {"times": trusted.times, "points": trusted.coordinates[0], "values": trusted.values["u"]}
        np.savez(values, allow_pickle=False, **arrays)
        given = {"problem": problem, "declaration": DECLARATIONS.get(problem, problem), "reference": values}
        given |= {
            "limit": options.limit,
            "seed": options.seed,
            **shared_settings(problem, options.adam_steps),
        }
        if name in CLASSICAL:
            accuracies = [share * TARGETS[problem] for share in SHARES]
            runs = [start(name, {**given, "accuracy": accuracy}) for accuracy in accuracies]
            return [row({**fixed, "contestant": name}, [point for curve, _ in runs for point in curve])]
        curve, said = start(name, {**given, "accuracy": 0})
        early = curve[-1][0] < options.limit
        return [row({**fixed, "contestant": name}, curve, f"it ended early: {said}" if early else "")]


def declared(problem: str) -> hc.Problem:
    return hc.find_problem(DECLARATIONS.get(problem, problem))


def row(facts: dict, curve: list[Point], note: str = "") -> dict:
    """One curve, and when it reached its target."""
    reached = next((s for s, error in curve if error is not None and error <= facts["target"]), None)
    return {**facts, "reached_s": reached, "note": note, "curve": curve}


def shared_settings(problem: str, adam_steps: int) -> dict[str, int]:
    """Sizes that peers share with the network of hcpinn's `expert` on this machine."""
    method = hc.find_method("expert", declared(problem))
    network = method.network
    modes = getattr(method.embedding, "modes", 0)
    sizes = {"width": network.width, "depth": network.depth, "modes": modes}  # type: ignore
    return {**sizes, "points": method.points, "adam-steps": adam_steps}


def solve(
    name: str, problem: str, trusted: hc.Reference, options: argparse.Namespace, folder: Path
) -> dict[str, list[Point]]:
    """`hcpinn solve` to each accuracy, first with an empty cache, then with what that kept."""
    method, shares = OURS[name]
    curves = {name: [], f"{name}{AGAIN}": []}
    for share in shares:
        for curve in curves.values():
            cache = folder / f"{share:g}"
            curve.append(whole_process(problem, method, share * TARGETS[problem], trusted, options, cache))
    return curves


def whole_process(
    problem: str,
    method: str,
    accuracy: float,
    trusted: hc.Reference,
    options: argparse.Namespace,
    cache: Path,
) -> Point:
    """Seconds of one `hcpinn solve`, from start to end, and the error of what it wrote."""
    out = cache / "out"
    command = [sys.executable, "-m", "hcpinn.cli", "solve", DECLARATIONS.get(problem, problem)]
    command += ["--method", method, "--accuracy", f"{accuracy:g}", "--seed", str(options.seed)]
    command += ["--out", str(out), "--max-seconds", str(options.limit)]
    began = time.time()
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "HCPINN_CACHE": str(cache)}
    )
    seconds = time.time() - began
    if not (out / "solution.npz").exists():
        raise LeftOutError(last_word(done.stderr))
    solution = hc.load(out / "solution.npz", problem=declared(problem))
    values = solution.on_grid(trusted.times, *trusted.coordinates)["u"]
    return seconds, float(np.linalg.norm(values - trusted.values["u"]) / np.linalg.norm(trusted.values["u"]))


def start(name: str, given: dict[str, object]) -> tuple[list[Point], str]:
    """Start a racer and follow it: its curve, and its last word."""
    script, way = (CLASSICAL | PEERS)[name]
    arguments = [f"--{key}={value}" for key, value in {**given, "way": way}.items()]
    curve: list[Point] = []
    limit = float(str(given["limit"]))
    with tempfile.TemporaryFile("w+") as errors:
        began = time.time()
        process = subprocess.Popen(
            [sys.executable, str(HERE / "racers" / script), *arguments, f"--began={began}"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        watchdog = threading.Timer(PATIENCE * limit, process.kill)
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
        said = last_word(errors.read())
    if not curve and process.returncode == -signal.SIGKILL:
        raise LeftOutError(f"not ready after {PATIENCE * limit:.0f} s")
    if not curve:
        raise LeftOutError(said)
    return curve, said


def in_words(row: dict) -> str:
    """How a race ended."""
    known = [(error, seconds) for seconds, error in row["curve"] if error is not None]
    best, seconds = min(known, default=(float("nan"), 0.0))
    if row["reached_s"] is None:
        found = f"{short(best)} at best" if known else "no number"
        return f"not reached: {found} in {row['curve'][-1][0]:.0f} s"
    text = f"{row['reached_s']:.3g} s"
    return text if seconds == row["reached_s"] else f"{text}; {short(best)} in {seconds:.3g} s"


def as_table(found: dict) -> str:
    """Problems as columns, racers as rows."""
    rows, out = found["rows"], found["left_out"]
    targets = {row["problem"]: row["target"] for row in rows}
    cells = {(row["problem"], row["contestant"]): in_words(row) for row in rows}
    cells |= {(row["problem"], row["contestant"]): f"left out: {row['why']}" for row in out}
    lines = [
        "| | " + " | ".join(f"`{p}` to {target:.0e}" for p, target in targets.items()) + " |",
        "| --- |" + " --- |" * len(targets),
    ]
    for name in dict.fromkeys(row["contestant"] for row in [*rows, *out]):
        lines.append(f"| {name} | " + " | ".join(cells.get((p, name), "–") for p in targets) + " |")
    return "\n".join(lines)


def draw(options: argparse.Namespace) -> None:
    """Error against seconds, both logarithmic, a panel per problem."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    found = json.loads(options.file.read_text())
    problems = list(dict.fromkeys(row["problem"] for row in found["rows"]))
    lines = -(-len(problems) // 2)
    figure, axes = plt.subplots(
        lines, min(len(problems), 2), figsize=(10.4, 3.7 * lines + 1.0), squeeze=False, layout="constrained"
    )
    shown = {}
    for problem, ax in zip(problems, axes.flat, strict=False):
        rows = [row for row in found["rows"] if row["problem"] == problem]
        for row in rows:
            name = row["contestant"]
            points = [(s, e) for s, e in row["curve"] if e is not None]
            shown[name] = ax.plot(*zip(*points, strict=True), **style(name))[0]
        ax.axhline(rows[0]["target"], color="0.6", lw=0.8, ls="--", zorder=0)
        ax.set(xscale="log", yscale="log", ylabel="relative L2 error", title=problem)
        ax.set_xlabel("seconds from the start of the process")
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.grid(alpha=0.25)
    for ax in list(axes.flat)[len(problems) :]:
        ax.set_axis_off()
    order = [*(n for name in OURS for n in (name, name + AGAIN)), *CLASSICAL, *PEERS]
    names = sorted(shown, key=order.index)
    figure.legend([shown[n] for n in names], names, loc="outside lower center", ncols=3, fontsize=8.5)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out, dpi=130)
    print(f"drawn to {options.out}")


def style(name: str) -> dict:
    """Ours thick, classical solvers in grey with stars, peers thin; hollow marks where programs were kept."""
    first = name.removesuffix(AGAIN)
    if first in OURS:
        kept = {"markerfacecolor": "white", "ls": "--"} if name != first else {}
        return {"color": f"C{list(OURS).index(first)}", "marker": "o", "lw": 2.2, **kept}
    if name in CLASSICAL:
        return {"color": ("0.25", "0.6")[list(CLASSICAL).index(name)], "marker": "*", "ms": 9, "lw": 1}
    return {"color": f"C{len(OURS) + list(PEERS).index(name)}", "lw": 1.2}


if __name__ == "__main__":
    main()
