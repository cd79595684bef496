"""How good fits are: repeats with fresh noise against the Cramér–Rao bound, and whole fits of many kinds.

    python benchmarks/fits.py repeats [NAME…] --out benchmarks/results/fits-cpu.json
    python benchmarks/fits.py whole [NAME…] --out benchmarks/results/fits-cpu.json
    python benchmarks/fits.py beside --deepxde PYTHON --out benchmarks/results/fits-cpu.json

Repeats start at the true values, on a basis chosen there once, with fresh noise each time: they measure
estimates and intervals. Whole fits are calls of `hcpinn.fit` from a guess that is wrong by a factor of about
two or more. Beside one another, one set of data is fitted by evolution, by training, and by DeepXDE in an
environment of its own.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import hcpinn as hc
from hcpinn.estimation.fit import _first_misfit, _lowest, _noises, _State, _uncertain, _wanted
from hcpinn.estimation.judgement import _curves, _estimates
from hcpinn.estimation.layout import Layout
from hcpinn.estimation.model import Model
from hcpinn.estimation.robust import Loss
from hcpinn.estimation.search import Point
from hcpinn.evolution.limits import Limits
from hcpinn.machine.precision import double
from hcpinn.machine.provenance import provenance


def declare(name: str, **parameters: Any) -> hc.Problem:
    """One of the equations below, with numbers or unknowns."""
    wave = lambda x: np.exp(-4 * np.sin(np.pi * x / 2) ** 2)
    known: dict[str, dict[str, Any]] = {
        "burgers": {
            "domain": hc.Interval(-1, 1),
            "horizon": 1.0,
            "boundary": hc.Dirichlet(0.0),
            "rhs": lambda u, l1, l2: l2 * u.xx - l1 * u * u.x,
            "initial": lambda x: -np.sin(np.pi * x),
        },
        "decay": {
            "domain": hc.Interval(-1, 1),
            "horizon": 1.0,
            "rhs": lambda u, k, r: k * u.xx - r * u,
            "initial": lambda x: 1 + np.sin(np.pi * x),
        },
        "allen-cahn": {
            "domain": hc.Interval(-1, 1),
            "horizon": 1.0,
            "rhs": lambda u, g1, g2: g1 * u.xx - g2 * (u**3 - u),
            "initial": lambda x: 0.8 * np.cos(np.pi * x) * wave(x),
        },
        "front": {
            "domain": hc.Interval(0, 1),
            "horizon": 1.0,
            "boundary": hc.Neumann(0.0),
            "rhs": lambda u, D, r: D * u.xx + r * u * (1 - u),
            "initial": lambda x: 0.9 / (1 + np.exp(20 * (x - 0.3))),
        },
        "kuramoto-sivashinsky": {
            "domain": hc.Interval(0, 32 * np.pi),
            "horizon": 30.0,
            "rhs": lambda u, a, b, c: -a * u * u.x - b * u.xx - c * u.xxxx,
            "initial": lambda x: np.cos(x / 16) * (1 + np.sin(x / 16)),
        },
        "gray-scott": {
            "domain": hc.Interval(-50, 50),
            "horizon": 200.0,
            "rhs": lambda u, v, b, k: (u.xx + b * (1 - u) - u * v**2, 0.01 * v.xx - (b + k) * v + u * v**2),
            "initial": lambda x: (1 - np.cos(np.pi * x / 100) ** 40 / 2, np.cos(np.pi * x / 100) ** 40 / 4),
        },
        "rod": {
            "domain": hc.Interval(0, 1),
            "horizon": 1.0,
            "boundary": hc.Dirichlet(0.0),
            "rhs": lambda u, x, k: (k(x) * u.x).x + 1.0,
            "initial": lambda x: np.sin(np.pi * x),
        },
        "past": {
            "domain": hc.Interval(-1, 1),
            "horizon": 0.2,
            "rhs": lambda u: 0.05 * u.xx,
            "initial": lambda x, a: a(x),
        },
        "flux": {
            "domain": hc.Interval(0, 1),
            "horizon": 1.0,
            "boundary": (hc.Neumann(lambda t, q: q * np.sin(3 * t)), hc.Dirichlet(0.0)),
            "rhs": lambda u, k: k * u.xx,
            "initial": lambda x: 0 * x,
        },
        "plate": {
            "domain": hc.Box((-1, 1), (-1, 1)),
            "horizon": 0.5,
            "rhs": lambda u, k, c: k * u.laplacian - c * u.x,
            "initial": lambda x, y: np.cos(np.pi * x) + np.sin(np.pi * y),
        },
        "pond": {
            "domain": hc.Disk((0, 0), 1.0) - hc.Disk((0.3, 0.2), 0.25),
            "horizon": 0.5,
            "boundary": hc.Neumann(0.0),
            "rhs": lambda u, k, r: k * u.laplacian + r * u * (1 - u),
            "initial": lambda x, y: 0.8 * np.exp(-8 * ((x + 0.4) ** 2 + y**2)),
        },
        "growth": {
            "domain": hc.Interval(0, 1),
            "horizon": 2.0,
            "boundary": hc.Neumann(0.0),
            "rhs": lambda u, f: 0.02 * u.xx + f(u),
            "initial": lambda x: 0.05 + 0.5 * np.exp(-20 * x**2),
        },
    }
    return hc.Problem(name=name, **known[name], parameters=parameters)


@dataclass(frozen=True)
class Case:
    """A problem with unknowns, what was measured of it without noise, and what is true."""

    problem: hc.Problem
    clean: tuple[hc.Measurements, ...]
    level: float
    """The noise, relative to the standard deviation of each measured quantity."""
    truth: dict[str, Any]
    """Empty where the data do not determine it."""
    loss: str = "gaussian"
    spoiled: float = 0.0
    """The share of values that are off by three units."""

    def data(self, seed: int) -> list[hc.Measurements]:
        """The measurements with noise."""
        found = []
        for number, own in enumerate(self.clean):
            rng = np.random.default_rng([3, seed, number])
            values = {
                n: v + self.level * v.std() * rng.standard_normal(len(v)) for n, v in own.values.items()
            }
            for v in values.values():
                v[rng.random(len(v)) < self.spoiled] += 3.0
            found.append(hc.Measurements(*own.points.T, settings=own.settings, name=own.name, **values))
        return found


def measured(
    problem: hc.Problem,
    count: int,
    fields: tuple[str, ...] = ("u",),
    *,
    early: float = 0.0,
    settings: dict[str, float] | None = None,
) -> hc.Measurements:
    """Exact values at scattered points, by an evolution good to 1e-7 (1e-6 on a curved domain)."""
    accuracy = 1e-7 if problem.domain.product else 1e-6
    solution = hc.solve(problem, hc.Evolution(), accuracy=accuracy, reference=False, progress=False)
    rng = np.random.default_rng(1)
    start = problem.start + early * (problem.horizon - problem.start)
    t = rng.uniform(start, problem.horizon, count)
    places = problem.domain.inside(rng.random((2 * count, len(problem.space))))[:count]
    values = solution(t, *places.T)
    each = values if isinstance(values, tuple) else (values,)
    named = {n: np.asarray(v) for n, v in zip(problem.fields, each, strict=True) if n in fields}
    name = ", ".join(f"{k} = {v:g}" for k, v in settings.items()) if settings else "measurements"
    return hc.Measurements(t, *places.T, settings=settings or {}, name=name, **named)


def simple(
    equation: str,
    truth: dict[str, Any],
    guess: dict[str, Any],
    count: int,
    level: float,
    fields: tuple[str, ...] = ("u",),
    **more: Any,
) -> Callable[[], Case]:
    """Scattered values of some fields of an equation."""

    def make() -> Case:
        early = more.get("early", 0.0)
        clean = measured(declare(equation, **truth), count, fields, early=early)
        rest = {k: v for k, v in more.items() if k != "early"}
        return Case(declare(equation, **guess), (clean,), level, truth, **rest)

    return make


def _two_experiments() -> Case:
    clean = [measured(declare("decay", k=0.05, r=r), 200, settings={"r": r}) for r in (0.5, 2.0)]
    return Case(declare("decay", k=hc.Unknown(0.2, log=True), r=1.0), tuple(clean), 0.05, {"k": 0.05})


def _product() -> Case:
    case = simple("decay", {"k": 0.05, "r": 1.0}, {"k": hc.Unknown(0.2), "r": 1.0}, 300, 0.05)()
    problem = hc.Problem(
        name="product",
        domain=case.problem.domain,
        horizon=1.0,
        initial=case.problem.initial,
        rhs=lambda u, a, b: a * b * u.xx - u,
        parameters={"a": hc.Unknown(0.5, log=True), "b": hc.Unknown(0.3, log=True)},
    )
    return dataclasses.replace(case, problem=problem, truth={})


def _blind() -> Case:
    x = np.random.default_rng(1).uniform(-1, 1, 300)
    clean = hc.Measurements(np.full(300, 1e-4), x, u=1 + np.sin(np.pi * x))
    guess = {"k": hc.Unknown(0.2, log=True), "r": hc.Unknown(0.5)}
    return Case(declare("decay", **guess), (clean,), 0.05, {})


def _wrong() -> Case:
    case = simple("burgers", {"l1": 1.0, "l2": 0.05}, {"l1": hc.Unknown(1.0), "l2": 0.05}, 500, 0.05)()
    problem = hc.Problem(
        name="wrong",
        domain=case.problem.domain,
        horizon=1.0,
        boundary=case.problem.boundary,
        initial=case.problem.initial,
        rhs=lambda u, k: k * u.xx,
        parameters={"k": hc.Unknown(0.02, log=True)},
    )
    return dataclasses.replace(case, problem=problem, truth={})


def _burgers(level: float) -> Callable[[], Case]:
    guess = {"l1": hc.Unknown(0.5), "l2": hc.Unknown(0.02, log=True)}

    def make() -> Case:
        rng, truth = np.random.default_rng(1), {"l1": 1.0, "l2": 0.01 / np.pi}
        t, x = rng.uniform(0, 1, 2000), rng.uniform(-1, 1, 2000)
        clean = hc.Measurements(t, x, u=cole_hopf(t, x, truth["l2"]))
        return Case(declare("burgers", **guess), (clean,), level, truth)

    return make


def cole_hopf(t: np.ndarray, x: np.ndarray, viscosity: float) -> np.ndarray:
    """The closed form of Burgers' equation from −sin πx, by quadrature."""
    nodes = np.linspace(-14, 14, 4001)  # the trapezoidal rule, exact to rounding for what is smooth
    y = x[:, None] - np.sqrt(4 * viscosity * t)[:, None] * nodes
    exponent = -np.cos(np.pi * y) / (2 * np.pi * viscosity) - nodes**2
    share = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    return -(share * np.sin(np.pi * y)).sum(axis=1) / share.sum(axis=1)


