"""How good fits are: repeats with fresh noise against the Cramér–Rao bound, and whole fits of many kinds.

    python benchmarks/fits.py repeats [NAME…] --out benchmarks/results/fits-cpu.json
    python benchmarks/fits.py cases [NAME…] --out benchmarks/results/fits-cpu.json

Repeats start at the true values, on a basis chosen there once: they measure estimates and intervals. Cases
are whole calls of `hcpinn.fit`, from a guess that is wrong by a factor of two or more.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import hcpinn as hc
from hcpinn.estimation.fit import _first_misfit, _noises, _State, _uncertain, _wanted
from hcpinn.estimation.judgement import _estimates
from hcpinn.estimation.layout import Layout
from hcpinn.estimation.model import Model
from hcpinn.estimation.robust import Loss
from hcpinn.estimation.search import Point, descend
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
    }
    return hc.Problem(name=name, **known[name], parameters=parameters)


def measured(
    problem: hc.Problem, count: int, *, early: float = 0.0
) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """Scattered points, and the exact values there by an evolution good to 1e-7."""
    solution = hc.solve(problem, hc.Evolution(), accuracy=1e-7, reference=False, progress=False)
    rng = np.random.default_rng(7)
    ends = [(problem.start + early * problem.duration, problem.horizon), *problem.domain.bounds]
    points = [rng.uniform(low, high, count) for low, high in ends]
    values = solution(*points)
    each = values if isinstance(values, tuple) else (values,)
    return points, dict(zip(problem.fields, map(np.asarray, each), strict=True))


REPEATS: dict[str, tuple[str, dict[str, float], int, float, int]] = {
    "burgers, 1% noise": ("burgers", {"l1": 1.0, "l2": 0.01 / np.pi}, 2000, 0.01, 20),
    "burgers, 5% noise": ("burgers", {"l1": 1.0, "l2": 0.01 / np.pi}, 2000, 0.05, 20),
    "burgers, 10% noise": ("burgers", {"l1": 1.0, "l2": 0.01 / np.pi}, 2000, 0.1, 20),
    "decay, 5% noise": ("decay", {"k": 0.05, "r": 1.0}, 300, 0.05, 200),
    "allen-cahn, 5% noise": ("allen-cahn", {"g1": 1e-2, "g2": 4.0}, 500, 0.05, 200),
    "front, 5% noise": ("front", {"D": 0.01, "r": 4.0}, 200, 0.05, 200),
}
"""Equation, truth, values, noise relative to the standard deviation of the field, and repeats."""


def repeat(name: str) -> dict[str, Any]:
    """Estimates from the same points with fresh noise, again and again."""
    equation, truth, count, level, times = REPEATS[name]
    points, values = measured(declare(equation, **truth), count)
    clean = values["u"]
    sigma = level * float(clean.std())
    problem = declare(equation, **{k: hc.Unknown(v, log=True) for k, v in truth.items()})
    began, spent = time.perf_counter(), time.process_time()
    with double(), threadpool_limits(1, user_api="blas"):
        layout = Layout(problem)
        model = Model(problem, (hc.Measurements(*points, u=clean),), layout, Limits(), 0)
        state = _State(model, _first_misfit(model, Loss()))
        state.misfit.sigma[:] = sigma
        model.adapt(layout.start, _wanted(state))
        there = model.linearised(layout.start)
        assert there is not None
        slopes = there[1] / sigma
        bound = np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes))) * [
            u.slope(z) for u, z in zip(layout.unknowns.values(), layout.start, strict=True)
        ]
        errors, inside, noises, straight = [], [], [], 0
        for seed in range(times):
            model.values = clean + sigma * np.random.default_rng([11, seed]).standard_normal(count)
            state.misfit = _first_misfit(model, Loss())
            state.point = descend(model, Point(layout.start, *there), state.misfit, known=False)
            state.misfit.sigma = _noises(state, state.point)
            found = _estimates(state, _uncertain(state, 0.95, lambda _: None), confident=True)
            errors.append([found[k].value - v for k, v in truth.items()])
            inside.append([found[k].interval[0] <= v <= found[k].interval[1] for k, v in truth.items()])
            noises.append(float(state.misfit.sigma[0]) / sigma)
            straight += all(e.by == "curvature" for e in found.values())
    relative = np.abs(errors) / np.array(list(truth.values()))
    return {
        "values": count,
        "noise": level,
        "repeats": times,
        "median_error": dict(zip(truth, np.median(relative, 0), strict=True)),
        "quartiles": {k: list(np.quantile(relative[:, i], [0.25, 0.75])) for i, k in enumerate(truth)},
        "rms_to_bound": dict(zip(truth, np.sqrt(np.mean(np.square(errors), 0)) / bound, strict=True)),
        "bound": dict(zip(truth, bound / np.array(list(truth.values())), strict=True)),
        "coverage": dict(zip(truth, np.mean(inside, 0), strict=True)),
        "noise_ratio": [float(np.median(noises)), float(np.min(noises)), float(np.max(noises))],
        "by_curvature": straight,
        "wall_s": time.perf_counter() - began,
        "cpu_s": time.process_time() - spent,
    }


Case = Callable[[], tuple[hc.Problem, Any, dict[str, Any]]]


def noisy(values: np.ndarray, level: float, seed: int = 3) -> np.ndarray:
    """With normal noise, relative to the standard deviation."""
    return values + level * values.std() * np.random.default_rng(seed).standard_normal(values.shape)


def whole(
    equation: str,
    truth: dict[str, Any],
    guess: dict[str, Any],
    count: int,
    level: float,
    fields: tuple[str, ...] = ("u",),
    early: float = 0.0,
) -> Case:
    """Scattered values of some fields of an equation."""

    def make() -> tuple[hc.Problem, Any, dict[str, Any]]:
        points, values = measured(declare(equation, **truth), count, early=early)
        data = hc.Measurements(*points, **{f: noisy(values[f], level) for f in fields})
        return declare(equation, **guess), data, truth

    return make


def _two_experiments() -> tuple[hc.Problem, Any, dict[str, Any]]:
    data = []
    for number, r in enumerate((0.5, 2.0)):
        points, values = measured(declare("decay", k=0.05, r=r), 200)
        data.append(
            hc.Measurements(*points, u=noisy(values["u"], 0.05, number), settings={"r": r}, name=f"r = {r}")
        )
    return declare("decay", k=hc.Unknown(0.2, log=True), r=1.0), data, {"k": 0.05}


def _outliers() -> tuple[hc.Problem, Any, dict[str, Any]]:
    problem, data, truth = whole(
        "decay", {"k": 0.05, "r": 1.0}, {"k": hc.Unknown(0.2, log=True), "r": hc.Unknown(0.3)}, 300, 0.05
    )()
    values = data.values["u"].copy()
    values[::20] += 3.0
    return problem, hc.Measurements(*data.points.T, u=values), truth


def _product() -> tuple[hc.Problem, Any, dict[str, Any]]:
    problem, data, _ = whole("decay", {"k": 0.05, "r": 1.0}, {"k": hc.Unknown(0.2), "r": 1.0}, 300, 0.05)()
    return (
        hc.Problem(
            name="product",
            domain=problem.domain,
            horizon=1.0,
            initial=problem.initial,
            rhs=lambda u, a, b: a * b * u.xx - u,
            parameters={"a": hc.Unknown(0.5, log=True), "b": hc.Unknown(0.3, log=True)},
        ),
        data,
        {},
    )


def _blind() -> tuple[hc.Problem, Any, dict[str, Any]]:
    points, _values = measured(declare("decay", k=0.05, r=1.0), 300)
    _t, x = points
    return (
        declare("decay", k=hc.Unknown(0.2, log=True), r=hc.Unknown(0.5)),
        hc.Measurements(np.full(300, 1e-4), x, u=noisy(1 + np.sin(np.pi * x), 0.05)),
        {},
    )


def _wrong() -> tuple[hc.Problem, Any, dict[str, Any]]:
    problem, data, _ = whole(
        "burgers", {"l1": 1.0, "l2": 0.05}, {"l1": hc.Unknown(1.0), "l2": 0.05}, 500, 0.05
    )()
    return (
        hc.Problem(
            name="wrong",
            domain=problem.domain,
            horizon=1.0,
            boundary=problem.boundary,
            initial=problem.initial,
            rhs=lambda u, k: k * u.xx,
            parameters={"k": hc.Unknown(0.02, log=True)},
        ),
        data,
        {},
    )


CASES: dict[str, Case] = {
    "burgers, no noise": whole(
        "burgers",
        {"l1": 1.0, "l2": 0.01 / np.pi},
        {"l1": hc.Unknown(0.5), "l2": hc.Unknown(0.02, log=True)},
        2000,
        0.0,
    ),
    "burgers, 1% noise": whole(
        "burgers",
        {"l1": 1.0, "l2": 0.01 / np.pi},
        {"l1": hc.Unknown(0.5), "l2": hc.Unknown(0.02, log=True)},
        2000,
        0.01,
    ),
    "allen-cahn, 5% noise": whole(
        "allen-cahn",
        {"g1": 1e-2, "g2": 4.0},
        {"g1": hc.Unknown(0.04, log=True), "g2": hc.Unknown(1.5)},
        500,
        0.05,
    ),
    "kuramoto-sivashinsky, 5% noise": whole(
        "kuramoto-sivashinsky",
        {"a": 1.0, "b": 1.0, "c": 1.0},
        {k: hc.Unknown(0.6, low=0.1, high=2.0) for k in "abc"},
        2000,
        0.05,
    ),
    "gray-scott from v alone, 5% noise": whole(
        "gray-scott",
        {"b": 0.02, "k": 0.0562},
        {"b": hc.Unknown(0.03, low=0.005, high=0.1), "k": hc.Unknown(0.04, low=0.01, high=0.1)},
        1000,
        0.05,
        ("v",),
    ),
    "k(x), 500 values, 1% noise": whole(
        "rod",
        {"k": lambda x: 0.1 * (1 + 0.6 * np.sin(2 * np.pi * x))},
        {"k": hc.UnknownFunction("x", guess=0.2, positive=True)},
        500,
        0.01,
    ),
    "initial data from later times, 2% noise": whole(
        "past",
        {"a": lambda x: np.sin(np.pi * x) + 0.5 * np.cos(2 * np.pi * x)},
        {"a": hc.UnknownFunction("x", guess=0.0)},
        500,
        0.02,
        early=0.5,
    ),
    "heat flux at a wall, 5% noise": whole(
        "flux", {"q": 2.0, "k": 0.3}, {"q": hc.Unknown(0.5), "k": hc.Unknown(1.0, log=True)}, 300, 0.05
    ),
    "two experiments, 5% noise": _two_experiments,
    "a square, 5% noise": whole(
        "plate", {"k": 0.1, "c": 1.0}, {"k": hc.Unknown(0.3, log=True), "c": hc.Unknown(0.3)}, 500, 0.05
    ),
    "5% outliers, cauchy": _outliers,
    "a product": _product,
    "no data where they matter": _blind,
    "a wrong equation": _wrong,
}


def case(name: str) -> dict[str, Any]:
    """One whole fit."""
    problem, data, truth = CASES[name]()
    began, spent = time.perf_counter(), time.process_time()
    fit = hc.fit(problem, data, loss="cauchy" if "cauchy" in name else "gaussian")
    wall, cpu = time.perf_counter() - began, time.process_time() - spent
    found: dict[str, Any] = {}
    for key, estimate in fit.estimates.items():
        if isinstance(estimate, hc.CurveEstimate):
            if key in truth:
                true = np.array([float(truth[key](s)) for s in estimate.at])
                low, high = estimate.interval
                found[key] = {
                    "rel_l2": float(np.linalg.norm(estimate.values - true) / np.linalg.norm(true)),
                    "band_covers": float(np.mean((low <= true) & (true <= high))),
                }
        else:
            found[key] = {
                "value": estimate.value,
                "error": estimate.error if estimate.determined else None,
                "interval": [v if np.isfinite(v) else None for v in estimate.interval],
            }
            if key in truth:
                found[key]["truth"] = truth[key]
    return {
        "estimates": found,
        "verdict": str(fit.verdict),
        "noise": dict(fit.noise),
        "numerical_shift": fit.facts["numerical_shift"],
        "wall_s": wall,
        "cpu_s": cpu,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=("repeats", "cases"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/fits-cpu.json"))
    given = parser.parse_args()
    known: dict[str, Any] = {"repeats": REPEATS, "cases": CASES}[given.kind]
    for name in given.names or known:
        record = repeat(name) if given.kind == "repeats" else case(name)
        print(name, json.dumps(record, indent=1, default=float), flush=True)
        results = json.loads(given.out.read_text()) if given.out.exists() else {}
        results.setdefault(given.kind, {})[name] = record
        results["device"] = provenance(1).device
        given.out.write_text(json.dumps(results, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
