"""Two coefficients of Burgers' equation, uₜ = λ₂ uₓₓ − λ₁ u uₓ, from 2,000 noisy values.

    python examples/fit_burgers.py

The data come from a solution at λ₁ = 1, λ₂ = 0.01/π, with noise of 5% of its standard deviation; the search
starts at λ₁ = 0.5, λ₂ = 0.02. Half a minute on two cores. Prints estimates and verdict, and leaves figures in
out/fit-burgers.
"""

from pathlib import Path

import numpy as np

import hcpinn as hc


def burgers(l1, l2):
    """The problem with numbers or unknowns."""
    return hc.Problem(
        name="burgers",
        domain=hc.Interval(-1, 1),
        horizon=1.0,
        boundary=hc.Dirichlet(0.0),
        rhs=lambda u, l1, l2: l2 * u.xx - l1 * u * u.x,
        initial=lambda x: -np.sin(np.pi * x),
        parameters={"l1": l1, "l2": l2},
    )


def measure(count=2000, noise=0.05, seed=0):
    """Values at random places and times."""
    exact = hc.solve(burgers(1.0, 0.01 / np.pi), accuracy=1e-6, reference=False)
    rng = np.random.default_rng(seed)
    t, x = rng.uniform(0, 1, count), rng.uniform(-1, 1, count)
    u = exact(t, x)
    return hc.Measurements(t, x, u=u + noise * u.std() * rng.standard_normal(count))


def main(count: int = 2000, folder: str | Path = "out/fit-burgers") -> hc.Fit:
    """Fit, print and draw."""
    problem = burgers(hc.Unknown(0.5), hc.Unknown(0.02, log=True))
    fit = hc.fit(problem, measure(count), on_progress=print)
    print(fit)
    print(f"Wrote {fit.plot(Path(folder) / 'data.png')}")
    print(f"Wrote {fit.plot_corner(Path(folder) / 'corner.png')}")
    return fit


if __name__ == "__main__":
    main()
