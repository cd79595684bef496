"""hcpinn: Taylor-mode jets, chunked over points; ten steps are one compiled program.

With `--runs N`, N runs, each from parameters and at points of its own, are mapped with `vmap`, as
`solve_batch` trains seeds together.
"""

import jax
import jax.numpy as jnp
import numpy as np
from common import DEPTH, MODES, RATE, WIDTH, serve
from jax.flatten_util import ravel_pytree

import hcpinn as hc
from hcpinn.descent.program import cast
from hcpinn.jets.taylor import closure
from hcpinn.machine.precision import double
from hcpinn.objective import Objective, chunk_size, sampling, stack
from hcpinn.trial import make_trial

FOURTH = lambda u: 1e-3 * u.xx - 1e-7 * u.xxxx - 5 * (u**3 - u)


def make(points, order, precision, runs=1):
    problem = hc.find_problem("allen-cahn-1")
    if order == 4:
        problem = hc.Problem(domain=problem.domain, horizon=1.0, rhs=FOURTH, initial=problem.initial)
    method = hc.Method(embedding=hc.Fourier(MODES), network=hc.MLP(WIDTH, DEPTH), points=points)
    with double():
        trial = make_trial(problem, method)
        starts = [trial.init(jax.random.key(seed)) for seed in range(runs)]
        template = starts[0]
        dtype = jnp.dtype(precision)
        chunk = chunk_size(
            width=WIDTH,
            indices=len(closure(trial.indices)),
            itemsize=dtype.itemsize,
            runs=runs,
            platform=jax.default_backend(),
        )
        objective = Objective(trial, template, chunk=chunk)
        places = [objective.data(sampling.interior(problem, points, seed=seed)) for seed in range(runs)]
        data, axes = stack([cast(place, dtype) for place in places])
        thetas = jnp.stack([ravel_pytree(start)[0].astype(dtype) for start in starts])
        state = [thetas if runs > 1 else thetas[0]]

        def step(theta, data):
            here = objective.measure(theta, data)
            return theta - jnp.asarray(RATE, dtype) * here.gradient, here.loss

        if runs > 1:
            step = jax.vmap(step, in_axes=(0, axes))
        block = 10
        run = jax.jit(
            lambda theta, data: jax.lax.scan(lambda t, _: step(t, data), theta, length=block),
        )

    def steps(count):
        with double():
            for _ in range(-(-count // block)):
                state[0], losses = run(state[0], data)
            return float(np.asarray(losses)[-1].mean())

    return steps


if __name__ == "__main__":
    serve(make)