_DECAY = {"k": 0.05, "r": 1.0}, {"k": hc.Unknown(0.2, log=True), "r": hc.Unknown(0.3)}, 300, 0.05

CASES: dict[str, tuple[Callable[[], Case], int]] = {
    "burgers, no noise": (_burgers(0.0), 0),
    "burgers, 1% noise": (_burgers(0.01), 24),
    "burgers, 5% noise": (_burgers(0.05), 24),
    "burgers, 10% noise": (_burgers(0.1), 24),
    "decay, 5% noise": (simple("decay", *_DECAY), 200),
    "allen-cahn, 5% noise": (
        simple(
            "allen-cahn",
            {"g1": 1e-2, "g2": 4.0},
            {"g1": hc.Unknown(0.04, log=True), "g2": hc.Unknown(1.5, log=True)},
            500,
            0.05,
        ),
        200,
    ),
    "front, 5% noise": (
        simple(
            "front",
            {"D": 0.01, "r": 4.0},
            {"D": hc.Unknown(0.03, log=True), "r": hc.Unknown(1.5, log=True)},
            200,
            0.05,
        ),
        200,
    ),
    "kuramoto-sivashinsky, 5% noise": (
        simple(
            "kuramoto-sivashinsky",
            {"a": 1.0, "b": 1.0, "c": 1.0},
            {k: hc.Unknown(0.6, low=0.1, high=2.0) for k in "abc"},
            2000,
            0.05,
        ),
        20,
    ),
    "gray-scott from v alone, 5% noise": (
        simple(
            "gray-scott",
            {"b": 0.02, "k": 0.0562},
            {"b": hc.Unknown(0.03, low=0.005, high=0.1), "k": hc.Unknown(0.04, low=0.01, high=0.1)},
            1000,
            0.05,
            ("v",),
        ),
        20,
    ),
    "k(x), 500 values, 1% noise": (
        simple(
            "rod",
            {"k": lambda x: 0.1 * (1 + 0.6 * np.sin(2 * np.pi * x))},
            {"k": hc.UnknownFunction("x", guess=0.2, positive=True)},
            500,
            0.01,
        ),
        40,
    ),
    "initial data from later times, 2% noise": (
        simple(
            "past",
            {"a": lambda x: np.sin(np.pi * x) + 0.5 * np.cos(2 * np.pi * x)},
            {"a": hc.UnknownFunction("x", guess=0.0)},
            500,
            0.02,
            early=0.5,
        ),
        40,
    ),
    "a reaction f(u), 2% noise": (
        simple(
            "growth",
            {"f": lambda u: 3.0 * u * (1 - u) * (0.3 + u)},
            {"f": hc.UnknownFunction("u", guess=0.5, low=0.0, high=1.0)},
            500,
            0.02,
        ),
        40,
    ),
    "heat flux at a wall, 5% noise": (
        simple(
            "flux", {"q": 2.0, "k": 0.3}, {"q": hc.Unknown(0.5), "k": hc.Unknown(1.0, log=True)}, 300, 0.05
        ),
        40,
    ),
    "two experiments, 5% noise": (_two_experiments, 40),
    "a square, 5% noise": (
        simple(
            "plate", {"k": 0.1, "c": 1.0}, {"k": hc.Unknown(0.3, log=True), "c": hc.Unknown(0.3)}, 500, 0.05
        ),
        20,
    ),
    "a disk with a hole, 5% noise": (
        simple(
            "pond",
            {"k": 0.2, "r": 2.0},
            {"k": hc.Unknown(0.5, log=True), "r": hc.Unknown(0.8)},
            500,
            0.05,
        ),
        20,
    ),
    "decay, 5% outliers, cauchy": (simple("decay", *_DECAY, loss="cauchy", spoiled=0.05), 100),
    "decay, 5% outliers, huber": (simple("decay", *_DECAY, loss="huber", spoiled=0.05), 100),
    "a product": (_product, 0),
    "no data where they matter": (_blind, 0),
    "a wrong equation": (_wrong, 0),
}
"""Every case, and how many repeats it takes; 0 where there is nothing to repeat."""


