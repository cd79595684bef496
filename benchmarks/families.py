"""Families against classical solutions at random parameters: error, time, break-even and values per second.

    python benchmarks/families.py NAME… [--count 20] [--out benchmarks/results/families-cpu.json]

Each case is solved once; at `count` random parameters, which the family never saw, it is then compared with
classical solutions. The worst relative L2 error counts. Derivatives by the parameters are compared with
differences of classical solutions, and the page, in Chromium, with Python.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import hcpinn as hc
from hcpinn.machine.provenance import provenance

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from browser import Browser  # noqa: E402

_STEP = 0.01
"""The step of differences of classical solutions, as a share of a range."""


def burgers() -> hc.Problem:
    """uₜ + u uₓ = ν uₓₓ with −sin πx between walls at zero."""
    return hc.Problem(
        name="burgers",
        domain=hc.Interval(-1, 1),
        horizon=1.0,
        boundary=hc.Dirichlet(0.0),
        rhs=lambda u, nu: nu * u.xx - u * u.x,
        initial=lambda x: -jnp.sin(jnp.pi * x),
        parameters={"nu": hc.Between(0.01 / np.pi, 0.1, log=True)},
    )


def reacting_flow() -> hc.Problem:
    """uₜ = −β uₓ + ν uₓₓ + ρ u (1 − u): P²INN's convection, diffusion and reaction, from a narrow bell."""
    return hc.Problem(
        name="reacting-flow",
        domain=hc.Interval(0, 2 * np.pi),
        horizon=1.0,
        rhs=lambda u, beta, nu, rho: -beta * u.x + nu * u.xx + rho * u * (1 - u),
        initial=lambda x: jnp.exp(-((x - np.pi) ** 2) / (2 * (np.pi / 2) ** 2)),
        parameters={"beta": hc.Between(1, 20), "nu": hc.Between(1, 20), "rho": hc.Between(1, 20)},
    )


def moving_bump() -> hc.Problem:
    """uₜ = 0.02 uₓₓ + u − u³ from a bump whose height and width are parameters."""
    return hc.Problem(
        name="moving-bump",
        domain=hc.Interval(0, 2 * np.pi),
        horizon=2.0,
        rhs=lambda u: 0.02 * u.xx + u - u**3,
        initial=lambda x, height, wide: height * jnp.exp(-(jnp.sin((x - np.pi) / 2) ** 2) / wide**2),
        parameters={"height": hc.Between(0.2, 1.5), "wide": hc.Between(0.3, 0.8)},
    )


def named(name: str, **ranges: hc.Between) -> hc.Problem:
    """A problem of the catalogue with ranges."""
    return hc.find_problem(name).with_parameters(**ranges)


CASES = {
    "allen-cahn-2": (lambda: named("allen-cahn-2", gamma2=hc.Between(1, 5)), 1e-5),
    "allen-cahn-2, two": (
        lambda: named("allen-cahn-2", gamma1=hc.Between(1e-3, 1e-2, log=True), gamma2=hc.Between(1, 5)),
        1e-4,
    ),
    "burgers": (burgers, 1e-4),
    "reacting-flow": (reacting_flow, 1e-3),
    "gray-scott, three": (
        lambda: named(
            "gray-scott",
            **{
                k: hc.Between(0.5 * v, 1.5 * v)
                for k, v in list(hc.find_problem("gray-scott").parameters.items())[:3]
            },
        ),
        1e-4,
    ),
    "moving-bump": (moving_bump, 1e-4),
}


def measure(name: str, count: int, seconds: float) -> dict[str, object]:
    """One case, and beside it `expert` with the parameters as inputs, if it is given `seconds`."""
    make, accuracy = CASES[name]
    problem = make()
    wall, cpu = time.perf_counter(), time.process_time()
    family = hc.solve(problem, accuracy=accuracy, reference=False)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    rng = np.random.default_rng(12345)
    errors, classical, trained = [], [], []
    inputs = hc.parameters_as_inputs(problem) if seconds else None
    network = inputs and hc.solve(inputs, "expert", accuracy=accuracy, reference=False, max_seconds=seconds)
    for share in rng.random((count, len(family.names))):
        values = {n: float(problem.open[n].at(s)) for n, s in zip(family.names, share, strict=True)}
        member = problem.with_parameters(**values)
        begun = time.process_time()
        reference = hc.solve_reference(member, cache=False)
        classical.append(time.process_time() - begun)
        found = family.at(**values).on_grid(reference.times, *reference.coordinates)
        off = [np.linalg.norm(found[f] - u) / np.linalg.norm(u) for f, u in reference.values.items()]
        errors.append((float(max(off)), values))
        if network:
            own = network.on_grid(reference.times, *reference.coordinates, *([s] for s in share))
            known = reference.values.items()
            off = [np.linalg.norm(own[f].reshape(u.shape) - u) / np.linalg.norm(u) for f, u in known]
            trained.append(float(max(off)))
        print(f"{len(errors):4d} {max(off):.2e} {values}", flush=True)
    errors.sort(key=lambda e: -e[0])
    ranges = [f"{n} {o.low:.3g} to {o.high:.3g}" for n, o in problem.open.items()]
    return {
        "ranges": ", ".join(ranges),
        "accuracy": accuracy,
        "estimated_error": family.estimated_error,
        "worst_error": errors[0][0],
        "worst_at": errors[0][1],
        "median_error": float(np.median([e for e, _ in errors])),
        "checked": count,
        "nodes": len(family.function.interpolation),
        "kinks": list(family.kinks),
        "wall_s": wall,
        "cpu_s": cpu,
        "classical_cpu_s": float(np.median(classical)),
        "pays_after": int(np.ceil(cpu / np.median(classical))),
        **({"trained": {"worst_error": max(trained), "seconds": seconds}} if trained else {}),
        "slopes": slopes(family, problem),
        **speeds(family, problem),
        **in_the_page(family, problem),
    }


