"""Allen–Cahn, uₜ = ε ∇²u + 2 (u − u³), on a plate with three holes: phases part and settle.

    python examples/plate.py

A few minutes on two cores; leaves a picture of the domain, figures and an animation in out/plate.
"""

from pathlib import Path

import numpy as np

import hcpinn as hc

plate = hc.Box((0, 3), (0, 2))
for hole in (hc.Disk((0.7, 0.7), 0.3), hc.Disk((1.5, 1.4), 0.3), hc.Disk((2.3, 0.7), 0.3)):
    plate = plate - hole

problem = hc.Problem(
    name="plate",
    domain=plate,
    horizon=1.0,
    boundary=hc.Neumann(0.0),
    rhs=lambda u, epsilon: epsilon * u.laplacian + 2 * (u - u**3),
    initial=lambda x, y: 0.5 * np.cos(np.pi * x) * np.cos(np.pi * y),
    parameters={"epsilon": 0.02},
)


def main(method: hc.Evolution | None = None, folder: str | Path = "out/plate") -> hc.Solution:
    """Solve, print the verdict, draw and animate."""
    print(f"Wrote {problem.domain.plot(Path(folder) / 'domain.png')}")
    solution = hc.solve(problem, method)
    print(solution.verdict)
    print(f"Wrote {solution.plot(Path(folder) / 'fields.png')}")
    print(f"Wrote {solution.animate(Path(folder) / 'solution.gif', frames=26)}")
    return solution


if __name__ == "__main__":
    main()
