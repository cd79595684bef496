"""Uncertain coefficients: a million samples of a reaction front, its histogram, and Sobol' indices.

    python examples/uncertainty.py

uₜ = D uₓₓ + r u (1 − u) spreads from a spark of height a around x = 0 on a ring of length 2. How much
has arrived at x = 0.6 by t = 1 if D, r and a are only known within ranges? One family answers for all of
them. Leaves figures and a page with sliders in out/uncertainty.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform, sobol_indices, uniform

import hcpinn as hc

problem = hc.Problem(
    name="spark",
    domain=hc.Interval(-1, 1),
    horizon=1.0,
    rhs=lambda u, D, r: D * u.xx + r * u * (1 - u),
    initial=lambda x, a: a * np.exp(-10 * np.sin(np.pi * x / 2) ** 2),
    parameters={
        "D": hc.Between(0.01, 0.1, log=True),
        "r": hc.Between(2, 6),
        "a": hc.Between(0.1, 0.5),
    },
)
PRIOR = {"D": loguniform(0.01, 0.1), "r": uniform(2, 4), "a": uniform(0.1, 0.4)}


def arrived(family: hc.Family, values: np.ndarray) -> np.ndarray:
    """u(1, 0.6) for columns of parameters."""
    return family(1.0, 0.6, **dict(zip(PRIOR, values, strict=True)))


def main(folder: str | Path = "out/uncertainty", samples: int = 1_000_000) -> hc.Family:
    """Solve once, sample, and draw."""
    folder = Path(folder)
    family = hc.solve(problem)
    print(family.verdict)
    rng = np.random.default_rng(0)
    found = arrived(family, np.stack([own.rvs(samples, random_state=rng) for own in PRIOR.values()]))
    print(f"u(1, 0.6) = {found.mean():.3f} ± {found.std():.3f}, P(u > 0.5) = {np.mean(found > 0.5):.3f}")
    indices = sobol_indices(
        func=lambda values: arrived(family, values), n=2**13, dists=list(PRIOR.values()), rng=rng
    )
    for name, first, total in zip(PRIOR, indices.first_order, indices.total_order, strict=True):
        print(f"{name}: {first:.2f} of the variance alone, {total:.2f} with all it takes part in")

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.4), layout="constrained")
    left.hist(found, 200, density=True, color="#2b5c8a")
    left.set(xlabel="u at t = 1, x = 0.6", ylabel="density", title=f"{samples:,} samples")
    places = np.arange(len(PRIOR))
    right.bar(places - 0.2, indices.first_order, 0.4, label="alone", color="#2b5c8a")
    right.bar(places + 0.2, indices.total_order, 0.4, label="total", color="#d9822b")
    right.set(xticks=places, xticklabels=list(PRIOR), title="Sobol' indices", ylim=(0, 1))
    right.legend(frameon=False)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "uncertainty.png", dpi=150)
    plt.close(figure)
    family.plot(folder / "against-D.png")
    family.page(folder / "family.html")
    print(f"Wrote uncertainty.png, against-D.png and family.html in {folder}")
    return family


if __name__ == "__main__":
    main()
