"""What every racer solves, how its clock runs, and how its error is measured.

Every racer trains u = u₀(x) + (t/T) · network([t/T, 1, cos kωx, sin kωx]), ω = 2π/length, k = 1 … modes, or
between walls u = u₀(x) + (t/T) · (1 − ξ²) · network([t/T, ξ]), ξ = x scaled to [−1, 1]. It is a tanh network,
trained on the mean squared residual in float64; initial and boundary data hold exactly. Network, modes and
number of points are those with which hcpinn's `expert` starts on the machine.

A racer prints one JSON line per check of its error. Its seconds run from the start of its process and leave
out the checks. It goes on until its time is up.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Task:
    """A problem, written so that NumPy, JAX and PyTorch can all use it: `m` is the module."""

    lower: float
    upper: float
    horizon: float
    order: int
    initial: Callable[[Any, Any], Any]
    residual: Callable[..., Any]
    """Of u, uₜ and the space derivatives up to `order`."""
    walls: bool = False
    """Whether u is zero at both ends, rather than periodic."""
    classical_points: int = 256
    """How many a Fourier method takes. Between walls u is odd about them, so it is periodic too."""

    @property
    def wave(self) -> float:
        return 2 * math.pi / (self.upper - self.lower)

    def inputs(self, m, s, x, waves):
        """What the network sees at times s = t/T: columns for arrays of columns, a vector for numbers."""
        if self.walls:
            return m.hstack((s, self.scaled(x)))
        return m.hstack((s, m.ones_like(s), m.cos(waves * x), m.sin(waves * x)))

    def trial(self, m, s, x, network):
        """u, made of the network's outputs so that initial and boundary data hold."""
        gate = s * (1 - self.scaled(x) ** 2) if self.walls else s
        return self.initial(m, x) + gate * network

    def scaled(self, x):
        """x on [−1, 1]."""
        return (2 * x - self.lower - self.upper) / (self.upper - self.lower)


TASKS = {
    # uₜ = 10⁻³ uₓₓ − 5 (u³ − u)
    "allen-cahn-1": Task(
        lower=-1.0,
        upper=1.0,
        horizon=1.0,
        order=2,
        initial=lambda m, x: x**2 * m.cos(math.pi * x),
        residual=lambda u, u_t, u_x, u_xx: u_t - 1e-3 * u_xx + 5 * (u**3 - u),
        classical_points=512,
    ),
    # uₜ = 10⁻³ uₓₓ − 4 (u³ − u)
    "allen-cahn-2": Task(
        lower=-1.0,
        upper=1.0,
        horizon=1.0,
        order=2,
        initial=lambda m, x: x**2 * m.sin(2 * math.pi * x),
        residual=lambda u, u_t, u_x, u_xx: u_t - 1e-3 * u_xx + 4 * (u**3 - u),
    ),
    # uₜ = 0.01/π uₓₓ − u uₓ
    "burgers": Task(
        lower=-1.0,
        upper=1.0,
        horizon=1.0,
        order=2,
        initial=lambda m, x: -m.sin(math.pi * x),
        residual=lambda u, u_t, u_x, u_xx: u_t - 0.01 / math.pi * u_xx + u * u_x,
        walls=True,
        classical_points=1024,
    ),
    # uₜ = −uₓₓ − uₓₓₓₓ − u uₓ
    "kuramoto-sivashinsky": Task(
        lower=0.0,
        upper=32 * math.pi,
        horizon=10.0,
        order=4,
        initial=lambda m, x: m.cos(x / 16) * (1 + m.sin((x - 1) / 16)),
        residual=lambda u, u_t, u_x, u_xx, u_xxx, u_xxxx: u_t + u_xx + u_xxxx + u * u_x,
    ),
}


class Race:
    """One racer's settings, clock and record."""

    def __init__(self) -> None:
        parser = argparse.ArgumentParser()
        parser.add_argument("--problem", choices=list(TASKS), required=True)
        parser.add_argument("--declaration", required=True, help="of the problem, as hcpinn finds it")
        parser.add_argument("--reference", required=True, help="an .npz file with times, points and values")
        parser.add_argument("--accuracy", type=float, required=True, help="which classical solvers aim at")
        parser.add_argument("--limit", type=float, required=True)
        parser.add_argument("--began", type=float, required=True, help="when the process was started")
        parser.add_argument("--seed", type=int, default=0)
        for name in ("width", "depth", "modes", "points", "adam-steps"):
            parser.add_argument(f"--{name}", type=int, required=True)
        parser.add_argument("--way", default="")
        self.options = parser.parse_args()
        self.task = TASKS[self.options.problem]
        with np.load(self.options.reference, allow_pickle=False) as file:
            self.times, self.places, self.values = file["times"], file["points"], file["values"]
        self.grid_t, self.grid_x = (
            g.reshape(-1, 1) for g in np.meshgrid(self.times, self.places, indexing="ij")
        )
        self.size = float(np.linalg.norm(self.values))
        self.checking = 0.0
        self.last = -math.inf
        self.over = False

    @property
    def sizes(self) -> list[int]:
        """Widths of the network's layers, from its inputs to its output."""
        o = self.options
        inputs = 2 if self.task.walls else 2 + 2 * o.modes
        return [inputs, *[o.width] * o.depth, 1]

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """Times and places of the residual, as columns: a Latin hypercube, as hcpinn starts with."""
        from scipy.stats import qmc

        o, task = self.options, self.task
        unit = qmc.LatinHypercube(2, rng=o.seed).random(o.points)
        return unit[:, :1] * task.horizon, task.lower + unit[:, 1:] * (task.upper - task.lower)

    def seconds(self) -> float:
        """Since the process was started, less what checks took."""
        return time.time() - self.options.began - self.checking

    def due(self) -> bool:
        """Whether it is time for a check: every half second, and less often as time goes on."""
        now = self.seconds()
        return now > self.options.limit or now - self.last > max(0.5, 0.03 * now)

    def check(self, predict: Callable[[np.ndarray, np.ndarray], Any]) -> bool:
        """Measure the error of `predict(t, x)`, print it, and say whether the race is over."""
        seconds = self.seconds()
        began = time.time()
        found = np.asarray(predict(self.grid_t, self.grid_x)).reshape(self.values.shape)
        over = self.report(seconds, float(np.linalg.norm(found - self.values)) / self.size)
        self.checking += time.time() - began
        return over

    def report(self, seconds: float, error: float) -> bool:
        """Print an error, and say whether the race is over: its time is up, or the error is not a number."""
        self.last = seconds
        print(json.dumps({"seconds": seconds, "error": error if math.isfinite(error) else None}), flush=True)
        self.over = seconds > self.options.limit or not math.isfinite(error)
        return self.over
