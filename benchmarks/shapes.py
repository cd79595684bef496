"""How accurate solutions are on curved domains, how exactly data hold there, and what features cost.

    python benchmarks/shapes.py --out benchmarks/results/shapes-cpu.json
    python benchmarks/shapes.py --parts phases --only annulus --out benchmarks/results/shapes-cpu.json

Six parts. `exact`: the largest violations of prescribed values, which a gate holds, and of u + ∂u/∂n = 0,
which a null space holds, at 10,000 fresh points of the boundary, for random output weights. `heat`: error
against Bessel functions on a disk. `eigenvalues`: those of −∇² in the basis of one pass, against Bessel
functions or a Galerkin method of polynomials. `phases`: the Allen–Cahn equation against finite elements.
`cost`: seconds and memory of a pass by its number of features. `train`: `expert` on the same disk.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import jax.numpy as jnp
import numpy as np
import scipy.linalg
from scipy.optimize import brentq
from scipy.special import jn_zeros, jnp_zeros, jv, jvp

import hcpinn as hc
from hcpinn.catalog import find_method
from hcpinn.evolution import evolve
from hcpinn.evolution.lift import Carrier
from hcpinn.evolution.limits import Limits
from hcpinn.evolution.pointwise import Pointwise
from hcpinn.evolution.regions import RegionFunction, RegionSpace
from hcpinn.machine.precision import double
from hcpinn.machine.provenance import provenance
from hcpinn.problem import Domain, Shape
from walls import within

L = hc.Polygon([(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)])
HOLES = [hc.Disk((0.7, 0.7), 0.3), hc.Disk((1.5, 1.4), 0.3), hc.Disk((2.3, 0.7), 0.3)]
GEAR = hc.Implicit(
    lambda x, y: 1 + 0.12 * jnp.cos(9 * jnp.arctan2(y, x)) - jnp.sqrt(x**2 + y**2 + 1e-12),
    ((-1.3, 1.3), (-1.3, 1.3)),
)
SHAPES: dict[str, Shape] = {
    "disk": hc.Disk((0.3, -0.2), 0.7),
    "ellipse": hc.Ellipse((0, 0), (2, 1), angle=0.4),
    "triangle": hc.Polygon([(0, 0), (2, 0.2), (0.5, 1.5)]),
    "L": L,
    "annulus": hc.Annulus(inner=0.5, outer=1.0),
    "plate with three holes": hc.Box((0, 3), (0, 2)) - HOLES[0] - HOLES[1] - HOLES[2],
    "lens": hc.Disk() & hc.Disk((1, 0)),
    "keyhole": hc.Disk() | hc.Box((-0.3, 0.3), (-2, 0)),
    "gear": GEAR - hc.Disk(radius=0.3),
    "disk of size 1e-6": hc.Disk(radius=1e-6),
    "annulus of size 1e6": hc.Annulus(inner=5e5, outer=1e6),
    "ball": hc.Ball(),
    "cylinder": hc.Cylinder((0, 0), 1, (0, 2)),
}

Row = dict[str, Any]
Wanted = Callable[[str], bool]


def space_of(problem: hc.Problem) -> RegionSpace:
    return RegionSpace(problem, Carrier(problem), Pointwise(problem), Limits())


def exact(wanted: Wanted) -> Iterator[Row]:
    """Prescribed values that vary along the boundary and in time, for random output weights."""
    for name, domain in SHAPES.items():
        if not wanted(name):
            continue
        scale = max(domain.lengths)

        def value(t: Any, x: Any, y: Any, scale: float = scale) -> Any:
            return jnp.cos(x / scale + 2 * t) + y / scale

        problem = hc.Problem(
            domain=domain,
            horizon=1.0,
            boundary=hc.Dirichlet(value),
            rhs=lambda u, scale=scale: scale**2 * u.laplacian,
            initial=lambda x, y: value(0.0, x, y),
        )
        space = space_of(problem)
        system = space.projection(300, 0)
        rng = np.random.default_rng(1)
        noise = tuple(rng.standard_normal((1, 4, basis.layer.mix.shape[1])) for basis in system.bases)
        layers = tuple(basis.layer for basis in system.bases)
        function = RegionFunction(layers, np.array([0.0, 1.0]), noise, space.carrier)
        share = [domain.extent(part) for part in domain.parts]
        worst, zero = 0.0, (0,) * (1 + domain.dimension)
        inside = domain.inside(rng.random((2000, domain.dimension)))
        times = np.array([0.13, 0.71])
        size = float(np.abs(function.on_points(times, inside, zero)).max())
        places = {}
        for part, own in zip(domain.parts, share, strict=True):
            count = math.ceil(10_000 * own / sum(share))
            places[part] = points = domain.on(part, rng.random((count, domain.dimension - 1)))
            data = np.stack([np.asarray(value(t, *points.T[:2])) for t in times])
            gap = np.abs(function.on_points(times, points, zero)[0] - data)
            worst = max(worst, float(gap.max()) / size)
        # Towards a re-entrant corner slopes have no bound that a violation could be compared with.
        reentrant = any(corner.reentrant for corner in getattr(domain, "corners", ()))
        yield {
            "name": name,
            "values": worst,
            "slopes": None if reentrant else slopes(domain, places, inside),
        }


def slopes(domain: Shape, places: dict[str, np.ndarray], inside: np.ndarray) -> float:
    """The largest |u/size + ∂u/∂n| over the largest slope inside, for a random function of a basis."""
    scale = max(domain.lengths)
    problem = hc.Problem(
        domain=domain,
        horizon=1.0,
        boundary=hc.Robin(0.0, value=1 / scale, slope=1.0),
        rhs=lambda u: scale**2 * u.laplacian,
        initial=0.0,
    )
    (basis,) = space_of(problem).projection(300, 0).bases
    own = basis.layer.mix @ (basis.null @ np.random.default_rng(2).standard_normal(basis.null.shape[1]))
    unit = [tuple(int(i == axis) for i in range(domain.dimension)) for axis in range(domain.dimension)]
    steepest = max(float(np.abs(f @ own).max()) for f in basis.layer.at(inside, unit))
    worst = 0.0
    for part, points in places.items():
        value, *gradient = (f @ own for f in basis.layer.at(points, [(0,) * domain.dimension, *unit]))
        normal = domain.normal(part, points)
        found = value / scale + sum(g * np.asarray(n) for g, n in zip(gradient, normal, strict=True))
        worst = max(worst, float(np.abs(found).max()) / steepest)
    return worst


def bessel(order: int, k: float) -> Callable[[Any, Any], Any]:
    """Jₘ(k r) cos mθ by its power series, smooth in x and y."""

    def function(x: Any, y: Any) -> Any:
        square, wave = x * x + y * y, (x + 1j * y) ** order
        total = sum(
            (-1) ** j
            * (k / 2) ** (2 * j + order)
            / (math.factorial(j) * math.factorial(j + order))
            * square**j
            for j in range(30)
        )
        return jnp.real(wave) * total

    return function


def robin_zero(order: int, alpha: float, low: float, high: float) -> float:
    """k with α Jₘ(k) + k Jₘ′(k) = 0."""
    return cast(float, brentq(lambda k: alpha * jv(order, k) + k * jvp(order, k), low, high, xtol=1e-15))


DISKS: dict[str, tuple[Any, list[tuple[float, int, float]]]] = {
    "Dirichlet": (hc.Dirichlet(0.0), [(1.0, 0, jn_zeros(0, 1)[0]), (1.0, 2, jn_zeros(2, 1)[0])]),
    "Neumann": (hc.Neumann(0.0), [(1.0, 1, jnp_zeros(1, 1)[0]), (0.5, 0, jnp_zeros(0, 1)[0])]),
    "Robin": (
        hc.Robin(0.0, value=2.0, slope=1.0),
        [(1.0, 0, robin_zero(0, 2.0, 1.0, 2.4)), (1.0, 1, robin_zero(1, 2.0, 2.0, 3.8))],
    ),
}
"""Conditions, and the modes (amplitude, m, k) of the solution."""


def on_disk(name: str) -> tuple[hc.Problem, Callable[..., float]]:
    """Heat on the unit disk, and the relative L2 error of a function of (times, points)."""
    condition, modes = DISKS[name]
    waves = [(a, k, bessel(order, k)) for a, order, k in modes]

    def exact(t: Any, x: Any, y: Any) -> Any:
        return sum(a * wave(x, y) * jnp.exp(-(k**2) * t) for a, k, wave in waves)

    problem = hc.Problem(
        domain=hc.Disk(),
        horizon=0.2,
        boundary=condition,
        rhs=lambda u: u.laplacian,
        initial=lambda x, y: exact(0.0, x, y),
    )

    def error(function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> float:
        points, weights = cast(Shape, problem.domain).quadrature(3000)
        times = np.linspace(0, 0.2, 21)
        truth = np.stack([np.asarray(exact(t, *points.T)) for t in times])
        gap = function(times, points) - truth
        return float(np.sqrt((gap**2 @ weights).sum() / (truth**2 @ weights).sum()))

    return problem, error


def heat(wanted: Wanted) -> Iterator[Row]:
    """Heat on the unit disk against Bessel functions."""
    for name in DISKS:
        if not wanted(name):
            continue
        problem, error = on_disk(name)
        accuracy = 1e-8 if name == "Dirichlet" else 1e-6
        processor = time.process_time()
        found = evolve(problem, accuracy=accuracy)
        processor = time.process_time() - processor
        function, last = found.function, found.passes[-1]
        assert function is not None
        yield {
            "name": name,
            "accuracy": accuracy,
            "error": error(lambda times, at, f=function: f.on_points(times, at, (0, 0, 0))[0]),
            "estimate": found.estimated_error,
            "processor_seconds": round(processor, 2),
            "features": last.features,
            "unknowns": last.rank,
        }


def galerkin(a: float, b: float, degree: int = 34) -> np.ndarray:
    """Eigenvalues of −∇² on an ellipse with u = 0, by (1 − x²/a² − y²/b²) times polynomials."""
    nodes, weights = np.polynomial.legendre.leggauss(3 * degree)
    r, angle = (nodes + 1) / 2, 2 * np.pi * np.arange(4 * degree) / (4 * degree)
    x, y = (np.outer(r, np.cos(angle)).ravel(), np.outer(r, np.sin(angle)).ravel())  # of the unit disk
    measure = a * b * np.repeat(weights / 2 * r, len(angle)) * (2 * np.pi / len(angle))
    chebyshev = np.polynomial.chebyshev.chebvander
    slope = np.polynomial.chebyshev.chebder(np.eye(degree + 1))
    tx, ty = chebyshev(x, degree), chebyshev(y, degree)
    dx, dy = chebyshev(x, degree - 1) @ slope, chebyshev(y, degree - 1) @ slope
    pairs = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]
    gate = 1 - x**2 - y**2
    value = np.stack([gate * tx[:, i] * ty[:, j] for i, j in pairs], 1)
    along = np.stack([(gate * dx[:, i] - 2 * x * tx[:, i]) * ty[:, j] for i, j in pairs], 1) / a
    across = np.stack([(gate * dy[:, j] - 2 * y * ty[:, j]) * tx[:, i] for i, j in pairs], 1) / b
    # A QR factorisation makes the functions orthonormal, so that rounding stays small.
    root = np.sqrt(measure)[:, None]
    _, upper = np.linalg.qr(root * value)
    inverse = scipy.linalg.solve_triangular(upper, np.eye(len(upper)))
    slopes = [root * part @ inverse for part in (along, across)]
    return np.linalg.eigvalsh(sum(s.T @ s for s in slopes))


def zeros(count: int) -> np.ndarray:
    """The first squares of zeros of Bessel functions, each of higher order twice."""
    found = [jn_zeros(0, count), *(np.repeat(jn_zeros(n, count), 2) for n in range(1, count))]
    return np.sort(np.concatenate(found) ** 2)[:count]


SPECTRA: dict[str, tuple[Domain, int, Callable[[], np.ndarray]]] = {
    "disk": (hc.Disk(), 400, lambda: zeros(10)),
    "ellipse": (hc.Ellipse((0, 0), (2, 1)), 500, lambda: galerkin(2.0, 1.0)[:10]),
    "L": (L, 600, lambda: np.array([9.6397238440219])),
}


def eigenvalues(wanted: Wanted) -> Iterator[Row]:
    """The smallest eigenvalues of −∇² with u = 0 on the boundary."""
    for name, (domain, features, known) in SPECTRA.items():
        if not wanted(name):
            continue
        truth = known()
        problem = hc.Problem(
            domain=domain, horizon=1.0, boundary=hc.Dirichlet(0.0), rhs=lambda u: u.laplacian, initial=0.0
        )
        processor = time.process_time()
        system = space_of(problem).projection(features, 0)
        found = np.sort(-np.linalg.eigvals(system.jacobian(0.0, system.start())).real)[: len(truth)]
        yield {
            "name": name,
            "features": features,
            "count": len(truth),
            "error": float(np.abs(found / truth - 1).max()),
            "processor_seconds": round(time.process_time() - processor, 2),
            "notes": list(problem.notes),
        }


def separation(domain: Domain, rate: float, epsilon: float, start: Callable[..., Any]) -> hc.Problem:
    """Allen–Cahn without flux through the walls."""
    return hc.Problem(
        domain=domain,
        horizon=1.0,
        boundary=hc.Neumann(0.0),
        rhs=lambda u: epsilon * u.laplacian + rate * (u - u**3),
        initial=start,
    )


PHASES = {
    "annulus": separation(
        SHAPES["annulus"], 2.0, 0.02, lambda x, y: 0.6 * jnp.sin(2 * x) * jnp.cos(1.5 * y) + 0.2 * x
    ),
    "plate with three holes": separation(
        SHAPES["plate with three holes"],
        2.0,
        0.02,
        lambda x, y: 0.5 * jnp.cos(np.pi * x) * jnp.cos(np.pi * y),
    ),
}


def phases(wanted: Wanted) -> Iterator[Row]:
    """Phases that part, compared with finite elements."""
    for name, problem in PHASES.items():
        if not wanted(name):
            continue
        processor = time.process_time()
        found = evolve(problem, accuracy=1e-4)
        processor = time.process_time() - processor
        assert found.function is not None
        begun = time.process_time()
        reference = hc.solve_reference(problem, cache=False)
        begun = time.process_time() - begun
        grid = found.function.on_grid(reference.times, *reference.coordinates)[0]
        truth = reference.values["u"]
        seen = np.isfinite(truth) & np.isfinite(grid)
        yield {
            "name": name,
            "error": float(np.linalg.norm((grid - truth)[seen]) / np.linalg.norm(truth[seen])),
            "estimate": found.estimated_error,
            "processor_seconds": round(processor, 1),
            "features": found.passes[-1].features,
            "unknowns": found.passes[-1].rank,
            "reference_error": reference.error_estimate,
            "reference_seconds": round(begun, 1),
            "reference": reference.solver,
        }


def most_memory() -> float:
    """The most that this process has taken, in MiB; what `getrusage` gives begins with its parent's."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def pass_cost(features: int, condition: str, answer: Any) -> None:
    """What a basis and one factorisation take in a process of their own."""
    boundary = hc.Dirichlet(0.0) if condition == "Dirichlet" else hc.Neumann(0.0)
    problem = hc.Problem(
        domain=hc.Disk(), horizon=1.0, boundary=boundary, rhs=lambda u: u.laplacian, initial=0.0
    )
    with double():
        space = space_of(problem)
        space.projection(100, 0)  # compiles, and loads what is loaded once
        before = most_memory()
        begun = time.process_time()
        system = space.projection(features, 0)
        system.linearised(0.0, system.start())(1.0)
        spent = time.process_time() - begun
    answer.put((spent, most_memory() - before, system.unknowns))