def slopes(family: hc.Family, problem: hc.Problem) -> dict[str, float]:
    """Relative L2 errors of the derivative by each parameter, against differences of fourth order."""
    found = {}
    middle = {n: problem.open[n].at(0.37) for n in family.names}
    for name in family.names:
        own = problem.open[name]
        along = (own.at(0.37 + _STEP) - own.at(0.37 - _STEP)) / 2
        values = [{**middle, name: middle[name] + k * along} for k in (-2, -1, 1, 2)]
        references = [hc.solve_reference(problem.with_parameters(**v), cache=False) for v in values]
        times, (x,) = references[0].times, references[0].coordinates
        assert all(np.array_equal(r.times, times) and np.array_equal(r.coordinates[0], x) for r in references)
        some = np.ix_(range(0, len(times), 1 + len(times) // 20), range(0, len(x), 1 + len(x) // 100))
        exact = family.derivative(name, times[some[0]], x[some[1]], **middle)
        exact = exact if isinstance(exact, tuple) else (exact,)
        worst = 0.0
        for u, field in zip(exact, problem.fields, strict=True):
            far = [r.values[field][some] for r in references]
            difference = (far[0] - 8 * far[1] + 8 * far[2] - far[3]) / (12 * along)
            worst = max(worst, float(np.linalg.norm(u - difference) / np.linalg.norm(difference)))
        found[name] = worst
    return found


def speeds(family: hc.Family, problem: hc.Problem) -> dict[str, float]:
    """Values per second on a grid at one parameter, and at one place for many parameters."""
    middle = {n: problem.open[n].nominal for n in family.names}
    start, end = problem.start, family.function.exact.problem.horizon
    axes = [np.linspace(low, high, 257) for low, high in problem.domain.bounds]
    times = np.linspace(start, end, 101)
    member = family.at(**middle)
    member.on_grid(times, *axes)
    begun = time.process_time()
    grid = member.on_grid(times, *axes)
    on_grid = next(iter(grid.values())).size / (time.process_time() - begun)
    rng = np.random.default_rng(0)
    many = {n: problem.open[n].at(rng.random(1_000_000)) for n in family.names}
    place = [np.float64(0.6 * low + 0.4 * high) for low, high in ((start, end), *problem.domain.bounds)]
    family(*place, **many)
    begun = time.process_time()
    family(*place, **many)
    return {"grid_values_per_cpu_s": on_grid, "samples_per_cpu_s": 1e6 / (time.process_time() - begun)}


def in_the_page(family: hc.Family, problem: hc.Problem) -> dict[str, float]:
    """How far the page in a browser is from Python at 1,000 points, and its values per second."""
    rng = np.random.default_rng(5)
    ends = ((problem.start, family.function.exact.problem.horizon), *problem.domain.bounds)
    t, x = (rng.uniform(low, high, 1000) for low, high in ends)
    given = {n: problem.open[n].at(rng.random(1000)) for n in family.names}
    expected = family(t, x, **given)
    expected = np.stack(expected if isinstance(expected, tuple) else (expected,), axis=1)
    rows = json.dumps(np.stack([t, x, *given.values()], axis=1).tolist())
    # A slider that moves asks for one curve of 241 places at parameters that are new.
    script = f"""(() => {{
      const rows = {rows}, values = rows.map(([t, x, ...mu]) => evaluate(t, x, mu));
      const timed = (n, work) => {{
        let done = 0; const begun = performance.now();
        while (performance.now() - begun < 1000) done += work(rows[n++ % rows.length]);
        return done / (performance.now() - begun) * 1000;
      }};
      const curve = ([t, x, ...mu]) => profile(t, xs, weights(mu)).length;
      const sample = ([t, x, ...mu]) => evaluate(t, 0.6 * D.space[0] + 0.4 * D.space[1], mu).length;
      timed(0, curve);
      return [values, timed(0, curve), timed(0, sample)];
    }})()"""
    with tempfile.TemporaryDirectory() as folder:
        page = family.page(Path(folder) / "page.html")
        browser = Browser(Path(folder) / "profile")
        try:
            browser.open(page)
            values, curves, samples = browser.run(script)
        finally:
            browser.close()
        size = page.stat().st_size
    return {
        "page_difference": float(np.max(np.abs(np.asarray(values) - expected))),
        "page_grid_values_per_s": curves,
        "page_samples_per_s": samples / len(problem.components),
        "page_megabytes": size / 1e6,
    }


def main() -> None:
    """Measure the cases named, and keep them beside those that are there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--trained", type=float, default=0.0, help="seconds for `expert` on the same ranges")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "families-cpu.json")
    options = parser.parse_args()
    known = json.loads(options.out.read_text()) if options.out.exists() else {"cases": {}}
    for name in options.cases:
        known |= {"device": provenance(1).device, "versions": dict(provenance(1).versions)}
        known["cases"][name] = measure(name, options.count, options.trained)
        print(name, json.dumps(known["cases"][name], indent=1), flush=True)
        options.out.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
