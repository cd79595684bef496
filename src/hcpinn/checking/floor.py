"""What a lift cannot represent: the error below which no network can bring it.

Periodic initial data may have a slope jump where the period closes. Diffusion removes it at once; a
lift such as e^{−Ct} u₀ keeps it, and a smooth periodic network cannot take it away. Around
the seam the error is then that of a stationary layer, (J δ / 2) e^{−|x|/δ}, J the jump and
δ = √(ν / |F_u|) or √(ν t), whichever is smaller, with diffusivity ν = ∂F/∂u_xx.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from ..equation.probes import slopes
from ..problem import Index, Periodic
from ..trial import Trial, jet_of

_TIMES = 33


def kink_floor(trial: Trial) -> float | None:
    """The relative L2 error that a slope jump in the lift leaves, or None if there is no such jump.

    An estimate within a factor of two or so, for one space dimension.
    """
    problem = trial.problem
    if len(problem.space) != 1 or not isinstance(problem.boundaries[0], Periodic):
        return None
    second: Index = (0, 2)
    if second not in problem.derivatives:
        return None
    low, high = problem.domain.bounds[0]
    t = problem.start + problem.duration * (np.arange(_TIMES) + 0.5) / _TIMES
    zero, first = (0, 0), (0, 1)
    ends = [jnp.asarray(np.column_stack([t, np.full(_TIMES, x)])) for x in (low, high)]
    lift = jax.jit(partial(jet_of, trial.lift, indices=(zero, first)))
    lower, upper = (lift(points) for points in ends)
    jump = np.asarray(upper[first] - lower[first])
    scale = np.abs(np.asarray(lower[zero])).max() + 1e-300
    if np.abs(jump).max() <= 1e-6 * scale / (high - low):
        return None
    # How F answers to u and u_xx is read off the initial state: the lift's later ones are not the solution's.
    seam = jnp.asarray([[problem.start, low]])
    begin = {i: problem.to_fields(v) for i, v in jet_of(trial.lift, seam, problem.derivatives).items()}
    values = {(n, i): begin[i][n] for n in range(len(problem.fields)) for i in problem.derivatives}
    wanted = [(n, i) for n in range(len(problem.fields)) for i in (zero, second)]
    found = slopes(problem, values, [seam[:, 0], seam[:, 1]], wanted)
    x = jnp.asarray(low + (high - low) * (np.arange(256) + 0.5) / 256)
    start = np.asarray(problem.to_components(problem.initial_values([x])))
    sizes = np.sqrt(np.mean(start**2, axis=0) * (high - low))
    worst, column = 0.0, 0
    for number, is_complex in enumerate(problem.complex_fields):
        diffusion = np.maximum(np.real(np.asarray(found[number, (number, second)])), 0.0)
        reaction = np.abs(np.asarray(found[number, (number, zero)]))
        width = np.sqrt(np.minimum(diffusion * (t - problem.start), diffusion / np.maximum(reaction, 1e-300)))
        for part in range(2 if is_complex else 1):
            error = np.sqrt(np.mean(jump[:, column + part] ** 2 * width**3 / 4))
            worst = max(worst, float(error / max(sizes[column + part], 1e-300)))
        column += 2 if is_complex else 1
    return worst or None
