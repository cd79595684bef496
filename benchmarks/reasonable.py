"""More problems with exact solutions, as users bring them: sixty with those of `manufactured.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np

import hcpinn as hc
from manufactured import FAMILIES, LINE, Known, _front, _held, _pulse, _smooth, _waves, known, slopes

COUNT = 60

OWN: list[Callable[[np.random.Generator], Known]] = []


def family(function: Callable[[np.random.Generator], Known]) -> Callable[[np.random.Generator], Known]:
    """Add a family to those of this file."""
    OWN.append(function)
    return function


def draw(seed: int) -> Iterator[Known]:
    """Sixty problems: one of every family, and then of as many again as it takes."""
    families = [*OWN, *FAMILIES]
    for number in range(COUNT):
        make = families[number % len(families)]
        with jax.enable_x64(True):
            yield make(np.random.default_rng([seed, 28, number]))


@family
def fitzhugh_nagumo(rng):
    a, eps = rng.uniform(0.05, 0.3), rng.uniform(0.05, 0.5)
    return known(
        "fitzhugh_nagumo", (_pulse(rng, 2.0), _pulse(rng, 2.0)),
        lambda f, at: (
            0.01 * f[0].xx + f[0].v * (1 - f[0].v) * (f[0].v - a) - f[1].v,
            eps * (f[0].v - f[1].v),
        ),
        domain=hc.Interval(-1, 1), horizon=2.0,
    )  # fmt: skip


@family
def fokker_planck(rng):
    d = 10 ** rng.uniform(-2, -0.5)
    return _held("fokker_planck", _smooth(rng), lambda f, at: d * f[0].xx + at[1] * f[0].x + f[0].v)


@family
def telegraph(rng):
    damping, c = rng.uniform(0.1, 2), rng.uniform(0.5, 2)
    return known(
        "telegraph", (_waves(rng, 1.0, 2), _waves(rng, 1.0, 2)),
        lambda f, at: (f[1].v, c**2 * f[0].xx - damping * f[1].v), domain=LINE, horizon=1.0,
    )  # fmt: skip


@family
def cahn_hilliard(rng):
    e = 10 ** rng.uniform(-3, -2)
    return known(
        "cahn_hilliard", _waves(rng, 2.0, 2),
        lambda f, at: 0.1 * ((3 * f[0].v ** 2 - 1) * f[0].xx + 6 * f[0].v * f[0].x ** 2) - e * f[0].xxxx,
        domain=hc.Interval(-1, 1), horizon=0.5,
    )  # fmt: skip


@family
def dispersion(rng):
    return known(
        "dispersion", _waves(rng, 2.0, 3), lambda f, at: 0.01 * f[0].xx - 0.02 * f[0].xxx - f[0].x,
        domain=hc.Interval(-1, 1), horizon=1.0,
    )  # fmt: skip


@family
def insulated_reaction(rng):
    u, r = _smooth(rng), rng.uniform(0.5, 3)
    return known(
        "insulated_reaction", u, lambda f, at: 0.05 * f[0].xx + r * f[0].v * (1 - f[0].v), domain=LINE,
        horizon=1.0, boundary=hc.Neumann(*slopes(u, 0.0, 1.0)),
    )  # fmt: skip


@family
def front_with_drift(rng):
    c = rng.uniform(-1, 1)
    return _held("front_with_drift", _front(rng), lambda f, at: 0.01 * f[0].xx - c * f[0].x - f[0].v ** 3)


@family
def hamilton_jacobi(rng):
    nu = 10 ** rng.uniform(-2, -1)
    return known(
        "hamilton_jacobi", _waves(rng, 1.0, 2, 2), lambda f, at: nu * f[0].xx - 0.05 * f[0].x ** 2,
        domain=LINE, horizon=0.5,
    )  # fmt: skip


@family
def plane_shear(rng):
    u = _pulse(rng, 1.0)
    return known(
        "plane_shear", lambda t, x, y: u(t, x) * jnp.exp(jnp.cos(2 * jnp.pi * y) - 1),
        lambda f, at: 0.02 * (f[0].xx + f[0].yy) - 0.5 * f[0].x, domain=hc.Box((0, 1), (0, 1)), horizon=0.3,
    )  # fmt: skip
