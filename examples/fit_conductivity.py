"""A conductivity k(x) in uₜ = (k(x) uₓ)ₓ + 1, u = 0 at both ends, from 500 noisy values.

    python examples/fit_conductivity.py

The data come from a solution with k = 0.1 + 0.06 sin 2πx, with noise of 1% of its standard deviation. Half a
minute on two cores. Prints the verdict, and leaves figures in out/fit-conductivity.
"""

from pathlib import Path

import numpy as np

import hcpinn as hc


def true(x):
    """What the data are made with."""
    return 0.1 + 0.06 * np.sin(2 * np.pi * x)


def rod(k):
    """The problem with a function, known or not."""
    return hc.Problem(
        name="rod",
        domain=hc.Interval(0, 1),
        horizon=1.0,
        boundary=hc.Dirichlet(0.0),
        rhs=lambda u, x, k: (k(x) * u.x).x + 1.0,
        initial=lambda x: np.sin(np.pi * x),
        parameters={"k": k},
    )


def measure(count=500, noise=0.01, seed=0):
    """Values at random places and times."""
    exact = hc.solve(rod(true), accuracy=1e-6, reference=False)
    rng = np.random.default_rng(seed)
    t, x = rng.uniform(0, 1, count), rng.uniform(0, 1, count)
    u = exact(t, x)
    return hc.Measurements(t, x, u=u + noise * u.std() * rng.standard_normal(count))


def main(count: int = 500, folder: str | Path = "out/fit-conductivity") -> hc.Fit:
    """Fit, print and draw."""
    fit = hc.fit(rod(hc.UnknownFunction("x", guess=0.2, positive=True)), measure(count), on_progress=print)
    k = fit.estimates["k"]
    error = np.linalg.norm(k.values - true(k.at)) / np.linalg.norm(true(k.at))
    print(fit.verdict)
    print(f"Relative L2 error of k: {error:.1e}")
    figure = fit.plot_functions()
    figure.axes[0].plot(k.at, true(k.at), "--", color="#d1602b", label="true")
    figure.axes[0].legend(frameon=False)
    Path(folder).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(folder) / "k.png")
    print(f"Wrote {fit.plot(Path(folder) / 'data.png')} and {Path(folder) / 'k.png'}")
    return fit


if __name__ == "__main__":
    main()
