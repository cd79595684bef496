"""The most memory that trainings take, beside what hcpinn said they would: 1e5, 1e6 and 1e7 points.

    python benchmarks/announced.py --out benchmarks/results/memory-cpu.json
    python benchmarks/announced.py --within 8 --out out/memory-8.json

`--within` lets hcpinn see no more than so many GiB, as a control group of that size would: what fits must
stay below, what does not must be refused before it begins.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

POINTS = (100_000, 1_000_000, 10_000_000)
CASES = ("Adam", "LBFGS", "points by residual", "LevenbergMarquardt")


def child(case: str, points: int, within: float | None) -> dict[str, Any]:
    """Train a small network for a step or two, and see what was announced and what was taken."""
    import hcpinn as hc
    from campaign import peak_bytes
    from hcpinn.descent import Preparation, memory
    from hcpinn.errors import MethodError
    from hcpinn.machine.memory import held_bytes

    if within is not None:
        free = memory.free_bytes
        memory.free_bytes = lambda: min(free() or 1 << 62, int(within * 2**30) - held_bytes())
    stages = {
        "Adam": hc.Adam(steps=2),
        "LBFGS": hc.LBFGS(steps=1),
        "points by residual": hc.Adam(steps=2, precision="float64"),
        "LevenbergMarquardt": hc.LevenbergMarquardt(steps=1),
    }
    method = hc.Method(
        lift=hc.Decay(1.0),
        embedding=hc.Fourier(1),
        network=hc.MLP(8, 1),
        points=points,
        stages=(stages[case],),
        resampling=hc.Resampling(every=1, by="residual") if case == "points by residual" else None,
    )
    said = []
    begin = Preparation.__init__

    def told(self: Any, *given: Any, **options: Any) -> None:
        begin(self, *given, **options)
        said.append(memory.process_bytes(self.bytes))

    Preparation.__init__ = told
    try:
        hc.solve("allen-cahn-1", method, reference=False, progress=False, accuracy=1e-9)
    except MethodError as error:
        return {"refused": str(error), "peak": peak_bytes()}
    return {"announced": said[0], "peak": peak_bytes()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--within", type=float, help="GiB that hcpinn is to see")
    parser.add_argument("--cases", nargs="*", choices=CASES, default=CASES)
    parser.add_argument("--points", nargs="*", type=int, default=POINTS)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    settings = parser.parse_args()
    if settings.child:
        print(json.dumps(child(settings.child[0], int(settings.child[1]), settings.within)))
        return
    record = json.loads(settings.out.read_text("utf-8")) if settings.out.exists() else {}
    for case in settings.cases:
        for points in settings.points:
            key = f"{case}, {points:,} points"
            if key in record:
                continue
            command = [sys.executable, __file__, "--out", "-", "--child", case, str(points)]
            command += ["--within", str(settings.within)] if settings.within else []
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            record[key] = json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr[-500:]}
            settings.out.parent.mkdir(parents=True, exist_ok=True)
            settings.out.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
            print(
                key,
                {k: round(v / 2**20) if isinstance(v, int) else v for k, v in record[key].items()},
                flush=True,
            )


if __name__ == "__main__":
    main()
