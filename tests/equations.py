"""Linear and nonlinear equations on which tests of the theory agree, and small methods for them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import hcpinn as hc
from declarations import declare, declare_dirichlet
from hcpinn.theory import System, hard_method, soft_method

LINEAR = {
    "advection": hc.find_problem("advection").with_parameters(c=3.0),
    "heat": declare(
        name="heat", rhs=lambda u, x: (0.1 + 0.05 * np.cos(np.pi * x)) * u.xx + np.sin(np.pi * x)
    ),
    "beam": declare(name="beam", rhs=lambda u: -1e-2 * u.xxxx - 0.3 * u),
    "free schrodinger": declare(
        name="free schrodinger", rhs=lambda u: 0.2j * u.xx, initial=lambda x: jnp.exp(jnp.cos(jnp.pi * x))
    ),
}
NONLINEAR = {
    "allen-cahn": declare(name="allen-cahn"),
    "gray-scott": hc.find_problem("gray-scott"),
}
DIRICHLET = declare_dirichlet(name="warm rod")


def linear_network():
    """A network that is linear in its parameters: one weight per feature and output."""

    def init(key, inputs, outputs):
        return jax.random.normal(key, (inputs, outputs))

    return hc.CustomNetwork(init, lambda parameters, features: features @ parameters)


def method(problem, **changes):
    """A small method for a problem: exact initial data by the study's lift."""
    periodic = problem.boundaries[0].periodic
    settings = {"embedding": hc.Fourier(2) if periodic else hc.Plain(), "network": hc.MLP(8, 2)}
    return hc.Method(**{**settings, **changes})


@functools.cache
def pair(name, points=24, network=None):
    """The soft and the hard system of a problem by name, with one network."""
    problem = {**LINEAR, **NONLINEAR, "warm rod": DIRICHLET}[name]
    chosen = method(problem, **({} if network is None else {"network": network}))
    return tuple(System(problem, way(problem, chosen), points=points) for way in (soft_method, hard_method))