def repeat(name: str) -> dict[str, Any]:
    """Estimates from the same points with fresh noise, again and again."""
    make, times = CASES[name]
    case = make()
    began, spent = time.perf_counter(), time.process_time()
    unknowns: dict[str, Any] = dict(case.problem.open)
    opened = {k: dataclasses.replace(v, guess=case.truth[k]) for k, v in unknowns.items()}
    problem = case.problem.with_parameters(**opened)
    errors, inside, noises, straight = [], [], [], 0
    with double(), threadpool_limits(1, user_api="blas"):
        layout = Layout(problem)
        model = Model(problem, case.clean, layout, Limits(), 0)
        state = _State(model, _first_misfit(model, Loss(case.loss)))
        sigma = np.array([case.level * v.std() for own in case.clean for v in own.values.values()])
        true_sigma = np.empty(len(model.values))
        for group, size in zip(model.groups, sigma, strict=True):
            true_sigma[group.rows] = size
        state.misfit.sigma[:] = true_sigma
        model.adapt(layout.start, _wanted(state))
        there = model.linearised(layout.start)
        assert there is not None
        for seed in range(times):
            model.values = np.concatenate([v for own in case.data(seed) for v in own.values.values()])
            state.misfit = _first_misfit(model, Loss(case.loss))
            state.point = Point(layout.start, *there)
            for _ in range(2):
                state.point = _lowest(model, state.point, state.misfit)
                state.misfit.sigma = _noises(state, state.point)
            outcome = _uncertain(state, 0.95, lambda _: None)
            found = _estimates(state, outcome, confident=True)
            errors.append([e.value - case.truth[k] for k, e in found.items()])
            inside.append([e.interval[0] <= case.truth[k] <= e.interval[1] for k, e in found.items()])
            for key, curve in _curves(state, outcome, confident=True).items():
                off, covered = against(curve, case.truth[key])
                errors[-1].append(off)
                inside[-1].append(covered)
            noises.append(state.misfit.sigma[[g.rows[0] for g in model.groups]] / sigma)
            straight += all(e.by == "curvature" for e in found.values())
    names = [*layout.unknowns, *layout.curves]
    sizes = np.array([case.truth.get(k) if k in layout.unknowns else 1.0 for k in names], float)
    relative = np.abs(errors) / sizes
    record: dict[str, Any] = {
        "values": len(model.values),
        "noise": case.level,
        "repeats": times,
        "median_error": dict(zip(names, np.median(relative, 0), strict=True)),
        "quartiles": {k: list(np.quantile(relative[:, i], [0.25, 0.75])) for i, k in enumerate(names)},
        "coverage": dict(zip(names, np.mean(inside, 0), strict=True)),
        "noise_ratio": [float(f(noises)) for f in (np.median, np.min, np.max)],
        "by_curvature": straight,
        "wall_s": time.perf_counter() - began,
        "cpu_s": time.process_time() - spent,
    }
    if not layout.curves:
        slopes = there[1] / true_sigma[:, None]
        bound = np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes))) * [
            u.slope(z) for u, z in zip(layout.unknowns.values(), layout.start, strict=True)
        ]
        record["bound"] = dict(zip(names, bound / sizes, strict=True))
        record["rms_to_bound"] = dict(zip(names, np.sqrt(np.mean(np.square(errors), 0)) / bound, strict=True))
    return record


