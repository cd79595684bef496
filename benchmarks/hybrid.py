"""Hidden weights trained over a short first window, then evolved: the hybrid, beside both of its parents.

    python benchmarks/hybrid.py --out benchmarks/results/hybrid-cpu.json
    python benchmarks/hybrid.py --show benchmarks/results/hybrid-cpu.json

For each problem and number of neurons: one hidden layer is trained over the first tenth of the time, its
hidden weights are kept, at the window's start, middle and end, and only output weights evolve to the horizon.
Beside it, as many sampled neurons, which evolve in the same way, and the network trained over all time.
True errors are those against the classical reference.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import hcpinn as hc
from hcpinn.evolution import (
    Carrier,
    Engine,
    Evolution,
    Halted,
    Limits,
    Pointwise,
    Projection,
    assemble,
)
from hcpinn.evolution.basis import Bases, orthonormal, quadrature
from hcpinn.evolution.features import Layer, sample
from hcpinn.evolution.walls import walls_along
from hcpinn.machine.files import write_bytes
from hcpinn.machine.precision import double
from hcpinn.machine.provenance import provenance

_WINDOW = 0.1
_SEEDS = 3
_NEURONS = (24, 48)
_STEPS = 800

FISHER = hc.Problem(
    name="fisher on a ring",
    domain=hc.Interval(-1, 1),
    horizon=1.0,
    boundary=hc.Periodic(),
    rhs=lambda u: 2e-3 * u.xx + 6 * u * (1 - u),
    initial=lambda x: 0.05 + 0.6 * jnp.exp(-20 * (1 - jnp.cos(jnp.pi * (x - 0.2)))),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--show", type=Path)
    settings = parser.parse_args()
    if settings.show is not None:
        print(table(json.loads(settings.show.read_text())["rows"]))
        return
    rows = []
    with double():
        for problem in (hc.find_problem("allen-cahn-2"), hc.find_problem("kuramoto-sivashinsky"), FISHER):
            reference = hc.solve_reference(problem)
            for neurons in _NEURONS:
                rows.append(compared(problem, neurons, reference))
                print(table(rows[-1:]), flush=True)
    if settings.out is not None:
        facts = provenance(1)
        found = {"device": facts.device, "versions": dict(facts.versions), "rows": rows}
        write_bytes(settings.out, (json.dumps(found, indent=1) + "\n").encode())


def compared(problem: hc.Problem, neurons: int, reference: hc.Reference) -> dict:
    """The errors of the hybrid and of its parents, by seed."""
    row: dict = {"problem": problem.name, "neurons": neurons, "hybrid": [], "sampled": [], "trained": []}
    for seed in range(_SEEDS):
        part = dataclasses.replace(problem, horizon=problem.start + _WINDOW * problem.duration)
        hidden = hidden_layer(trained(part, neurons, seed))
        row["hybrid"].append(evolved(problem, hidden, reference))
        row["sampled"].append(evolved(problem, sampled(problem, 3 * neurons, seed), reference))
        whole = trained(problem, neurons, seed)
        row["trained"].append(error(whole.on_grid(reference.times, *reference.coordinates), reference))
    return row


def trained(problem: hc.Problem, neurons: int, seed: int) -> hc.Solution:
    """One hidden layer behind the exact lift and gate, all of it trained."""
    method = dataclasses.replace(
        hc.find_method("expert", problem),
        network=hc.MLP(neurons, 1),
        growth=None,
        lessons=1,
        horizons=(1.0,),
        stages=(hc.Broyden(steps=_STEPS),),
    )
    return hc.solve(problem, method, seed=seed, reference=False, progress=False)


def hidden_layer(solution: hc.Solution) -> Layer:
    """The trained hidden neurons as functions of x, at three times of the window."""
    problem = solution.problem
    hidden = {k: np.asarray(v) for k, v in solution.function.parameters[0][0].items()}
    weight, bias = hidden["weight"], hidden["bias"]
    modes = (len(weight) - 2) // 2
    low, high = problem.domain.bounds[0]
    shift = np.arange(1, modes + 1)[:, None] * (2 * np.pi * low / (high - low))
    cosine, sine = weight[2 : 2 + modes], weight[2 + modes :]
    turned = np.concatenate(
        [cosine * np.cos(shift) + sine * np.sin(shift), sine * np.cos(shift) - cosine * np.sin(shift)]
    )
    shares = (0.0, 0.5, 1.0)
    biases = np.concatenate([bias + weight[1] + share * weight[0] for share in shares])
    return layer(problem, np.tile(turned, len(shares)), biases)


def layer(problem: hc.Problem, weights: np.ndarray, biases: np.ndarray) -> Layer:
    """A hidden layer along x; its functions are not orthonormal yet."""
    (wall,), _ = walls_along(problem, 0)
    low, high = problem.domain.bounds[0]
    mix = np.eye(len(biases) + 1 + len(wall.polynomials))
    return Layer(weights, biases, mix, wall.polynomials, low, high, True, wall.powers)


def sampled(problem: hc.Problem, count: int, seed: int) -> Layer:
    """As many neurons as the engine samples."""
    (wall,), _ = walls_along(problem, 0)
    low, high = problem.domain.bounds[0]
    rng = np.random.default_rng(seed)
    return sample(count, low, high, periodic=True, wall=wall, density=None, steepest=2.0, rng=rng)


def evolved(problem: hc.Problem, hidden: Layer, reference: hc.Reference) -> float:
    """The true error where only output weights of this hidden layer move; infinite where that breaks down."""
    engine = Engine(problem, 1e-7, 0, Limits(60.0, lambda: False), None, Evolution(), lambda so_far: None)
    engine.prepare(Carrier(problem, 1e-7), Pointwise(problem))
    count = max(4 * len(hidden.biases), 400)
    points, weights = quadrature(count, hidden.low, hidden.high, periodic=True, density=None)
    order = max(index[1] for index in problem.derivatives)
    basis = Bases.join([orthonormal(hidden, points, weights, order=order, cut=1e-13)], [0])

    try:
        projection = Projection(problem, engine.pointwise, engine.carrier, [basis])
        solved = engine.advance(projection, 1)
    except (Halted, FloatingPointError, np.linalg.LinAlgError):
        return float("inf")
    function, _ = assemble(engine.carrier, [basis.layers], solved.track, 1, 0.0)
    values = function.on_grid(np.asarray(reference.times), *map(np.asarray, reference.coordinates))
    return error({problem.fields[0]: values[0]}, reference)


def error(values: dict, reference: hc.Reference) -> float:
    """The relative L2 error."""
    (name,) = reference.values
    exact = reference.values[name]
    return float(np.linalg.norm(values[name] - exact) / np.linalg.norm(exact))


def table(rows: list[dict]) -> str:
    """Medians over the seeds, as Markdown."""
    lines = [
        "| problem | neurons | hybrid | three times as many sampled | trained throughout |",
        "|---|---:|---:|---:|---:|",
    ]
    for row in rows:
        errors = " | ".join(f"{statistics.median(row[k]):.1e}" for k in ("hybrid", "sampled", "trained"))
        lines.append(f"| {row['problem']} | {row['neurons']} | {errors} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