def cost(wanted: Wanted) -> Iterator[Row]:
    """Processor seconds and peak memory of one basis and one factorisation."""
    spawn = multiprocessing.get_context("spawn")
    for condition in ("Dirichlet", "Neumann"):
        for features in (250, 500, 1000, 2000):
            name = f"{condition}, {features}"
            if not wanted(name):
                continue
            answer = spawn.SimpleQueue()
            child = spawn.Process(target=pass_cost, args=(features, condition, answer))
            child.start()
            spent, memory, unknowns = answer.get()
            child.join()
            yield {
                "name": name,
                "condition": condition,
                "features": features,
                "unknowns": unknowns,
                "processor_seconds": round(spent, 2),
                "mebibytes": round(memory),
            }


def train(wanted: Wanted) -> Iterator[Row]:
    """`expert` on the disk: values by the gate, slopes by a penalty, within 60 s of the processor."""
    for name in DISKS:
        if not wanted(name):
            continue
        problem, error = on_disk(name)
        method = find_method("expert", problem)
        assert isinstance(method, hc.Method)
        found, spent = within(problem, method, 60.0)
        yield {
            "name": name,
            "error": error(lambda times, at, f=found: f(times[:, None], *at.T)),
            "estimate": found.estimated_error,
            "processor_seconds": round(spent, 1),
        }


PARTS = {
    "exact": exact,
    "heat": heat,
    "eigenvalues": eigenvalues,
    "phases": phases,
    "cost": cost,
    "train": train,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--only", nargs="*", help="names that contain one of these")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    origin = provenance()
    found: Row = json.loads(options.out.read_text()) if options.out.exists() else {}
    found |= {"device": origin.device, "versions": dict(origin.versions)}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with double():
        for part in options.parts:
            for row in PARTS[part](lambda name: not options.only or any(o in name for o in options.only)):
                found[part] = [r for r in found.get(part, []) if r["name"] != row["name"]] + [row]
                options.out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
                print(json.dumps(row, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
