"""Design by gradients: the weakest spark that still arrives.

    python examples/design.py

uₜ = D uₓₓ + r u (1 − u) on a ring, as in uncertainty.py. Which height a and width w of the spark use the
least fuel, ∫ u(0, x) dx, and still bring u(1, 0.6) to a half? SciPy follows exact gradients of one family.
"""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import NonlinearConstraint, minimize

import hcpinn as hc

problem = hc.Problem(
    name="spark",
    domain=hc.Interval(-1, 1),
    horizon=1.0,
    rhs=lambda u: 0.05 * u.xx + 5 * u * (1 - u),
    initial=lambda x, a, w: a * jnp.exp(-((jnp.sin(jnp.pi * x / 2) / w) ** 2)),
    parameters={"a": hc.Between(0.05, 0.6), "w": hc.Between(0.2, 0.5)},
)


def main() -> tuple[hc.Family, np.ndarray]:
    """Solve once, then optimise."""
    family = hc.solve(problem)
    print(family.verdict)
    x = np.linspace(-1, 1, 200, endpoint=False)

    def arrived(p):
        return family(1.0, 0.6, a=p[0], w=p[1])

    def fuel(p):
        return 2 * jnp.mean(family(0.0, x, a=p[0], w=p[1]))

    with jax.enable_x64(True):
        found = minimize(
            jax.jit(fuel),
            np.array([0.4, 0.3]),
            jac=jax.jit(jax.grad(fuel)),
            bounds=[problem.open[name].extremes for name in family.names],
            constraints=NonlinearConstraint(jax.jit(arrived), 0.5, np.inf, jac=jax.jit(jax.grad(arrived))),
            method="SLSQP",
        )
    a, w = found.x
    print(f"a = {a:.4f}, w = {w:.4f} after {found.nit} steps: fuel {found.fun:.4f}, ", end="")
    print(f"u(1, 0.6) = {arrived(found.x):.4f}")
    return family, found.x


if __name__ == "__main__":
    main()
