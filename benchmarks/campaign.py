"""What `make trust` runs: random problems with known truth, clumsy and hostile input, kills, bad files.

    python benchmarks/campaign.py --seed 0 --out benchmarks/results/trust-cpu.json
    python benchmarks/campaign.py --seed 0 --kinds reasonable --base ../before/src --out before.json

Every task has a number, and what it found is kept as soon as it is done, so that an interrupted campaign goes
on where it was. Tasks run one after the other in a process of their own, which is replaced when one hangs.
`--base` takes hcpinn from another source tree, to compare with.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

ACCURACY = 1e-3
COUNTS = {
    "reasonable": 60,
    "drawn": 140,
    "hostile": None,
    "sly": None,
    "clumsy": None,
    "bounded": 8,
    "killed": 50,
    "damaged": 7,
    "faults": 44,
}
"""How many tasks of each kind; None where a list decides."""

SECONDS = 60.0
"""`max_seconds` of a solve whose truth is known."""

_LATE = 2.0
"""Seconds within which a signal must be answered."""


# Tasks: each gives a dictionary with at least a status


def solved(truth: Any, seconds: float) -> dict[str, Any]:
    """A problem with known truth, solved and judged like any other, and its true error."""
    import hcpinn as hc
    from hcpinn.errors import HcpinnError

    found: dict[str, Any] = {"name": truth.family}
    try:
        solution = hc.solve(truth.problem, accuracy=ACCURACY, max_seconds=seconds, progress=False)
    except HcpinnError as error:
        return {**found, "status": "refused", "message": str(error)}
    verdict = solution.verdict
    error = truth.error(solution)
    return {
        **found,
        "status": verdict.status,
        "claimed": verdict.error,
        "estimated": solution.estimated_error,
        "true": error if math.isfinite(error) else None,
        "stop": solution.stop.name,
        "failed": solution.stop.failed,
        "method": solution.method.name,
        "message": " ".join(verdict.reasons),
    }


def reasonable(seed: int, number: int, seconds: float) -> dict[str, Any]:
    from reasonable import draw

    return solved(next(k for n, k in enumerate(draw(seed)) if n == number), seconds)


def drawn(seed: int, number: int, seconds: float) -> dict[str, Any]:
    from declared import declarations, truth_of

    declaration = declarations(seed, COUNTS["drawn"] or 0)[number]
    return {**solved(truth_of(declaration), seconds), "name": str(declaration)}


def hostile(seed: int, number: int, seconds: float) -> dict[str, Any]:
    import jax

    import hostile as cases

    with jax.enable_x64(True):
        case = cases.CASES[number]()
        if case.before is not None:
            case.before()
    if case.known is None:
        return {"name": case.name, "status": "refused"}
    found = {**solved(case.known, seconds), "name": case.name, "solvable": case.solvable}
    if case.never in ("solved", "converged") and found["status"] == "converged":
        found["wrongly"] = f"must never be {case.never}"
    return found


def sly(seed: int, number: int, seconds: float) -> dict[str, Any]:
    import jax

    from hcpinn.errors import HcpinnError
    from sly import CASES

    try:
        with jax.enable_x64(True):
            truth = CASES[number]()
    except HcpinnError as error:  # what cannot be declared is refused as well
        return {"name": f"sly {number}", "status": "refused", "message": str(error)}
    return solved(truth, seconds)


def clumsy(seed: int, number: int, seconds: float) -> dict[str, Any]:
    from clumsy import CASES
    from hcpinn.errors import HcpinnError

    case = CASES[number]
    found: dict[str, Any] = {"name": case.name}
    try:
        outcome = case.call()
    except HcpinnError as error:
        said = str(error)
        told = case.says is not None and all(word in said for word in case.says)
        return {**found, "status": "told" if told else "told otherwise", "message": said}
    return {**found, "status": "works" if case.says is None else "accepted", "message": str(outcome)[:300]}


def bounded(seed: int, number: int, seconds: float) -> dict[str, Any]:
    """How much longer than `max_seconds` a solve takes."""
    import hcpinn as hc
    from hcpinn.errors import HcpinnError

    rng = random.Random(f"bounded {seed} {number}")
    name = ("allen-cahn-1", "gray-scott", "allen-cahn-2d", "kuramoto-sivashinsky")[number % 4]
    limit = rng.choice((3.0, 5.0, 8.0))
    method = rng.choice((None, "expert"))
    begun = time.monotonic()
    try:
        status = hc.solve(
            hc.find_problem(name), method, max_seconds=limit, accuracy=1e-8, progress=False
        ).verdict.status
    except HcpinnError as error:
        status = type(error).__name__
    return {
        "name": f"{name}, {method or 'evolve'}, {limit:g} s",
        "status": status,
        "over": time.monotonic() - begun - limit,
    }


MOMENTS = ("start", "preparation", "solution", "figures", "end")
"""When a signal comes: one task in turn for each."""


def killed(seed: int, number: int, seconds: float) -> dict[str, Any]:
    """How soon the command answers a signal that comes at any time, and what it leaves."""
    import hcpinn as hc

    rng = random.Random(f"killed {seed} {number}")
    moment = MOMENTS[number % len(MOMENTS)]
    name = rng.choice(("allen-cahn-1", "allen-cahn-dirichlet", "gray-scott", "advection", "schrodinger"))
    which = rng.choice((signal.SIGINT, signal.SIGTERM))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        command = [sys.executable, "-m", "hcpinn.cli", "solve", name, "--out", scratch, "--quiet"]
        command += rng.choice(([], ["--method", "expert"], ["--accuracy", "1e-8"]))
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as shells start background jobs
            signal.signal(signal.SIGINT, signal.default_int_handler)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        after = _wait(process, moment, folder, rng)
        there = (folder / "solution.npz").exists()
        sent = process.poll() is None
        process.send_signal(which)
        begun = time.monotonic()
        _, errors = process.communicate(timeout=120)
        answer = time.monotonic() - begun
        code = process.returncode
        found: dict[str, Any] = {
            "name": f"{' '.join(command[4:5] + command[8:])}, {which.name} at its {moment} ({after:.1f} s)",
            "status": "raw error" if "Traceback" in errors else f"exit {code}",
            "message": errors[-300:],
            "moment": moment,
        }
        if (folder / "solution.npz").exists():
            hc.load(folder / "solution.npz")
        elif there:
            found["wrongly"] = "the solution was there and is gone"
        if sent:
            found["answer"] = answer
            if answer > _LATE:
                found["wrongly"] = f"an answer after {answer:.1f} s"
            if code == 130 and "Interrupted" not in errors:
                found["wrongly"] = "no sentence"
        if code not in (0, 1, 130):
            found["wrongly"] = f"exit code {code}"
        return found


def _wait(process: Any, moment: str, folder: Path, rng: random.Random) -> float:
    """Wait until a command has come to a moment or has ended; the seconds that took.

    What comes before its first line, while Python itself starts, is not its own.
    """
    least, most = {"start": (0.15, 1.0), "preparation": (1.0, 3.0), "solution": (3.0, 9.0)}.get(
        moment, (0.0, 0.8)
    )
    sign = {"figures": "solution.npz", "end": "slices.png"}.get(moment)
    begun = time.monotonic()
    while sign is not None and process.poll() is None and not (folder / sign).exists():
        time.sleep(0.01)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(rng.uniform(least, most))
    return time.monotonic() - begun


def damaged(seed: int, number: int, seconds: float) -> dict[str, Any]:
    """Files with bytes changed or cut off, or values garbled: they are read, or a sentence says why not."""
    import hypothesis

    from damaged import FILES
    from hcpinn.errors import HcpinnError

    name, make, damage, read = FILES[number % len(FILES)]
    counts = {"read": 0, "refused": 0}
    with tempfile.TemporaryDirectory() as folder:
        path = make(Path(folder))
        before = peak_bytes(anew=True)

        @hypothesis.seed(seed * 100 + number)
        @hypothesis.settings(
            max_examples=100, database=None, deadline=None, phases=[hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )  # fmt: skip
        @hypothesis.given(damage(path.read_bytes()))
        def attempt(content: bytes) -> None:
            path.write_bytes(content)
            try:
                read(path)
                counts["read"] += 1
            except HcpinnError:
                counts["refused"] += 1

        attempt()
    return {
        "name": name,
        "status": "told",
        "message": json.dumps(counts),
        "files": sum(counts.values()),
        "taken": peak_bytes() - before,
    }


def peak_bytes(*, anew: bool = False) -> int:
    """The most memory that this process has held, or holds from now on; 0 where the system does not say."""
    try:
        if anew:
            Path("/proc/self/clear_refs").write_text("5")
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0


def faults(seed: int, number: int, seconds: float) -> dict[str, Any]:
    """Five faults of the file system, one at a time: see `faults.py`."""
    import faults as own

    rng = random.Random(f"faults {seed} {number}")
    name = [*own.SCENES][number % len(own.SCENES)]
    counts: dict[str, int] = {}
    bad = []
    for _ in range(5):
        found = own.injected(name, rng.randrange(1 << 30), rng.choice(own.CODES))
        counts[found["status"]] = counts.get(found["status"], 0) + 1
        if found["status"] == "raw error" or found.get("wrongly"):
            bad.append(f"{found['name']}: {found.get('wrongly') or found['message']}")
    found = {"name": name, "status": "told", "message": json.dumps(counts), "faults": sum(counts.values())}
    return {**found, "wrongly": bad[0], "more": bad[1:]} if bad else found


KINDS: dict[str, Callable[[int, int, float], dict[str, Any]]] = {
    f.__name__: f for f in (reasonable, drawn, hostile, sly, clumsy, bounded, killed, damaged, faults)
}


def count(kind: str) -> int:
    """How many tasks of a kind there are."""
    if (known := COUNTS[kind]) is not None:
        return known
    try:
        return len(__import__(kind).CASES)
    except ImportError:
        return 0


# Running


def child(seed: int, seconds: float) -> None:
    """Do the tasks named on standard input, one line each, and print what each found."""
    from hcpinn.machine.programs import keep_programs

    keep_programs()  # as the command line does
    out, sys.stdout = sys.stdout, io.StringIO()
    for line in sys.stdin:
        kind, number = line.split()
        begun, cpu = time.perf_counter(), time.process_time()
        try:
            found = KINDS[kind](seed, int(number), seconds)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            found = {
                "name": f"{kind} {number}",
                "status": "raw error",
                "message": f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})",
            }
        found |= {"wall_s": time.perf_counter() - begun, "cpu_s": time.process_time() - cpu}
        print("FOUND " + json.dumps(found), file=out, flush=True)


class Worker:
    """A process that does tasks, and is replaced when one hangs."""

    def __init__(self, arguments: list[str], base: Path | None):
        self.arguments, self.base, self.process = arguments, base, None

    def ask(self, kind: str, number: int, limit: float) -> dict[str, Any]:
        """What a task found."""
        if self.process is None or self.process.poll() is not None:
            self._start()
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(f"{kind} {number}\n")
        self.process.stdin.flush()
        try:
            line = self.lines.get(timeout=limit)
        except queue.Empty:
            self.process.kill()
            self.process = None
            return {"name": f"{kind} {number}", "status": "hang", "wall_s": limit}
        if line is None:
            self.process = None
            return {"name": f"{kind} {number}", "status": "raw error", "message": "The process died."}
        return json.loads(line.removeprefix("FOUND "))

    def _start(self) -> None:
        env = dict(os.environ)
        if self.base is not None:
            env["PYTHONPATH"] = str(self.base.resolve())
        self.process = subprocess.Popen(
            [sys.executable, __file__, *self.arguments, "--child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, args=(self.process, self.lines), daemon=True).start()

    @staticmethod
    def _read(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("FOUND "):
                lines.put(line)
        lines.put(None)


def campaign(settings: argparse.Namespace) -> dict[str, Any]:
    """Do what is not yet done, and keep each result."""
    path: Path = settings.out
    record = json.loads(path.read_text("utf-8")) if path.exists() else {"seeds": {}}
    record |= _origin(settings)
    own = record["seeds"].setdefault(str(settings.seed), {})
    arguments = ["--seed", str(settings.seed), "--seconds", str(settings.seconds)]
    worker = Worker(arguments, settings.base)
    for kind in settings.kinds:
        for number in range(count(kind))[: settings.most]:
            key = f"{kind} {number}"
            if key in own:
                continue
            own[key] = {"kind": kind, **worker.ask(kind, number, 3 * settings.seconds + 120)}
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".part").write_text(json.dumps(record, indent=1) + "\n", "utf-8")
            path.with_suffix(".part").replace(path)
            print(line(key, own[key]), flush=True)
    return record


def _origin(settings: argparse.Namespace) -> dict[str, Any]:
    from hcpinn.machine.provenance import provenance

    where = provenance()
    return {"device": where.device, "versions": dict(where.versions), "seconds": settings.seconds}


def line(key: str, found: dict[str, Any]) -> str:
    """One line about a result."""
    numbers = " ".join(
        f"{name} {found[name]:.1e}"
        for name in ("claimed", "true", "over", "answer")
        if found.get(name) is not None
    )
    mark, said = "BAD " if wrong(found) else "    ", found.get("message", "")[:160]
    return f"{mark}{key:14} {found['name'][:60]:60} {found['status']:14} {numbers}  {said}"


# What came out


def wrong(found: dict[str, Any]) -> str:
    """What must not happen and did; empty if nothing."""
    if found["status"] in ("raw error", "hang"):
        return found["status"]
    if found.get("wrongly"):
        return found["wrongly"]
    if (
        found["status"] == "converged"
        and not (found.get("true") or math.inf) <= 1.1 * ACCURACY
        and "true" in found
    ):
        return "" if found["true"] == 0 else "falsely converged"
    if contradicts(found):
        return "stop contradicts verdict"
    if found["status"] in ("told otherwise", "accepted"):
        return "not told"
    return ""


def contradicts(found: dict[str, Any]) -> bool:
    """Whether the reason to stop says other than the verdict."""
    converged, stop = found["status"] == "converged", found.get("stop")
    return (
        (stop == "ACCURACY" and not converged)
        or (stop == "ESTIMATE" and converged)
        or (bool(found.get("failed")) and converged)
    )


def tally(results: list[dict[str, Any]]) -> dict[str, Any]:
    """The counts that the issue of trust is about."""
    known = [r for r in results if r["kind"] in ("reasonable", "drawn", "hostile", "sly")]
    true = [r for r in known if r.get("true") is not None and r["true"] <= ACCURACY]
    kinds = [r for r in results if r["kind"] == "reasonable"]
    within = [r for r in kinds if r["status"] == "converged" and min(r["wall_s"], r["cpu_s"]) <= SECONDS]
    return {
        "runs": len(known),
        "false": sum(wrong(r) == "falsely converged" for r in known),
        "good": len(true),
        "recognised": sum(r["status"] == "converged" for r in true),
        "contradictions": sum(contradicts(r) for r in results),
        "hangs": sum(r["status"] == "hang" for r in results),
        "raw": sum(r["status"] == "raw error" for r in results),
        "untold": sum(wrong(r) == "not told" for r in results),
        "reasonable": len(kinds),
        "within": len(within),
        "faults": sum(r.get("faults", 0) for r in results) or None,
        "files": sum(r.get("files", 0) for r in results) or None,
        "taken": max((r["taken"] / 2**20 for r in results if r.get("taken") is not None), default=None),
        "over": max((r["over"] for r in results if r.get("over") is not None), default=None),
        "signals": sum(r.get("answer") is not None for r in results) or None,
        "answer": max((r["answer"] for r in results if r.get("answer") is not None), default=None),
    }


def show(record: dict[str, Any]) -> None:
    for seed, results in record["seeds"].items():
        found = [*results.values()]
        print(f"seed {seed}: " + ", ".join(f"{k} {v:.3g}" for k, v in tally(found).items() if v is not None))
        for key, result in results.items():
            if wrong(result):
                print(f"  {wrong(result)}: {line(key, result).strip()}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/trust-cpu.json"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", choices=[*KINDS], default=[*KINDS])
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each solve")
    parser.add_argument("--most", type=int, help="tasks of each kind; by default all")
    parser.add_argument("--base", type=Path, help="another src folder to take hcpinn from")
    parser.add_argument("--show", action="store_true", help="only show what was found")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    settings = parser.parse_args()
    if settings.child:
        child(settings.seed, settings.seconds)
        return
    show(json.loads(settings.out.read_text("utf-8")) if settings.show else campaign(settings))


if __name__ == "__main__":
    main()
