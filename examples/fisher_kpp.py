"""Fisher–KPP, uₜ = D uₓₓ + r u (1 − u): a front that moves in from the left, checked against its closed form.

    python examples/fisher_kpp.py

The front u = [1 + exp(√(r/6D) (x − x₀) − 5rt/6)]⁻² solves the equation on the whole line. Its values
at x = ±1 are the Dirichlet data: they differ at the two ends and change in time. About half
a minute on two cores; leaves figures in out/fisher-kpp.
"""

from pathlib import Path

import numpy as np

import hcpinn as hc


def front(t, x, D, r):
    """The travelling wave; at t = 0 it passes u = 1/4 at x = −0.3."""
    return (1 + np.exp(np.sqrt(r / (6 * D)) * (x + 0.3) - 5 * r * t / 6)) ** -2


problem = hc.Problem(
    name="fisher-kpp",
    domain=hc.Interval(-1, 1),
    horizon=1.0,
    boundary=hc.Dirichlet(
        lambda t, D, r: front(t, -1.0, D, r),
        lambda t, D, r: front(t, 1.0, D, r),
    ),
    rhs=lambda u, D, r: D * u.xx + r * u * (1 - u),
    initial=lambda x, D, r: front(0.0, x, D, r),
    parameters={"D": 0.01, "r": 5.0},
)


def error(solution: hc.Solution) -> float:
    """The relative L2 error against the closed form, on a grid of its own."""
    t, x = np.meshgrid(np.linspace(0, problem.horizon, 41), np.linspace(-1, 1, 201), indexing="ij")
    exact = front(t, x, **solution.problem.parameters)
    return float(np.linalg.norm(solution(t, x) - exact) / np.linalg.norm(exact))


def main(method: hc.Method | str | None = None, folder: str | Path = "out/fisher-kpp") -> hc.Solution:
    """Solve, compare with the classical and with the closed-form solution, and draw."""
    solution = hc.solve(problem, method)
    print(solution.verdict)
    print(f"Relative L2 error against the closed form: {error(solution):.2e}")
    for draw, name in ((solution.plot, "fields"), (solution.plot_slices, "slices")):
        print(f"Wrote {draw(Path(folder) / f'{name}.png')}")
    return solution


if __name__ == "__main__":
    main()
