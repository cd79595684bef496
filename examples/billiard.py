"""Schrödinger's equation in a billiard, i ψₜ = −½ ∇²ψ in an ellipse with hard walls: a packet meets the wall.

    python examples/billiard.py

A few minutes on two cores; leaves pictures in out/billiard.
"""

from pathlib import Path

import jax.numpy as jnp

import hcpinn as hc

problem = hc.Problem(
    name="billiard",
    domain=hc.Ellipse((0, 0), (1.5, 1.0)),
    horizon=0.3,
    boundary=hc.Dirichlet(0.0),
    rhs=lambda psi: 0.5j * psi.laplacian,
    initial=lambda x, y: (1 - x**2 / 2.25 - y**2) * jnp.exp(-4 * (x**2 + y**2) + 4j * x),
)


def main(method: hc.Evolution | None = None, folder: str | Path = "out/billiard") -> hc.Solution:
    """Solve, print the verdict, draw and animate."""
    solution = hc.solve(problem, method)
    print(solution.verdict)
    print(f"Wrote {solution.plot(Path(folder) / 'fields.png')}")
    print(f"Wrote {solution.animate(Path(folder) / 'solution.gif', frames=26)}")
    return solution


if __name__ == "__main__":
    main()
