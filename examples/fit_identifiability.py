"""What data cannot tell: two factors of a product, until a second experiment separates them.

    python examples/fit_identifiability.py

In uₜ = a b uₓₓ + b sin πx, with the source switched off, data tell the product a b and nothing of its
factors. The first fit says so; with a second experiment, where the source is on, both have intervals. Half a
minute on two cores; leaves figures in out/fit-identifiability.
"""

from pathlib import Path

import numpy as np

import hcpinn as hc


def heated(a, b, source):
    """The problem; `source` switches the heating on or off."""
    return hc.Problem(
        name="heated",
        domain=hc.Interval(0, 2),
        horizon=1.0,
        rhs=lambda u, x, a, b, source: a * b * u.xx + source * b * np.sin(np.pi * x),
        initial=lambda x: 1 + np.cos(np.pi * x),
        parameters={"a": a, "b": b, "source": source},
    )


def measure(source, count=200, noise=0.02, seed=0):
    """One experiment."""
    exact = hc.solve(heated(0.2, 0.5, source), accuracy=1e-6, reference=False)
    rng = np.random.default_rng([seed, int(source)])
    t, x = rng.uniform(0, 1, count), rng.uniform(0, 2, count)
    u = exact(t, x) + noise * rng.standard_normal(count)
    return hc.Measurements(t, x, u=u, settings={"source": source}, name=f"source {source:g}")


def main(count: int = 200, folder: str | Path = "out/fit-identifiability") -> tuple[hc.Fit, hc.Fit]:
    """Fit one experiment, then both."""
    problem = heated(hc.Unknown(0.1, log=True), hc.Unknown(1.0, log=True), 0.0)
    first, second = measure(0.0, count), measure(1.0, count)
    alone = hc.fit(problem, first)
    print(alone, "\n")
    both = hc.fit(problem, [first, second])
    print(both)
    print(f"Wrote {both.plot(Path(folder) / 'data.png')}")
    print(f"Wrote {both.plot_corner(Path(folder) / 'corner.png')}")
    return alone, both


if __name__ == "__main__":
    main()
