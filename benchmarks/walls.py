"""How exactly walls hold, how accurate `evolve` is with them, and what exact walls are worth in training.

    python benchmarks/walls.py --out benchmarks/results/walls-cpu.json
    python benchmarks/walls.py --parts evolve --only wave beam --out benchmarks/results/walls-cpu.json

Three parts in one run. `exact`: the largest violation of any condition, at fresh points, for random network
parameters. `evolve`: error against the classical reference, estimate, verdict and seconds, asked for 1e-6 and
nothing else. `train`: `expert` with exact walls, and with the same conditions as penalties, by time.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import hcpinn as hc
from hcpinn.catalog import find_method
from hcpinn.checking.comparison import relative_errors
from hcpinn.descent import Preparation, Progress, Stop, train
from hcpinn.evolution import evolve
from hcpinn.machine.precision import double
from hcpinn.machine.provenance import provenance
from hcpinn.solving.growth import Grower
from hcpinn.trial import Trial

PI = np.pi
VALUE, SLOPE, MIXTURE = hc.Dirichlet(0.3), hc.Neumann(0.0), hc.Robin(0.6, value=2.0, slope=1.0)
SECOND = {"Dirichlet": [VALUE], "Neumann": [SLOPE], "Robin": [MIXTURE]}
FOURTH = {
    "clamped": [VALUE, SLOPE],
    "supported": [VALUE, hc.Derivative(0.0)],
    "no flux": [SLOPE, hc.Derivative(0.0, order=3)],
}
FACES = {**{name: tuple([own[0]] * 2) for name, own in SECOND.items()}, "periodic": hc.Periodic()}


def conditions() -> Iterator[tuple[str, hc.Problem]]:
    """All pairs of kinds on an interval, and a covering set on faces of boxes."""

    def declared(name: str, domain: hc.Box, boundary: Any, rhs: Callable[..., Any]) -> tuple[str, hc.Problem]:
        return name, hc.Problem(domain=domain, horizon=1.0, boundary=boundary, rhs=rhs, initial=START)

    line = hc.Interval(-0.4, 1.1)
    for kinds, rhs in ((SECOND, lambda u, t: u.xx + np.sin(t)), (FOURTH, lambda u, t: np.sin(t) - u.xxxx)):
        for low, high in itertools.product(kinds, repeat=2):
            yield declared(f"{low} | {high}", line, (kinds[low], kinds[high]), rhs)
    for size in (2, 3):
        box = hc.Box(*[(0.0, 1.0 + 0.2 * axis) for axis in range(size)])
        for chosen in itertools.combinations(FACES, size):
            boundary = {letter: FACES[name] for letter, name in zip("xyz", chosen, strict=False)}
            yield declared(" × ".join(chosen), box, boundary, lambda u, t: u.laplacian + np.sin(t))
    yield (
        "by field",
        hc.Problem(
            domain=line,
            horizon=1.0,
            boundary={"u": (VALUE, SLOPE), "v": MIXTURE},
            rhs=lambda u, v: (u.xx + v, 0.5 * v.xx - u),
            initial=(START, START),
        ),
    )
    yield (  # the data of cos(x + 0.7 y − t), which vary along faces and in time
        "four kinds that vary",
        hc.Problem(
            domain=hc.Box((0, 1), (0, 1.2)),
            horizon=1.0,
            boundary={
                "x": (
                    hc.Dirichlet(lambda t, y: np.cos(0.7 * y - t)),
                    hc.Neumann(lambda t, y: -np.sin(1 + 0.7 * y - t)),
                ),
                "y": (
                    hc.Robin(lambda t, x: np.cos(x - t) + 0.7 * np.sin(x - t)),
                    hc.Dirichlet(lambda t, x: np.cos(x + 0.84 - t)),
                ),
            },
            rhs=lambda u: u.laplacian,
            initial=lambda x, y: np.cos(x + 0.7 * y),
        ),
    )


START = 0.3
"""Initial data that suit all conditions above."""


def violation(problem: hc.Problem, derivative: Callable[..., Any], count: int = 200) -> float:
    """The largest |B u − g| at fresh points after the start, over the size of u or of its terms."""
    zero = (0,) * len(problem.axes)
    rng, worst = np.random.default_rng(1), 0.0
    for side in problem.sides:
        times = rng.uniform(problem.start + 0.01 * problem.duration, problem.horizon, count)
        unit = rng.random((count, problem.domain.dimension - 1))
        points = jnp.asarray(np.column_stack([times, problem.domain.on(side.part, unit)]))
        across = [x for axis, x in enumerate(points.T[1:]) if axis != side.axis]
        data = problem.boundary_components(side, points[:, 0], across)
        normal = problem.domain.normal(side.part, None)
        for component, field in enumerate(problem.component_fields):
            for condition, g in zip(side.conditions[field], data[component], strict=True):
                terms = [
                    factor * np.asarray(derivative(points, index))[:, component]
                    for index, factor in condition.terms(normal)
                ]
                usual = float(np.abs(np.asarray(derivative(points, zero))[:, component]).max())
                size = max(*(np.abs(term).max() for term in terms), float(np.abs(g).max()), usual)
                worst = max(worst, float(np.abs(np.sum(terms, axis=0) - np.asarray(g)).max()) / size)
    return worst


def exactness(only: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    """Each pair of conditions, for a trained kind of network and for an evolution, with random parameters."""
    for name, problem in conditions():
        if only and not any(part in name for part in only):
            continue
        row = {"name": name, "dimensions": problem.domain.dimension, "network": random_network(problem)}
        row["evolution"] = random_evolution(problem)
        yield row


def random_network(problem: hc.Problem) -> float:
    """The violation by a network of random parameters under exact walls."""
    method = find_method("expert", problem)
    assert isinstance(method, hc.Method)
    trial = Trial(
        problem, lift=hc.Decay(0.5), gate=hc.LinearGate(), embedding=method.embedding, network=hc.MLP(12, 2)
    )
    parameters = trial.init(jax.random.key(0))
    parameters = jax.tree.map(lambda a: a + jax.random.normal(jax.random.key(1), a.shape) / 3, parameters)
    return violation(problem, lambda p, i: trial.jet(parameters, trial.fix(p, [i]), [i])[i])


def random_evolution(problem: hc.Problem) -> float:
    """The violation by sampled features with random output weights."""
    found = evolve(problem, accuracy=0.3, max_seconds=60.0)
    assert found.function is not None
    noise = np.random.default_rng(2).standard_normal(found.function.powers.shape)
    function = dataclasses.replace(found.function, powers=noise)
    return violation(problem, function.derivative)


def problems() -> Iterator[tuple[str, hc.Problem]]:
    """Walls of every kind, and equations of second order in time, as a user would state them."""
    line, square = hc.Interval(0, 1), hc.Box((0, 1), (0, 1))
    still, clamp = hc.Neumann(0.0), [hc.Dirichlet(0.0), hc.Neumann(0.0)]

    def waves(speed: float, horizon: float) -> hc.Problem:
        return hc.Problem(
            domain=line,
            horizon=horizon,
            boundary=hc.Dirichlet(0.0),
            order=2,
            rhs=lambda u: speed**2 * u.xx,
            initial=lambda x: np.sin(PI * x) + np.sin(4 * PI * x) / 2,
            velocity=0.0,
        )

    def beam(ends: Any, start: Callable[..., Any]) -> hc.Problem:
        return hc.Problem(
            domain=line,
            horizon=0.5,
            boundary=ends,
            order=2,
            rhs=lambda u: -u.xxxx,
            initial=start,
            velocity=0.0,
        )

    yield (
        "heat, Dirichlet | Neumann",
        hc.Problem(
            domain=line,
            horizon=0.5,
            boundary=(hc.Dirichlet(0.0), hc.Neumann(1.0)),
            rhs=lambda u: u.xx,
            initial=lambda x: x + np.sin(PI * x / 2),
        ),
    )
    yield (
        "heat, Robin | Robin",
        hc.Problem(
            domain=line,
            horizon=0.5,
            boundary=hc.Robin(0.0, value=2.0, slope=1.0),
            rhs=lambda u: u.xx,
            initial=lambda x: 1 + 2 * x * (1 - x),
        ),
    )
    yield (
        "Allen–Cahn, Neumann",
        hc.Problem(
            domain=hc.Interval(-1, 1),
            horizon=1.0,
            boundary=still,
            rhs=lambda u: 1e-3 * u.xx - 5 * (u**3 - u),
            initial=lambda x: np.cos(PI * x) / 2 + np.sin(PI * x / 2) / 4,
        ),
    )
    yield (
        "Brusselator, conditions by field",
        hc.Problem(
            domain=line,
            horizon=5.0,
            boundary={"u": hc.Dirichlet(1.0), "v": still},
            rhs=lambda u, v: (1 + u**2 * v - 4 * u + 0.02 * u.xx, 3 * u - u**2 * v + 0.02 * v.xx),
            initial=(lambda x: 1 + np.sin(2 * PI * x), 3.0),
        ),
    )
    yield (
        "heat in a square, four kinds of face",
        hc.Problem(
            domain=square,
            horizon=0.5,
            boundary={
                "x": (hc.Dirichlet(0.0), hc.Neumann(0.0)),
                "y": (hc.Robin(0.0, value=1.0, slope=1.0), still),
            },
            rhs=lambda u, t, x, y: 0.2 * u.laplacian + np.sin(PI * x / 2) * (1 + y * (2 - y)) * np.cos(3 * t),
            initial=lambda x, y: np.sin(PI * x / 2) * (1 + y - y**2 / 2),
        ),
    )
    yield (
        "heat in a square, periodic and Robin",
        hc.Problem(
            domain=square,
            horizon=0.5,
            boundary={
                "x": hc.Periodic(),
                "y": (hc.Robin(0.0, value=1.0, slope=1.0), hc.Dirichlet(lambda t, x: np.sin(2 * PI * x))),
            },
            rhs=lambda u, t, x: 0.1 * u.laplacian + np.cos(2 * PI * x - t),
            initial=lambda x, y: np.sin(2 * PI * x) * (1 + y) / 2,
        ),
    )
    yield (
        "Allen–Cahn in a cube",
        hc.Problem(
            domain=hc.Box((0, 1), (0, 1), (0, 1)),
            horizon=0.2,
            boundary={"x": hc.Dirichlet(0.0), "y": still, "z": hc.Periodic()},
            rhs=lambda u: 0.1 * u.laplacian + u - u**3,
            initial=lambda x, y, z: np.sin(PI * x) * np.cos(PI * y) * (1 + np.cos(2 * PI * z) / 2),
        ),
    )
    yield "wave, c = 2", waves(2.0, 1.0)
    yield "wave, c = 2, to T = 100", waves(2.0, 100.0)
    yield (
        "sine-Gordon, Neumann",
        hc.Problem(
            domain=hc.Interval(-10, 10),
            horizon=10.0,
            boundary=still,
            order=2,
            rhs=lambda u: u.xx - np.sin(u),
            initial=lambda x: 3 * np.exp(-(x**2)),
            velocity=0.0,
        ),
    )
    yield "beam, clamped", beam(clamp, lambda x: np.sin(PI * x) ** 2 * np.exp(x))
    supported = [hc.Dirichlet(0.0), hc.Derivative(0.0)]
    yield "beam, simply supported", beam(supported, lambda x: np.sin(PI * x) + np.sin(3 * PI * x) / 4)


def evolutions(only: Sequence[str] | None, accuracy: float) -> Iterator[dict[str, Any]]:
    """Each problem solved by default and compared with its reference."""
    for name, problem in problems():
        if only and not any(part in name for part in only):
            continue
        processor = time.process_time()
        found = evolve(problem, accuracy=accuracy)
        processor = time.process_time() - processor
        check = time.process_time()
        reference = hc.solve_reference(problem, cache=False)
        check = time.process_time() - check
        solution = hc.solve(problem, accuracy=accuracy, reference=reference)
        assert solution.rel_l2 is not None
        row = {
            "name": name,
            "order": problem.order,
            "error": max(solution.rel_l2.values()),
            "estimate": found.estimated_error,
            "verdict": solution.verdict.status,
            "seconds": round(found.seconds, 2),
            "processor_seconds": round(processor, 2),
            "reference_seconds": round(check, 2),
            "reference_error": reference.error_estimate,
            "passes": len(found.passes),
            "unknowns": found.passes[-1].rank,
            "time_steps": found.passes[-1].steps,
        }
        density = next((own for start, own in ENERGY.items() if name.startswith(start)), None)
        if density is not None:
            row["energy_drift"] = energy_drift(solution, density)
        yield row


ENERGY: dict[str, Callable[[Any, Callable[[str], Any]], Any]] = {
    "wave": lambda u, d: (d("t") ** 2 + 4 * d("x") ** 2) / 2,
    "sine-Gordon": lambda u, d: (d("t") ** 2 + d("x") ** 2) / 2 + 1 - np.cos(u),
    "beam": lambda u, d: (d("t") ** 2 + d("xx") ** 2) / 2,
}
"""The density of what equations conserve, by how their names begin, from u and its derivatives."""


def energy_drift(solution: hc.Solution, density: Callable[[Any, Callable[[str], Any]], Any]) -> float:
    """The largest relative change of the energy over time."""
    (low, high), times = solution.problem.domain.bounds[0], np.linspace(0, solution.problem.horizon, 201)
    nodes, weights = np.polynomial.legendre.leggauss(96)
    x = low + (high - low) * (nodes + 1) / 2
    at = np.repeat(times, len(x)), np.tile(x, len(times))
    found = density(solution(*at), lambda name: solution.derivative(name, *at))
    energy = found.reshape(len(times), -1) @ weights
    return float(np.abs(energy / energy[0] - 1).max())


def apart() -> Iterator[tuple[str, hc.Problem]]:
    """Problems that no setting was chosen by, to see what exact walls are worth elsewhere."""
    line = hc.Interval(0, 1)
    yield (
        "Burgers, Robin | Neumann",
        hc.Problem(
            domain=hc.Interval(-1, 1),
            horizon=1.0,
            boundary=(hc.Robin(0.0, value=1.0, slope=0.5), hc.Neumann(0.0)),
            rhs=lambda u: 0.05 * u.xx - u * u.x,
            initial=lambda x: (1 + x) * (3 - x) / 4 + 0.5,
        ),
    )
    yield (
        "cubic sink, moving Neumann data",
        hc.Problem(
            domain=line,
            horizon=1.0,
            boundary=(hc.Neumann(lambda t: np.sin(3 * t)), hc.Neumann(0.0)),
            rhs=lambda u: 0.1 * u.xx - u**3,
            initial=lambda x: np.cos(PI * x),
        ),
    )
    yield (
        "Cahn–Hilliard, no flux",
        hc.Problem(
            domain=line,
            horizon=0.05,
            boundary=[hc.Neumann(0.0), hc.Derivative(0.0, order=3)],
            rhs=lambda u: -0.002 * u.xxxx - 0.2 * (u.xx * (1 - 3 * u**2) - 6 * u * u.x**2),
            initial=lambda x: 0.3 * np.cos(2 * PI * x) + 0.2 * np.cos(3 * PI * x),
        ),
    )
    yield (
        "reaction in a square, Dirichlet and Neumann",
        hc.Problem(
            domain=hc.Box((0, 1), (0, 1)),
            horizon=0.5,
            boundary={"x": hc.Neumann(0.0), "y": (hc.Dirichlet(0.0), hc.Neumann(0.0))},
            rhs=lambda u: 0.05 * u.laplacian + 4 * (u - u**3),
            initial=lambda x, y: np.sin(PI * y / 2) * (0.6 + 0.3 * np.cos(PI * x)),
        ),
    )


class Limited(Progress):
    """Ends a training after some seconds of the processor, leaving out those spent on looking at it."""

    def __init__(self, seconds: float):
        super().__init__(visible=False)
        self.begun, self.most, self.left_out = time.process_time(), seconds, 0.0

    @property
    def spent(self) -> float:
        return time.process_time() - self.begun - self.left_out

    @property
    def interrupted(self) -> bool:
        return self.spent > self.most


def followed(problem: hc.Problem, method: hc.Method, seconds: float, reference: hc.Reference) -> list[Any]:
    """The error of a training by time: seconds of the processor, steps, error.

    Preparation and compilation are part of the time, comparisons with the reference are not.
    """
    every = [slice(None, None, max(1, len(places) // 64)) for places in reference.coordinates]
    times = reference.times[::5]
    axes = [places[part] for places, part in zip(reference.coordinates, every, strict=True)]
    values = {name: v[::5][(slice(None), *every)] for name, v in reference.values.items()}
    mesh = np.meshgrid(times, *axes, indexing="ij")
    points, zero = jnp.asarray(np.stack([m.ravel() for m in mesh], axis=1)), (0,) * len(mesh)
    progress, rows = Limited(seconds), []

    def look(outcome: Any) -> None:
        begun, spent = time.process_time(), progress.spent
        fields = problem.to_fields(outcome.function.derivative(points, zero))
        found = {n: np.asarray(f).reshape(mesh[0].shape) for n, f in zip(values, fields, strict=True)}
        error = max(relative_errors(problem, found, values)[0].values())
        rows.append([round(spent, 2), len(outcome.history.loss), error])
        progress.left_out += time.process_time() - begun

    def keep(so_far: Callable[[Stop], list[Any]]) -> None:
        if not rows or progress.spent > 1.05 * rows[-1][0]:
            look(so_far(Stop.TIME)[0])

    runs = [hc.Run(problem, method, 0)]
    preparation = Preparation(runs, accuracy=1e-8, compile_early=True)
    look(train(preparation, progress=progress, keep=keep, grower=Grower(runs, 1e-8))[0])
    return rows


TRAINED = ("Allen–Cahn, Neumann", "heat, Dirichlet | Neumann")


def trainings(only: Sequence[str] | None, seconds: float) -> Iterator[dict[str, Any]]:
    """`expert` with walls held exactly and by a penalty, both without growth; and as it comes."""
    named = [(name, problem) for name, problem in problems() if name in TRAINED]
    for name, problem in [*named, *apart()]:
        if only and not any(part in name for part in only):
            continue
        reference = hc.solve_reference(problem)
        grown = find_method("expert", problem)
        assert isinstance(grown, hc.Method)
        exact = dataclasses.replace(grown, growth=None)
        soft = dataclasses.replace(exact, embedding=hc.Plain(), penalties=(hc.BoundaryPenalty(),))
        kinds = {"exact": exact, "penalty": soft, **({"exact, grown": grown} if name in TRAINED else {})}
        for kind, method in kinds.items():
            rows = followed(problem, method, seconds, reference)
            yield {"name": name, "walls": kind, "named": name in TRAINED, "seconds, steps, error": rows}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--accuracy", type=float, default=1e-6)
    parser.add_argument("--seconds", type=float, default=31.0, help="for each training")
    parser.add_argument("--parts", nargs="*", default=["exact", "evolve", "train"])
    parser.add_argument("--only", nargs="*", help="names that contain one of these")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    origin = provenance()
    found: dict[str, Any] = {"device": origin.device, "versions": dict(origin.versions)}
    found["accuracy"] = options.accuracy
    parts = {
        "exact": lambda: exactness(options.only),
        "evolve": lambda: evolutions(options.only, options.accuracy),
        "train": lambda: trainings(options.only, options.seconds),
    }
    if options.out.exists():
        found = {**json.loads(options.out.read_text()), **found}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with double():
        for part in options.parts:
            for row in parts[part]():
                known = found.get(part, [])
                found[part] = [r for r in known if _key(r) != _key(row)] + [row]
                options.out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
                print(json.dumps(row, ensure_ascii=False), flush=True)


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["name"], row.get("walls")


if __name__ == "__main__":
    main()
