"""Solve the chaotic problem of docs/gallery.md and write it for the home page, where a browser evaluates it.

    python benchmarks/live_page.py

Writes docs/live/chaos.js: the Fourier coefficients of the solution in x at equal steps in t, in 16 bits.
Values at random points go to results/live.json, for tests of what the browser makes of them.
"""

from __future__ import annotations

import base64
import json

import matplotlib
import numpy as np

import hcpinn as hc
from films import FACTS, ROOT, problems
from hcpinn.solution.canvas import MAPS_IN_THE_DARK, SIGNED

DATA = ROOT / "docs" / "live" / "chaos.js"
VALUES = FACTS.parent / "live.json"
_MODES, _TIMES, _STOPS = 32, 481, 17


def main() -> None:
    problem = problems()["chaos"]
    solution = hc.solve(problem)
    print(solution.verdict)
    ((low, high),) = problem.domain.bounds
    times = np.linspace(problem.start, problem.horizon, _TIMES)
    values = solution.on_grid(times, np.linspace(low, high, 4 * _MODES, endpoint=False))["u"]
    waves = np.fft.rfft(values, axis=1)[:, : _MODES + 1] / (2 * _MODES)
    both = np.stack([waves.real, -waves.imag], axis=2).reshape(_TIMES, -1)
    kept = np.delete(both, 1, axis=1)  # the mean has no sine
    kept[:, 0] /= 2
    scale = float(np.abs(kept).max()) / 32767
    data = {
        "modes": _MODES,
        "times": _TIMES,
        "start": problem.start,
        "end": problem.horizon,
        "length": high - low,
        "scale": scale,
        "most": float(np.abs(values).max()),
        "colours": {"light": _colours(SIGNED), "dark": _colours(MAPS_IN_THE_DARK[SIGNED])},
        "values": base64.b64encode(np.round(kept / scale).astype("<i2").tobytes()).decode(),
    }
    DATA.write_text(f"window.hcpinnSolution = {json.dumps(data)};\n", "utf-8")
    rng = np.random.default_rng(0)
    t, x = rng.uniform(problem.start, problem.horizon, 60), rng.uniform(low, high, 60)
    rows = [[round(float(v), 6) for v in row] for row in zip(t, x, solution(t, x), strict=True)]
    VALUES.write_text(json.dumps({"most": data["most"], "rows": rows}) + "\n", "utf-8")
    print(f"written to {DATA}, {DATA.stat().st_size} bytes")


def _colours(name: str) -> list[list[int]]:
    """Equally spaced colours of a map, each of three numbers up to 255."""
    return (255 * matplotlib.colormaps[name](np.linspace(0, 1, _STOPS))[:, :3]).round().astype(int).tolist()


if __name__ == "__main__":
    main()
