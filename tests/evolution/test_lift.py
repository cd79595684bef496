"""The lift of an evolution with a known function added to it."""

import jax.numpy as jnp
import numpy as np

from declarations import declare
from hcpinn import jets
from hcpinn.evolution import Evolution, evolve
from hcpinn.machine.precision import double


def test_features_carry_what_a_function_added_to_the_lift_lacks():
    """uₜ = −u², so u = u₀/(1 + t u₀): added all but 1/1000 of u − u₀, few features find the rest."""
    problem = declare(
        rhs=lambda u: -(u**2) + 0 * u.x,
        initial=lambda x: 1.5 + jnp.sin(jnp.pi * x) ** 3 + 0.3 * jnp.cos(3 * jnp.pi * x),
    )

    def most(points, indices):
        def part(p):
            start = problem.initial_values([p[:, 1]])[0]
            return 0.999 * (start / (1 + p[:, 0] * start) - start)[:, None]

        return jets.nested(part, points, indices)

    few = Evolution(features=20)
    alone = evolve(problem, accuracy=1e-10, method=few)
    helped = evolve(problem, accuracy=1e-10, method=few, added=most)
    t, x = (a.ravel() for a in np.meshgrid(np.linspace(0, 1, 7), np.linspace(-1, 1, 41)))
    start = np.asarray(problem.initial_values([jnp.asarray(x)])[0])
    exact = start / (1 + t * start)
    errors = []
    for found in (alone, helped):
        with double():
            values = np.asarray(found.derivative(jnp.asarray(np.column_stack([t, x])), (0, 0)))[:, 0]
        errors.append(np.linalg.norm(values - exact) / np.linalg.norm(exact))
    assert 0 < errors[1] < 5e-3 * errors[0]
    assert helped.estimated_error < 1e-2 * alone.estimated_error
