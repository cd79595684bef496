"""Seconds to assemble a tangent kernel and to find its spectrum: AC-1, 7 × 32, 10 Fourier modes, float64.

    python benchmarks/ntk.py [--points 2048] [--rounds 3] [--out FILE.json]
    python benchmarks/ntk.py --points 16384 --out benchmarks/results/ntk-h200.json

For each number of points, soft and hard: the Jacobian J (all rows, a chunk of points at a time), the
kernel K = J Jᵀ, and the eigenvalues, from K or from Jᵀ J, whichever is smaller. The first call of
each is timed apart, since it compiles; of the later ones the median counts. Every kernel is checked:
by its trace, and on random entries by rows of J that are computed again, one point at a time.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import statistics
import sys
import time
from pathlib import Path

import jax
import numpy as np

from hcpinn import find_method, find_problem
from hcpinn.machine.precision import double
from hcpinn.machine.provenance import provenance
from hcpinn.theory import Spectrum, System, Tangent, hard_method, kernel, soft_method


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problem", default="allen-cahn-1")
    parser.add_argument("--points", type=int, nargs="+", default=[2048])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    problem = find_problem(options.problem)
    method = find_method("paper", problem)
    rows = []
    for points in options.points:
        for name, way in (("soft", soft_method), ("hard", hard_method)):
            system = System(problem, way(problem, method), points=points)
            rows.append({"system": name, "points": points, **measure(system, options.rounds)})
            print(f"{name} system at {points:,} points: done", flush=True)
    where = provenance()
    record = {
        "command": " ".join(["python", *sys.argv]),
        "problem": problem.name,
        "device": where.device,
        "versions": dict(where.versions),
        "platform": platform.platform(),
        "load_average": _load(),
        "rows": rows,
    }
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(record, indent=1) + "\n")
        print(f"written to {options.out}")
    show(record)


def measure(system: System, rounds: int) -> dict:
    """Times of each part, first and later calls, and what was computed."""
    times: dict[str, list[float]] = {"jacobian": [], "kernel": [], "spectrum": []}
    with double():
        for _ in range(rounds + 1):
            began = time.perf_counter()
            tangent = system.tangent()
            jax.block_until_ready(tangent.jacobian)
            times["jacobian"].append(time.perf_counter() - began)
            began = time.perf_counter()
            found = kernel(tangent)
            jax.block_until_ready(found.matrix)
            times["kernel"].append(time.perf_counter() - began)
            check(system, tangent, found)
            size = list(found.matrix.shape)
            del found
            began = time.perf_counter()
            spectrum = gram_spectrum(tangent)
            times["spectrum"].append(time.perf_counter() - began)
        shape = list(tangent.jacobian.shape)
        slip = abs(spectrum.trace / float(np.sum(np.asarray(tangent.jacobian) ** 2)) - 1)
    if slip > 1e-9:
        raise SystemExit(f"The eigenvalues do not add up to the trace: relative difference {slip:.1e}.")
    later = {name: statistics.median(seen[1:]) for name, seen in times.items()}
    return {
        "rows_and_parameters": shape,
        "kernel_shape": size,
        "kernel_gib": size[0] * size[1] * 8 / 2**30,
        "first_s": {name: seen[0] for name, seen in times.items()},
        "later_s": later,
        "kernel_in_all_first_s": times["jacobian"][0] + times["kernel"][0],
        "kernel_in_all_s": later["jacobian"] + later["kernel"],
        "largest": spectrum.largest,
        "rank": spectrum.rank,
        "effective_rank": spectrum.effective_rank,
        "peak_gib": peak_gib(),
    }


def gram_spectrum(tangent: Tangent) -> Spectrum:
    """The spectrum from the smaller of J Jᵀ and Jᵀ J, on the device: fast, down to λ/λ₁ of 1e-12 or so."""
    jacobian = tangent.jacobian
    small = jacobian if jacobian.shape[0] <= jacobian.shape[1] else jacobian.T
    eigenvalues = np.asarray(jax.jit(lambda rows: jax.numpy.linalg.eigvalsh(rows @ rows.T))(small))[::-1]
    return Spectrum(np.maximum(eigenvalues, 0.0), max(jacobian.shape) * np.finfo(float).eps)


def check(system: System, tangent, found) -> None:
    """Some entries of K against rows of the Jacobian computed by themselves."""
    rng = np.random.default_rng(0)
    picks = rng.integers(0, len(tangent.rho), 6)
    theta = jax.numpy.asarray(system.theta)

    @jax.jit
    def row(unit):
        return jax.vjp(lambda t: system._rho(t, system.data), theta)[1](unit)[0]

    some = [np.asarray(row(jax.numpy.zeros(len(tangent.rho)).at[i].set(1.0))) for i in picks]
    expected = np.asarray([[a @ b for b in some] for a in some])
    apart = float(np.abs(np.asarray(found.matrix[np.ix_(picks, picks)]) - expected).max())
    if apart > 1e-9 * np.abs(expected).max():
        raise SystemExit(f"The kernel is wrong: entries differ by {apart:.1e}.")


def peak_gib() -> float:
    """The most memory the device ever held, or this process where the device is the CPU."""
    stats = jax.devices()[0].memory_stats()
    if stats and "peak_bytes_in_use" in stats:
        return stats["peak_bytes_in_use"] / 2**30
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def _load() -> list[float]:
    import os

    return list(os.getloadavg())


def show(record: dict) -> None:
    print(f"{record['device']}, load {record['load_average'][0]:.1f}")
    heads = ("J, s", "K, s", "both", "first", "eig, s")
    print(f"{'system':8s}{'points':>8s}{'K':>16s}{''.join(f'{h:>8s}' for h in heads)}{'GiB':>7s}")
    for r in record["rows"]:
        size = "{:,} x {:,}".format(*r["kernel_shape"])
        later = r["later_s"]
        print(
            f"{r['system']:8s}{r['points']:8,}{size:>16s}{later['jacobian']:8.2f}{later['kernel']:8.2f}"
            f"{r['kernel_in_all_s']:8.2f}{r['kernel_in_all_first_s']:8.2f}{later['spectrum']:8.2f}"
            f"{r['peak_gib']:7.2f}"
        )


if __name__ == "__main__":
    main()