def against(curve: hc.CurveEstimate, truth: Callable[[float], float]) -> tuple[float, float]:
    """The relative L2 error of a function, and the share of places where its band holds the truth."""
    true = np.array([float(truth(s)) for s in curve.at])
    low, high = curve.interval
    off = np.linalg.norm(curve.values - true) / np.linalg.norm(true)
    return float(off), float(np.mean((low <= true) & (true <= high)))


def whole(name: str) -> dict[str, Any]:
    """One whole fit."""
    case = CASES[name][0]()
    began, spent = time.perf_counter(), time.process_time()
    fit = hc.fit(case.problem, case.data(0), loss=case.loss)
    wall, cpu = time.perf_counter() - began, time.process_time() - spent
    found: dict[str, Any] = {}
    for key, estimate in fit.estimates.items():
        if isinstance(estimate, hc.CurveEstimate):
            if key in case.truth:
                off, covered = against(estimate, case.truth[key])
                found[key] = {"rel_l2": off, "band_covers": covered}
            continue
        found[key] = {
            "value": estimate.value,
            "error": estimate.error if estimate.determined else None,
            "interval": [v if np.isfinite(v) else None for v in estimate.interval],
        }
        if key in case.truth:
            found[key]["truth"] = case.truth[key]
    return {
        "estimates": found,
        "verdict": str(fit.verdict),
        "noise": dict(fit.noise),
        "numerical_shift": fit.facts["numerical_shift"],
        "wall_s": wall,
        "cpu_s": cpu,
    }


