"""The task every contestant does, and how it is timed.

Allen–Cahn, case I: uₜ = 10⁻³ uₓₓ − 5 (u³ − u), u = e^{−t} u₀ + t · network([t, 1, cos πkx, sin πkx]), k = 1
… 10, a tanh network of 7 × 32. One training step is the mean squared residual at the points, its gradient,
and a plain gradient-descent update. The fourth-order task adds u_xxxx.

A contestant is a script that calls `serve(make)`; `make(points, order, precision)` returns a function that
runs a number of steps and returns the last loss, waiting for the device. With `--runs N`, `make` is also
given `runs=N` and a step is one step of every run. What a contestant chose by itself it says in an
attribute `note` of that function, and how long its first call took in `first_s`, where that came earlier.
Nobody may use TF32.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable

MODES, WIDTH, DEPTH = 10, 32, 7
RATE = 1e-6
"""Step size of the update: small, so that every contestant stays where it is well conditioned."""

Steps = Callable[[int], float]


def serve(make: Callable[..., Steps]) -> None:
    """Answer each line `steps` on standard input with the seconds they took and the last loss."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, required=True)
    parser.add_argument("--order", type=int, required=True)
    parser.add_argument("--precision", required=True)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    several = {"runs": options.runs} if options.runs > 1 else {}
    steps = make(options.points, options.order, options.precision, **several)
    began = time.perf_counter()
    loss = steps(2)
    first = getattr(steps, "first_s", time.perf_counter() - began)
    answer({"ready": True, "first_s": first, "loss": loss, "note": getattr(steps, "note", "")})
    for line in sys.stdin:
        count = int(line)
        began = time.perf_counter()
        loss = steps(count)
        answer({"seconds": time.perf_counter() - began, "loss": loss})


def answer(message: dict) -> None:
    print(json.dumps(message), flush=True)
