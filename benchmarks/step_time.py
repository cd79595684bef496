"""Milliseconds per training step of hcpinn and its peers, side by side in one run.

    python benchmarks/step_time.py [--points 16384] [--rounds 7] [--out FILE.json]

Every contestant is a process of its own that stays alive; rounds go from one to the next, so
that a noisy machine is noisy for all, and only one computes at a time. What is not installed
is left out and named.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
CONTESTANTS = {
    "hcpinn": "hcpinn_jets.py",
    "JAX, nested grad": "jax_nested.py",
    "PyTorch, nested autograd": "pytorch_nested.py",
    "DeepXDE (PyTorch)": "deepxde_pytorch.py",
}
SECONDS_PER_ROUND = 1.0


class Contestant:
    """A running contestant."""

    def __init__(self, name: str, points: int, order: int, precision: str):
        self.name = name
        self.times: list[float] = []
        command = [sys.executable, str(HERE / "contestants" / CONTESTANTS[name])]
        command += ["--points", str(points), "--order", str(order), "--precision", precision]
        environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.ready = self._answer()

    def _answer(self) -> dict | None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        return None

    def why_not(self) -> str:
        assert self.process.stderr is not None
        lines = self.process.stderr.read().strip().splitlines()
        return lines[-1] if lines else "it ended without a word"

    def round(self) -> None:
        """Time enough steps to last about a second; multiples of ten, as compiled blocks are."""
        count = 10
        if self.times:
            count = max(10, int(SECONDS_PER_ROUND / self.times[-1]) // 10 * 10)
        assert self.process.stdin is not None
        print(count, file=self.process.stdin, flush=True)
        message = self._answer()
        if message is None:
            raise SystemExit(f"{self.name} broke off: {self.why_not()}")
        self.times.append(message["seconds"] / count)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=60)


def measure(points: int, order: int, precision: str, rounds: int, names: list[str]) -> list[dict]:
    """The median time per step of each contestant, in milliseconds."""
    contestants = []
    for name in names:
        contestant = Contestant(name, points, order, precision)
        if contestant.ready is None:
            print(f"  {name}: left out ({contestant.why_not()})")
            continue
        contestants.append(contestant)
    for _ in range(rounds + 1):  # the first round sets the step counts
        for contestant in contestants:
            contestant.round()
    rows = []
    for contestant in contestants:
        times = [1e3 * t for t in contestant.times[1:]]
        rows.append(
            {
                "contestant": contestant.name,
                "order": order,
                "points": points,
                "precision": precision,
                "ms_per_step": statistics.median(times),
                "fastest_ms": min(times),
                "slowest_ms": max(times),
                "first_call_s": contestant.ready["first_s"],
                "loss": contestant.ready["loss"],
            }
        )
        contestant.close()
    return rows


def show(rows: list[dict]) -> None:
    ours = {r["order"]: r["ms_per_step"] for r in rows if r["contestant"] == "hcpinn"}
    heads = f"{'ms/step':>10s}{'min':>9s}{'max':>9s}{'over ours':>11s}{'first call':>12s}"
    print(f"{'contestant':28s}{'order':>6s}{heads}")
    for r in rows:
        ratio = r["ms_per_step"] / ours[r["order"]] if r["order"] in ours else float("nan")
        times = f"{r['ms_per_step']:10.3f}{r['fastest_ms']:9.3f}{r['slowest_ms']:9.3f}"
        print(f"{r['contestant']:28s}{r['order']:6d}{times}{ratio:10.2f}x{r['first_call_s']:11.1f}s")
    if {2, 4} <= set(ours):
        print(f"hcpinn, fourth order over second: {ours[4] / ours[2]:.2f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=16_384)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--precision", choices=["float32", "float64"], default="float32")
    parser.add_argument("--only", action="append", choices=list(CONTESTANTS))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    names = options.only or list(CONTESTANTS)
    rows = measure(options.points, 2, options.precision, options.rounds, names)
    fourth = [n for n in names if n == "hcpinn"]
    rows += measure(options.points, 4, options.precision, options.rounds, fourth)
    show(rows)
    if options.out is not None:
        from hcpinn.solving import provenance

        where = provenance()
        record = {
            "command": " ".join(["python", *sys.argv]),
            "device": where.device,
            "versions": {**where.versions, **peer_versions()},
            "platform": platform.platform(),
            "rows": rows,
        }
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(record, indent=1) + "\n")
        print(f"written to {options.out}")


def peer_versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for package in ("torch", "deepxde"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


if __name__ == "__main__":
    main()
