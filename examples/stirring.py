"""Dye stirred by four vortices, uₜ = D ∇²u − a·∇u, periodic on [0, 2π]²: stripes are wound into spirals.

    python examples/stirring.py

The flow a = (sin x cos y, −cos x sin y) is free of divergence. Less than a minute on two cores; leaves
figures and an animation in out/stirring.
"""

from pathlib import Path

import numpy as np

import hcpinn as hc

problem = hc.Problem(
    name="stirring",
    domain=hc.Box((0, 2 * np.pi), (0, 2 * np.pi)),
    horizon=3.0,
    boundary=hc.Periodic(),
    rhs=lambda u, x, y, D: D * u.laplacian - np.sin(x) * np.cos(y) * u.x + np.cos(x) * np.sin(y) * u.y,
    initial=lambda x, y: np.sin(y),
    parameters={"D": 0.03},
)


def main(method: hc.Method | str | None = None, folder: str | Path = "out/stirring") -> hc.Solution:
    """Solve, print the verdict, draw and animate."""
    solution = hc.solve(problem, method)
    print(solution.verdict)
    for draw, name in ((solution.plot, "fields.png"), (solution.plot_slices, "slices.png")):
        print(f"Wrote {draw(Path(folder) / name)}")
    print(f"Wrote {solution.animate(Path(folder) / 'solution.gif', frames=26)}")
    return solution


if __name__ == "__main__":
    main()
