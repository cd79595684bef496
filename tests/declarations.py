"""Small problems that tests share."""

import jax.numpy as jnp
import numpy as np

import hcpinn as hc


def declare(**changes):
    """A smooth periodic Allen–Cahn problem, with changes."""
    settings = {
        "domain": hc.Interval(-1, 1),
        "horizon": 1.0,
        "rhs": lambda u: 1e-2 * u.xx - (u**3 - u),
        "initial": lambda x: jnp.cos(jnp.pi * x),
    }
    return hc.Problem(**{**settings, **changes})


def declare_dirichlet(**changes):
    """Heat flow with moving, unequal boundary data."""
    settings = {
        "rhs": lambda u: 0.1 * u.xx,
        "boundary": hc.Dirichlet(lambda t: 1 + t, lambda t: np.cos(t) - 1),
        "initial": lambda x: (1 - x) / 2 + 0.3 * jnp.sin(jnp.pi * x),
    }
    return declare(**{**settings, **changes})