_METHOD = hc.Method(
    name="trained",
    lift=hc.Decay(1.0),
    embedding=hc.Plain(),
    network=hc.MLP(20, 4),
    points=4000,
    stages=(hc.Adam(steps=2000, rate=3e-3), hc.LBFGS(steps=4000)),
)
"""What is trained beside an evolution, with the network that DeepXDE has."""


def beside(name: str, deepxde: str, limit: float) -> dict[str, Any]:
    """One set of data, fitted by evolution, by training, and by DeepXDE: relative errors and seconds."""
    case = CASES[name][0]()
    (data,) = case.data(0)
    record: dict[str, Any] = {"problem": name, "limit_s": limit}
    for way, method in (("evolution", None), ("training", _METHOD)):
        began, spent = time.perf_counter(), time.process_time()
        fit = hc.fit(case.problem, data, method, max_seconds=limit if method else None)
        record[way] = {
            "error": {k: abs(fit.estimates[k].value / v - 1) for k, v in case.truth.items()},
            "wall_s": time.perf_counter() - began,
            "cpu_s": time.process_time() - spent,
        }
        print(way, record[way], flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.npz"
        np.savez(file, t=data.points[:, 0], x=data.points[:, 1], u=data.values["u"])
        before = os.times()
        began = time.perf_counter()
        script = Path(__file__).parent / "racers" / "deepxde_fit.py"
        said = subprocess.run(
            [deepxde, script, file, str(limit)], check=True, capture_output=True, text=True
        ).stdout
        after = os.times()
    found = json.loads(said.splitlines()[-1])
    record["DeepXDE"] = {
        "error": {k: abs(found[k] / v - 1) for k, v in case.truth.items()},
        "wall_s": time.perf_counter() - began,
        "cpu_s": after.children_user + after.children_system - before.children_user - before.children_system,
        "steps": found["steps"],
        "version": found["version"],
    }
    return record


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=("repeats", "whole", "beside"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--deepxde", help="a Python that has DeepXDE and PyTorch")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds of each training")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/fits-cpu.json"))
    given = parser.parse_args()
    chosen = {
        "repeats": [name for name, (_, times) in CASES.items() if times],
        "whole": list(CASES),
        "beside": ["burgers, 1% noise"],
    }[given.kind]
    work = {"repeats": repeat, "whole": whole, "beside": lambda n: beside(n, given.deepxde, given.limit)}
    for name in given.names or chosen:
        record = work[given.kind](name)
        print(name, json.dumps(record, indent=1, default=float), flush=True)
        results = json.loads(given.out.read_text()) if given.out.exists() else {}
        results.setdefault(given.kind, {})[name] = record
        results["device"] = provenance(1).device
        given.out.write_text(json.dumps(results, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
