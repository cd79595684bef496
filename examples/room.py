"""A wave in an L-shaped room, uₜₜ = ∇²u, with walls that hold it: it bends around the corner.

    python examples/room.py

The corner is re-entrant, so slopes grow without bound there: the solution says so, and features see it in
coordinates of its own. A few minutes on two cores; leaves pictures in out/room.
"""

from pathlib import Path

import jax.numpy as jnp

import hcpinn as hc

problem = hc.Problem(
    name="room",
    domain=hc.Box((-1, 1), (0, 1)) | hc.Box((-1, 0), (-1, 1)),
    horizon=1.0,
    order=2,
    boundary=hc.Dirichlet(0.0),
    rhs=lambda u: u.laplacian,
    initial=lambda x, y: (1 - x**2) * (1 - y**2) * x * y * jnp.exp(-2 * (x + 0.5) ** 2 - 2 * (y + 0.5) ** 2),
    velocity=0.0,
)


def main(method: hc.Evolution | None = None, folder: str | Path = "out/room") -> hc.Solution:
    """Solve, print the verdict and what there is to know, draw and animate."""
    print(f"Wrote {problem.domain.plot(Path(folder) / 'domain.png')}")
    solution = hc.solve(problem, method)
    print(solution.verdict, *solution.notes)
    print(f"Wrote {solution.plot(Path(folder) / 'fields.png')}")
    print(f"Wrote {solution.animate(Path(folder) / 'solution.gif', frames=26)}")
    return solution


if __name__ == "__main__":
    main()
