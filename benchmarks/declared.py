"""Declarations that `hypothesis` draws: equation, boundary, solution, units and horizon, all at random.

Each is a dictionary of numbers and words, from which `truth_of` makes a problem and its solution. Sizes go
from 1e-6 to 1e6, widths of fronts and pulses down to a few thousandths.
"""

from __future__ import annotations

import functools
from typing import Any

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np

import hcpinn as hc
from manufactured import Exact, Known, known, slopes, walls


def _power(low: float, high: float) -> st.SearchStrategy[float]:
    """10 to a power between two, even in the power."""
    return st.floats(low, high).map(lambda p: float(10.0**p))


SHAPES = ("waves", "front", "pulse in x", "pulse in t", "decay", "constant plus a little")

_DECLARATIONS = st.fixed_dictionaries(
    {
        "boundary": st.sampled_from(["Periodic", "Dirichlet", "Neumann", "Robin"]),
        "shape": st.sampled_from(SHAPES),
        "equation": st.sampled_from(["heat", "drift", "burgers", "growth", "bistable", "dispersion"]),
        "size": st.one_of(st.just(1.0), _power(-6, 6)),
        "length": st.one_of(st.just(1.0), _power(-2, 2)),
        "horizon": st.one_of(st.just(1.0), _power(-2, 2)),
        "diffusion": _power(-3, 0),
        "width": _power(-2.3, -0.5),
        "place": st.floats(0.2, 0.8),
        "speed": st.floats(-0.3, 0.3),
        "strength": st.floats(-3.0, 3.0),
        "waves": st.integers(1, 4),
    }
)


@functools.cache
def declarations(seed: int, count: int) -> list[dict[str, Any]]:
    """So many declarations, the same for the same seed."""
    found: list[dict[str, Any]] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count, database=None, deadline=None, phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    @hypothesis.given(_DECLARATIONS)
    def collect(declaration: dict[str, Any]) -> None:
        found.append(declaration)

    collect()
    return found[:count]


def truth_of(declaration: dict[str, Any]) -> Known:
    """The problem that a declaration states, in its own units, and the solution."""
    d = declaration
    size, length, horizon = d["size"], d["length"], d["horizon"]
    profile = _profile(d)

    def u(t: Any, x: Any) -> Any:
        return size * profile(t / horizon, x / length)

    nu, k = d["diffusion"] * length**2 / horizon, d["strength"]

    def operator(f: list[Any], at: Any) -> Any:
        diffusion = nu * f[0].xx
        if d["equation"] == "drift":
            return diffusion - k * length / horizon * f[0].x
        if d["equation"] == "burgers":
            return diffusion - k * length / horizon / size * f[0].v * f[0].x
        if d["equation"] == "growth":
            return diffusion + k / horizon * f[0].v
        if d["equation"] == "bistable":
            return diffusion + abs(k) / horizon * (f[0].v - (1 / size**2) * f[0].v ** 3)
        if d["equation"] == "dispersion" and d["boundary"] == "Periodic":
            return diffusion - 0.1 * nu * length * f[0].xxx
        return diffusion

    boundary: Any = hc.Periodic()
    with jax.enable_x64(True):
        if d["boundary"] != "Periodic":
            (a, b), (da, db) = walls(u, 0.0, length), slopes(u, 0.0, length)
            if d["boundary"] == "Dirichlet":
                boundary = hc.Dirichlet(a, b)
            elif d["boundary"] == "Neumann":
                boundary = hc.Neumann(da, db)
            else:
                boundary = hc.Robin(
                    lambda t: a(t) + length * da(t), lambda t: b(t) + length * db(t), value=1.0, slope=length
                )
        return known(
            d["shape"], u, operator, domain=hc.Interval(0.0, length), horizon=horizon, boundary=boundary
        )


def _profile(d: dict[str, Any]) -> Exact:
    """The solution for size, length and horizon 1; periodic where the boundary is."""
    w, place, speed, n = d["width"], d["place"], d["speed"], d["waves"]
    periodic = d["boundary"] == "Periodic"
    tau = 2 * np.pi

    def near(t: Any, x: Any) -> Any:
        """A distance from a moving place, periodic if need be."""
        z = x - place - speed * t
        return jnp.sin(np.pi * z) / np.pi if periodic else z

    if d["shape"] == "waves":
        return lambda t, x: jnp.cos(tau * n * x - 3 * t) + 0.5 * jnp.sin(tau * (x - speed * t))
    if d["shape"] == "front":
        if periodic:
            return lambda t, x: jnp.tanh(jnp.sin(tau * (x - place - speed * t)) / (tau * w))
        return lambda t, x: jnp.tanh(near(t, x) / w)
    if d["shape"] == "pulse in x":
        return lambda t, x: jnp.exp(-((near(t, x) / w) ** 2)) + 0.2
    if d["shape"] == "pulse in t":
        return lambda t, x: (1 + jnp.exp(-(((t - place) / w) ** 2))) * (1.5 + jnp.cos(tau * n * x))
    if d["shape"] == "decay":
        return lambda t, x: jnp.exp(-3 * t) * (1.2 + jnp.sin(tau * n * x))
    return lambda t, x: 1.0 + 1e-2 * jnp.cos(tau * n * x - t)
