"""Problems that are not in the catalogue and that the defaults of `expert` were not tuned on."""

from __future__ import annotations

import jax.numpy as jnp

from hcpinn import Dirichlet, Interval, Periodic, Problem

BURGERS = Problem(
    name="burgers",
    domain=Interval(-1, 1),
    horizon=1.0,
    boundary=Dirichlet(0.0, 0.0),
    rhs=lambda u, nu: nu * u.xx - u * u.x,
    initial=lambda x: -jnp.sin(jnp.pi * x),
    parameters={"nu": 0.01 / 3.141592653589793},
)
"""uₜ = ν uₓₓ − u uₓ: a front of width 0.01 forms at x = 0."""

KORTEWEG_DE_VRIES = Problem(
    name="korteweg-de-vries",
    domain=Interval(-1, 1),
    horizon=1.0,
    boundary=Periodic(),
    rhs=lambda u, delta: -u * u.x - delta**2 * u.xxx,
    initial=lambda x: jnp.cos(jnp.pi * x),
    parameters={"delta": 0.022},
)
"""uₜ = −u uₓ − δ² uₓₓₓ: a cosine breaks up into a train of solitons."""

FITZHUGH_NAGUMO = Problem(
    name="fitzhugh-nagumo",
    domain=Interval(0, 20),
    horizon=10.0,
    boundary=Periodic(),
    rhs=lambda v, w, epsilon: (
        0.1 * v.xx + v - v**3 / 3 - w,
        epsilon * (v + 0.7 - 0.8 * w),
    ),
    initial=lambda x: (-1.2 + 2.2 * jnp.exp(2 * (jnp.cos(jnp.pi * (x - 10) / 10) - 1)), -0.62 + 0 * x),
    parameters={"epsilon": 0.08},
)
"""vₜ = 0.1 vₓₓ + v − v³/3 − w, wₜ = ε (v + 0.7 − 0.8 w): a pulse spreads through an excitable medium."""

KURAMOTO_SIVASHINSKY = Problem(
    name="kuramoto-sivashinsky, −sin πx",
    domain=Interval(-1, 1),
    horizon=1.0,
    boundary=Periodic(),
    rhs=lambda u: -5 * u * u.x - 0.5 * u.xx - 0.005 * u.xxxx,
    initial=lambda x: -jnp.sin(jnp.pi * x),
)
"""uₜ = −5 u uₓ − uₓₓ/2 − 0.005 uₓₓₓₓ: small waves grow on a steepening one."""

ALLEN_CAHN = Problem(
    name="allen-cahn, γ₁ = 1e-4",
    domain=Interval(-1, 1),
    horizon=1.0,
    boundary=Periodic(),
    rhs=lambda u: 1e-4 * u.xx - 5 * (u**3 - u),
    initial=lambda x: x**2 * jnp.cos(jnp.pi * x),
)
"""uₜ = 1e-4 uₓₓ − 5 (u³ − u): interfaces of width 0.01."""

OTHERS = {
    problem.name: problem
    for problem in (BURGERS, KORTEWEG_DE_VRIES, FITZHUGH_NAGUMO, KURAMOTO_SIVASHINSKY, ALLEN_CAHN)
}
