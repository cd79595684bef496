"""Viscous Burgers, uₜ = ν uₓₓ − u uₓ, u₀ = −sin πx, periodic on [−1, 1]: a wave steepens into a thin layer.

    python examples/burgers.py

Half a minute on two cores. Prints the verdict and leaves figures in out/burgers.
"""

from pathlib import Path

import numpy as np

import hcpinn as hc

problem = hc.Problem(
    name="burgers",
    domain=hc.Interval(-1, 1),
    horizon=1.0,
    boundary=hc.Periodic(),
    rhs=lambda u, nu: nu * u.xx - u * u.x,
    initial=lambda x: -np.sin(np.pi * x),
    parameters={"nu": 0.02},
)


def main(method: hc.Method | str | None = None, folder: str | Path = "out/burgers") -> hc.Solution:
    """Solve, print the verdict, and draw."""
    solution = hc.solve(problem, method)
    print(solution.verdict)

    times = np.linspace(0.0, problem.horizon, 201)
    slopes = solution.dx(times, 0.0)
    steepest = np.argmin(slopes)
    print(f"The layer at x = 0 is steepest at t = {times[steepest]:.2f}, with slope {slopes[steepest]:.2f}.")

    for draw, name in ((solution.plot, "fields"), (solution.plot_slices, "slices")):
        print(f"Wrote {draw(Path(folder) / f'{name}.png')}")
    return solution


if __name__ == "__main__":
    main()
