"""Solutions with random parameters, for tests of what a solution can do."""

import jax.numpy as jnp
import numpy as np

import hcpinn as hc
from declarations import declare
from hcpinn.descent import History, Piecewise, Stop
from hcpinn.machine.provenance import Provenance

METHOD = hc.Method(lift=hc.Decay(1.3), embedding=hc.Fourier(2), network=hc.MLP(8, 2), points=128)
HEAT = declare(name="heat", rhs=lambda u, k: k * u.xx, parameters={"k": 0.1})
SYSTEM = declare(
    rhs=lambda u, v: (u.xx - v, v.x), initial=lambda x: (jnp.cos(jnp.pi * x), jnp.sin(jnp.pi * x) + 2)
)
WAVE = declare(rhs=lambda u: 1j * u.xx, initial=lambda x: jnp.exp(1j * jnp.pi * x))


def make(problem=HEAT, *, seed=0, **facts):
    """A solution with random parameters, as training might have left it."""
    method = facts.get("method", METHOD)
    size = make_size(problem, method.network.depth) * method.windows
    theta = facts.pop("theta", 0.5 * np.random.default_rng(seed).standard_normal(size))
    settings = {
        "problem": problem,
        "method": METHOD,
        "seed": seed,
        "function": Piecewise.from_arrays(problem, method, {"theta": theta}),
        "history": History(np.geomspace(1.0, 1e-3, 30), (("Adam", 20), ("L-BFGS", 10))),
        "stop": Stop.BUDGET,
        "seconds": 1.25,
        "provenance": Provenance("cpu: a processor", {"hcpinn": "0"}),
        "verdict": hc.Verdict("suspect", None, ("Nobody looked.",)),
    }
    return hc.Solution(**{**settings, **facts})


def make_size(problem, depth=2):
    inputs, width, outputs = 1 + 1 + 2 * 2, 8, len(problem.components)
    return (inputs + 1) * width + (depth - 1) * (width + 1) * width + (width + 1) * outputs


def heat_reference(times=11, points=33):
    """The exact solution of `HEAT` on a grid: cos(πx) e^{−kπ²t}."""
    t, x = np.linspace(0, 1, times), np.linspace(-1, 1, points)
    return hc.Reference(
        problem_name="heat",
        times=t,
        coordinates=(x,),
        values={"u": np.exp(-0.1 * np.pi**2 * t)[:, None] * np.cos(np.pi * x)},
        error_estimate=1e-12,
        solver="the formula",
    )


SOLUTION = make()
T, X = np.meshgrid(np.linspace(0.1, 0.9, 3), np.linspace(-0.8, 0.7, 4), indexing="ij")


def difference(function, step, *, order=1):
    """A central difference of fourth order, at zero."""
    weights = {1: {-2: 1, -1: -8, 1: 8, 2: -1}, 2: {-2: -1, -1: 16, 0: -30, 1: 16, 2: -1}}[order]
    return sum(w * function(n * step) for n, w in weights.items()) / (12 * step**order)
