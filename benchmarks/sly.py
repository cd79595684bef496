"""More hostile problems with known solutions, invented to find out where a verdict can be led astray.

Each entry of `CASES` is a function that gives a `Known`, a problem with its solution. They have no answer but
the true one: solved well and said so, or not called `converged`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf

import hcpinn as hc
from hcpinn.problem import apply
from manufactured import Exact, Known, cos, known, sin, slopes, walls

LINE = hc.Interval(0.0, 1.0)
PI, TAU = np.pi, 2 * np.pi

CASES: list[Callable[[], Known]] = []


def sly(function: Callable[[], Known]) -> Callable[[], Known]:
    """Add a problem."""
    CASES.append(function)
    return function


def given(name: str, exact: Exact | tuple[Exact, ...], **problem: Any) -> Known:
    """A problem declared directly, with its solution."""
    settings = {"domain": LINE, "horizon": 1.0, "name": name, **problem}
    return Known(name, hc.Problem(**settings), exact if isinstance(exact, tuple) else (exact,))


def held(name: str, u: Exact, operator: Callable[..., Any], **more: Any) -> Known:
    """Known values at both walls."""
    settings = {"domain": LINE, "horizon": 1.0, "boundary": hc.Dirichlet(*walls(u, 0.0, 1.0)), **more}
    return known(name, u, operator, **settings)


def risen(at: float, width: float) -> Callable[[Any], Any]:
    """The integral from 0 on of a pulse of area 1."""
    return lambda t: (erf((t - at) / width) + erf(at / width)) / 2


def pulse(at: float, width: float, z: Any) -> Any:
    """A pulse of area 1, for NumPy."""
    return np.exp(-(((z - at) / width) ** 2)) / (width * np.sqrt(PI))


# Short in time


@sly
def early_pulse() -> Known:
    up = risen(3e-6, 1e-6)
    return given(
        "a pulse right after the start",
        lambda t, x: (1 + 0.8 * up(t)) * jnp.exp(0 * x) + 0 * x,
        rhs=lambda u, t: 1e-3 * u.xx + 0.8 * pulse(3e-6, 1e-6, t),
        initial=1.0,
    )


@sly
def train_of_pulses() -> Known:
    places = np.linspace(0.05, 0.95, 100)
    ups = [risen(p, 1e-5) for p in places]
    return given(
        "a hundred pulses",
        lambda t, x: jnp.cos(TAU * x) * jnp.exp(-0.01 * TAU**2 * t) + 0.02 * sum(up(t) for up in ups),
        rhs=lambda u, t: 0.01 * u.xx + 0.02 * sum(pulse(p, 1e-5, t) for p in places),
        initial=lambda x: jnp.cos(TAU * x),
    )


@sly
def pulsed_growth() -> Known:
    up = risen(0.6123, 1e-5)
    return given(
        "a pulse in the rate of growth",
        lambda t, x: jnp.exp(0.7 * up(t) - 0.02 * TAU**2 * t) * jnp.sin(TAU * x),
        rhs=lambda u, t: 0.02 * u.xx + 0.7 * pulse(0.6123, 1e-5, t) * u,
        initial=lambda x: jnp.sin(TAU * x),
    )


@sly
def kick() -> Known:
    up = risen(0.37, 1e-6)
    return given(
        "a kick in the speed",
        lambda t, x: jnp.exp(-0.01 * TAU**2 * t) * jnp.sin(TAU * (x - 0.3 * up(t) - 0.2 * t)),
        rhs=lambda u, t: 0.01 * u.xx - (0.2 + 0.3 * pulse(0.37, 1e-6, t)) * u.x,
        initial=lambda x: jnp.sin(TAU * x),
    )


@sly
def table_with_a_spike() -> Known:
    times = np.linspace(0, 1, 20001)
    table = np.where(np.arange(20001) == 12345, 1.2e4, 0.0)  # a triangle of area 0.6
    area = np.concatenate([[0], np.cumsum((table[1:] + table[:-1]) / 2 * np.diff(times))])
    return given(
        "a table with a spike",
        lambda t, x: jnp.cos(TAU * x) * jnp.exp(-0.02 * TAU**2 * t) + jnp.interp(t, times, area),
        rhs=lambda u, t: 0.02 * u.xx + apply(lambda t: jnp.interp(t, times, table), t),
        initial=lambda x: jnp.cos(TAU * x),
    )


@sly
def loop_with_a_pulse() -> Known:
    def source(t: Any) -> Any:
        def add(n: Any, total: Any) -> Any:
            return total + jnp.exp(-(((t - 0.1 * n - 0.0377) / 1e-5) ** 2)) / (1e-5 * jnp.sqrt(PI))

        return 0.1 * jax.lax.fori_loop(0, 9, add, 0.0 * t)

    ups = [risen(0.1 * n + 0.0377, 1e-5) for n in range(9)]
    return given(
        "pulses from a loop",
        lambda t, x: jnp.cos(TAU * x) * jnp.exp(-0.02 * TAU**2 * t) + 0.1 * sum(up(t) for up in ups),
        rhs=lambda u, t: 0.02 * u.xx + apply(source, t),
        initial=lambda x: jnp.cos(TAU * x),
    )


@sly
def square_wave() -> Known:
    w = 1500.0
    zig = lambda t: jnp.arccos(jnp.cos(w * t)) / w
    return given(
        "a square wave of 240 periods",
        lambda t, x: jnp.cos(TAU * x) * jnp.exp(-0.02 * TAU**2 * t) + 900 * zig(t),
        rhs=lambda u, t: 0.02 * u.xx + 900 * np.sign(np.sin(w * t)),
        initial=lambda x: jnp.cos(TAU * x),
    )


@sly
def saw() -> Known:
    def area(t: Any) -> Any:
        n = jnp.floor(t / 0.07)
        return n * 0.07**2 / 2 + (t - 0.07 * n) ** 2 / 2

    return given(
        "a saw",
        lambda t, x: jnp.cos(TAU * x) * jnp.exp(-0.02 * TAU**2 * t) + 9 * area(t),
        rhs=lambda u, t: 0.02 * u.xx + 9 * (t % 0.07),
        initial=lambda x: jnp.cos(TAU * x),
    )


@sly
def shaded_pulse() -> Known:
    k, up = 20 * TAU, risen(0.4321, 1e-6)
    rate = 2.0 * k**2
    b = lambda t: (1 - jnp.exp(-rate * t)) / rate
    return given(
        "a pulse beside a strong, damped source",
        lambda t, x: 1e5 * b(t) * jnp.cos(k * x) + 0.5 * up(t),
        rhs=lambda u, t, x: 2.0 * u.xx + (1e5 * np.cos(k * x) + 0.5 * pulse(0.4321, 1e-6, t)),
        initial=0.0,
    )


@sly
def chirp() -> Known:
    return known(
        "a chirp",
        lambda t, x: jnp.cos(TAU * x) + 0.3 * jnp.sin(1 / (t + 3e-3)),
        lambda f, at: 0.02 * f[0].xx,
        domain=LINE,
        horizon=1.0,
    )


@sly
def tiny_fast_ripple() -> Known:
    w = TAU * 1e5
    return given(
        "a fast, strong force of no effect",
        lambda t, x: jnp.cos(TAU * x) * jnp.exp(-0.02 * TAU**2 * t) + 1e-3 * jnp.sin(w * t),
        rhs=lambda u, t: 0.02 * u.xx + 1e-3 * w * np.cos(w * t),
        initial=lambda x: jnp.cos(TAU * x),
    )


@sly
def beats() -> Known:
    """sin² of a fast phase has a mean that matters; its values at a coarse grid do not tell."""
    n = 2048.0
    return given(
        "a square of a sine on the grid",
        lambda t, x: (
            jnp.cos(TAU * x) * jnp.exp(-0.02 * TAU**2 * t)
            + 2 * (t / 2 - jnp.sin(2 * PI * n * t) / (4 * PI * n))
        ),
        rhs=lambda u, t: 0.02 * u.xx + 2 * np.sin(PI * n * t) ** 2,
        initial=lambda x: jnp.cos(TAU * x),
    )


@sly
def thin_in_both() -> Known:
    """A source within 1e-3 in time and in space: an injection that then spreads."""
    nu, width, brief, at, when = 0.02, 1e-2, 1e-4, 0.41, 0.3

    def u(t: Any, x: Any) -> Any:
        rest = jnp.maximum(t - when, 0.0)
        spread = width**2 + 4 * nu * rest
        heat = sum(jnp.exp(-((x - at - n) ** 2) / spread) / jnp.sqrt(PI * spread) for n in range(-3, 4))
        return 1.0 + jnp.where(t > when, 0.3 * jnp.clip((t - when) / brief, 0, 1) * heat, 0.0)

    def rhs(u: Any, t: Any, x: Any) -> Any:
        box = np.where(np.logical_and(t > when, t < when + brief), 0.3 / brief, 0.0)
        return nu * u.xx + box * pulse(at, width, x)

    return given("an injection, short and narrow", u, rhs=rhs, initial=1.0)


@sly
def wall_slope_pulse() -> Known:
    u = lambda t, x: jnp.sin(2 * x) + x**2 * (1 - x) * jnp.exp(-(((t - 0.503) / 1e-4) ** 2))
    return known(
        "a pulse in the slope at a wall",
        u,
        lambda f, at: 0.1 * f[0].xx,
        domain=LINE,
        horizon=1.0,
        boundary=hc.Neumann(*slopes(u, 0.0, 1.0)),
    )


@sly
def diffusion_pulse() -> Known:
    up = risen(0.7, 1e-5)
    return held(
        "a pulse in the diffusivity",
        lambda t, x: jnp.exp(-(PI**2) * (0.01 * t + 0.05 * up(t))) * jnp.sin(PI * x) + 1.0,
        lambda f, at: (
            (
                0.01
                + 0.05 * hc.apply(lambda t: jnp.exp(-(((t - 0.7) / 1e-5) ** 2)) / (1e-5 * PI**0.5), at[0])
                if isinstance(at[0], hc.problem.Expression)
                else 0.01 + 0.05 * jnp.exp(-(((at[0] - 0.7) / 1e-5) ** 2)) / (1e-5 * PI**0.5)
            )
            * f[0].xx
        ),
        boundary=hc.Dirichlet(1.0),
    )


# Narrow or broken in space


@sly
def potential_well() -> Known:
    """A narrow potential: the solution has a rounded kink there."""
    at, w = 0.3, 1e-4
    z = lambda x: (x - at) / w
    s = lambda x: w / 2 * (z(x) * erf(z(x)) + jnp.exp(-(z(x) ** 2)) / jnp.sqrt(PI))
    u = lambda t, x: jnp.exp(-t) * (1.2 + x - 0.8 * s(x))
    return held("a kink that a narrow source makes", u, lambda f, at: 0.3 * f[0].xx)


@sly
def narrow_reaction() -> Known:
    u = lambda t, x: 1.5 + jnp.cos(TAU * x) * jnp.exp(-t)
    narrow = lambda x: hc.apply(lambda z: 40 * jnp.exp(-(((z - 0.4) / 1e-3) ** 2)), x)
    own = lambda x: (
        narrow(x) if isinstance(x, hc.problem.Expression) else 40 * jnp.exp(-(((x - 0.4) / 1e-3) ** 2))
    )
    return known(
        "a reaction within 1e-3",
        u,
        lambda f, at: 0.05 * f[0].xx - own(at[1]) * f[0].v,
        domain=LINE,
        horizon=1.0,
    )


@sly
def step_data() -> Known:
    nu = 0.01
    u = lambda t, x: sum(
        (-1) ** k * erf((x - 0.2613 - k / 2) / jnp.sqrt(4 * nu * jnp.maximum(t, 1e-300)))
        for k in range(-6, 9)
    )
    return given(
        "a step in the initial data",
        u,
        rhs=lambda u: nu * u.xx,
        initial=lambda x: jnp.where(abs(x - 0.5113) < 0.25, 1.0, -1.0),
    )


@sly
def step_carried() -> Known:
    box = lambda y: jnp.where(abs(y % 1.0 - 0.5) < 0.2, 1.0, 0.0)
    return given(
        "a step carried along",
        lambda t, x: box(x - 0.4 * t),
        rhs=lambda u: -0.4 * u.x,
        initial=lambda x: box(x),
    )


@sly
def hat_carried() -> Known:
    hat = lambda z: 1 - jnp.abs(2 * (z % 1.0) - 1)
    return given(
        "a hat carried along",
        lambda t, x: hat(x - 0.4 * t),
        rhs=lambda u: -0.4 * u.x,
        initial=lambda x: hat(x),
    )


@sly
def step_at_cold_walls() -> Known:
    nu = 0.02

    def u(t: Any, x: Any) -> Any:
        k = 2 * jnp.arange(1, 400) - 1
        modes = jnp.sin(k * PI * x[..., None]) * jnp.exp(-nu * (k * PI) ** 2 * t[..., None]) * 4 / (PI * k)
        return jnp.where(t > 0, modes.sum(-1), 1.0)

    return given(
        "hot between cold walls", u, rhs=lambda u: nu * u.xx, initial=1.0, boundary=hc.Dirichlet(0.0)
    )


@sly
def root_at_wall() -> Known:
    """Data √t at a wall: u = √t-like similarity solution of the heat equation."""
    nu = 0.05

    def ierfc(z: Any) -> Any:
        return jnp.exp(-z * z) / jnp.sqrt(PI) - z * (1 - erf(z))

    def u(t: Any, x: Any) -> Any:
        root = jnp.sqrt(jnp.maximum(t, 1e-300))
        return root * ierfc(x / (2 * jnp.sqrt(nu) * root)) * jnp.sqrt(PI)

    far = lambda t: u(t, jnp.ones_like(t))
    return given(
        "data like the root of time",
        u,
        rhs=lambda u: nu * u.xx,
        initial=0.0,
        boundary=hc.Dirichlet(lambda t: jnp.sqrt(t), far),
    )


@sly
def twin_layers() -> Known:
    e = 1e-4
    u = lambda t, x: (
        (1 + 0.3 * jnp.sin(3 * t)) * (1 - jnp.exp(-x / jnp.sqrt(e)) - jnp.exp(-(1 - x) / jnp.sqrt(e)))
    )
    return held("layers at both walls", u, lambda f, at: e * f[0].xx - f[0].v)


@sly
def thin_twin_layers() -> Known:
    d = 3e-6
    u = lambda t, x: (1 + 0.3 * jnp.sin(3 * t)) * (1 - jnp.exp(-x / d) - jnp.exp(-(1 - x) / d))
    return held("layers of 3e-6 at both walls", u, lambda f, at: d**2 * f[0].xx - f[0].v)


@sly
def layer_from_nothing() -> Known:
    """A layer that data do not show: uₜ = ν uₓₓ − u/ε² + …, steady at once."""
    d = 1e-4
    steady = lambda x: 1 - jnp.cosh((x - 0.5) / d) / jnp.cosh(0.5 / d)
    safe = lambda x: 1 - jnp.exp(-x / d) - jnp.exp(-(1 - x) / d)
    del steady
    return given(
        "a layer that comes at once",
        lambda t, x: safe(x) * (1 - jnp.exp(-t / 1e-6)) + 0 * t,
        rhs=lambda u: 1e6 * (d**2 * u.xx - u + 1.0),
        initial=0.0,
        boundary=hc.Dirichlet(0.0),
    )


@sly
def inner_layer() -> Known:
    u = lambda t, x: jnp.tanh((x - 0.4 - 0.2 * t) / 2e-4)
    return held("an inner layer of 2e-4 that moves", u, lambda f, at: 1e-3 * f[0].xx)


@sly
def radial() -> Known:
    u = lambda t, x: jnp.exp(-t) * jnp.cos(3 * x**2) + 0.2
    return known(
        "1/x beside a wall",
        u,
        lambda f, at: 0.1 * (f[0].xx + f[0].x / at[1]),
        domain=hc.Interval(1e-4, 1.0),
        horizon=1.0,
        boundary=hc.Dirichlet(*walls(u, 1e-4, 1.0)),
    )


@sly
def porous() -> Known:
    """Barenblatt's solution of uₜ = (u³)ₓₓ: compact support, infinite slopes of the flux."""
    m, b, t0 = 3, 0.25, 0.05

    def u(t: Any, x: Any) -> Any:
        s = t + t0
        inside = 0.04 - (m - 1) * b / (2 * m) * (x - 0.5) ** 2 / s ** (2 * b)
        return s ** (-b) * jnp.sqrt(jnp.maximum(inside, 0.0))

    return given(
        "the porous medium",
        u,
        rhs=lambda u: 3 * u**2 * u.xx + 6 * u * u.x**2,
        initial=lambda x: u(0.0, x),
        boundary=hc.Dirichlet(0.0),
        horizon=0.05,
        domain=hc.Interval(-0.5, 1.5),
    )


@sly
def nearly_degenerate() -> Known:
    a = lambda x: 1e-3 + sin(PI * x) ** 2
    return held(
        "a diffusivity that nearly vanishes",
        lambda t, x: jnp.cos(3 * x - t) + x,
        lambda f, at: a(at[1]) * f[0].xx,
    )


@sly
def nearly_singular() -> Known:
    u = lambda t, x: 1.001 + jnp.cos(TAU * x - t)
    return known(
        "a division by nearly zero",
        u,
        lambda f, at: 0.05 * f[0].xx + 1e-4 / f[0].v ** 2,
        domain=LINE,
        horizon=1.0,
    )


@sly
def jump_in_reaction() -> Known:
    """−k(x) u with k = 1, 5: each place decays on its own."""
    k = lambda x: jnp.where(x < 0.3, 1.0, 5.0)
    return given(
        "a jump in the rate of decay",
        lambda t, x: jnp.exp(-k(x) * t) * (2 + jnp.cos(TAU * x)),
        rhs=lambda u, x: -np.where(x < 0.3, 1.0, 5.0) * u,
        initial=lambda x: 2 + jnp.cos(TAU * x),
    )


@sly
def hidden_flux_jump() -> Known:
    """The flux through a jump, hidden in a product: (tanh of 1e-9 width) uₓ)ₓ."""
    u = lambda t, x: jnp.exp(-t) * jnp.where(x < 0.5, x, 0.5 + 10 * (x - 0.5)) + 0 * t
    return given(
        "a flux through a very steep coefficient",
        u,
        rhs=lambda u, x: (
            ((0.55 - 0.45 * np.tanh((x - 0.5) / 1e-9)) * u.x).x
            - apply(lambda x: jnp.where(x < 0.5, x, 0.5 + 10 * (x - 0.5)), x) * 1.0 * 0
            - u
        ),
        initial=lambda x: u(0.0, x),
        boundary=hc.Dirichlet(0.0, lambda t: 5.5 * jnp.exp(-t)),
    )


# State


@sly
def front_speed() -> Known:
    """Fisher's wave of speed 5/√6 · scale, sharp."""
    r, d = 2000.0, 1e-3
    z = lambda t, x: jnp.sqrt(r / (6 * d)) * (x - 0.2) - 5 * r / 6 * t
    u = lambda t, x: (1 + jnp.exp(z(t, x))) ** -2.0
    return given(
        "a sharp wave of Fisher's equation",
        u,
        rhs=lambda u: d * u.xx + r * u * (1 - u),
        initial=lambda x: u(0.0, x),
        boundary=hc.Dirichlet(*walls(u, 0.0, 1.0)),
        horizon=0.15,
    )


@sly
def ignition() -> Known:
    """uₜ = u²(1 − u) from 5e-3: nothing for long, and then all at once."""

    def u(t: Any, x: Any) -> Any:
        y0 = 5e-3
        a = 1 / y0 - 1
        # Lambert's W by Newton's method on w + log w.
        c = jnp.log(a) + a - t
        w = jnp.where(c > 1, c, jnp.exp(jnp.minimum(c, 1.0)))
        for _ in range(60):
            w = w * (1 + c - jnp.log(w)) / (1 + w)
        return 1 / (1 + w) + 0 * x

    return given(
        "ignition after a long wait",
        u,
        rhs=lambda u: u**2 * (1 - u) + 0.01 * u.xx,
        initial=5e-3,
        horizon=400.0,
    )


@sly
def growing_seed() -> Known:
    s = 1e-9
    return given(
        "growth by e²⁰ from a seed",
        lambda t, x: s * jnp.exp(20 * t) * (1 + 0.1 * jnp.cos(TAU * x) * jnp.exp(-0.4 * t)),
        rhs=lambda u: 20 * u + 0.4 / TAU**2 * u.xx,
        initial=lambda x: s * (1 + 0.1 * jnp.cos(TAU * x)),
    )


@sly
def stiff_reaction() -> Known:
    u = lambda t, x: jnp.cos(TAU * x) * jnp.cos(5 * t) + 2
    return known(
        "a stiff relaxation",
        u,
        lambda f, at: -1e6 * (f[0].v ** 3 - (cos(TAU * at[1]) * cos(5 * at[0]) + 2) ** 3),
        domain=LINE,
        horizon=1.0,
    )


@sly
def robertson() -> Known:
    """Relaxation of a pair, fast and slow, at once."""
    return given(
        "two rates, 1e5 apart",
        (
            lambda t, x: jnp.exp(-1e5 * t) * (1 + 0 * x) + (1 - jnp.exp(-1e5 * t)) * jnp.exp(-t) * 0,
            lambda t, x: 1 + (1e5 / (1e5 - 1)) * (jnp.exp(-t) - jnp.exp(-1e5 * t)) + 0 * x,
        ),
        rhs=lambda u, v: (-1e5 * u + 1e-3 * u.xx, 1e5 * u - (v - 1) + 1e-3 * v.xx),
        initial=(1.0, 1.0),
    )


@sly
def steep_switch() -> Known:
    """tanh(u/1e-4): nearly a jump in the state."""
    start = lambda x: 0.6 + 0.3 * jnp.cos(TAU * x)
    u = lambda t, x: jnp.maximum(start(x) - 1.0 * t, 0.0)
    return given(
        "a steep switch in the state", u, rhs=lambda u: -np.tanh(u / 1e-4), initial=start, horizon=0.8
    )


@sly
def root_of_state() -> Known:
    u = lambda t, x: jnp.maximum(jnp.sqrt(1 + 0.5 * jnp.cos(TAU * x)) - t / 2, 0.0) ** 2
    return given(
        "the root of the state",
        u,
        rhs=lambda u: -np.sqrt(np.abs(u)),
        initial=lambda x: u(0.0, x),
        horizon=2.0,
    )


@sly
def eikonal() -> Known:
    """uₜ = −|uₓ|: the viscosity solution, a minimum over what was within reach."""
    u0 = lambda x: jnp.cos(TAU * x)

    def u(t: Any, x: Any) -> Any:
        y = x % 1.0
        reach = jnp.minimum(t, 0.5)
        return jnp.where(jnp.abs(y - 0.5) < reach, -1.0, jnp.minimum(u0(y - reach), u0(y + reach)))

    return given("an eikonal equation", u, rhs=lambda u: -np.abs(u.x), initial=u0, horizon=0.3)


@sly
def shock() -> Known:
    """Inviscid Burgers beyond its shock at t = 1/(2π): the entropy solution stands at x = ½."""

    def u(t: Any, x: Any) -> Any:
        y = jnp.where(x < 0.5, x, 1 - x)
        lo, hi = jnp.zeros_like(y), jnp.full_like(y, 0.5)
        for _ in range(60):  # y = a + t sin 2πa, on the branch from the wall
            mid = (lo + hi) / 2
            more = mid + t * jnp.sin(TAU * mid) < y
            lo, hi = jnp.where(more, mid, lo), jnp.where(more, hi, mid)
        return jnp.where(x < 0.5, 1, -1) * jnp.sin(TAU * lo)

    return given(
        "Burgers beyond the shock", u, rhs=lambda u: -u * u.x, initial=lambda x: jnp.sin(TAU * x), horizon=0.4
    )


@sly
def near_shock() -> Known:
    def u(t: Any, x: Any) -> Any:
        a = x
        for _ in range(80):
            a = a - (a + t * jnp.sin(TAU * a) - x) / (1 + t * TAU * jnp.cos(TAU * a))
        return jnp.sin(TAU * a)

    return given(
        "Burgers shortly before the shock",
        u,
        rhs=lambda u: -u * u.x,
        initial=lambda x: jnp.sin(TAU * x),
        horizon=0.15,
    )


@sly
def chaos() -> Known:
    """Lorenz's equations at every place: errors grow by e^{0.9 t}."""
    import scipy.integrate

    start = np.array([1.0, 1.0, 20.0])
    rate = lambda t, y: [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]
    run = scipy.integrate.solve_ivp(
        rate, (0, 16), start, method="DOP853", rtol=1e-13, atol=1e-13, dense_output=True
    )
    grid = np.linspace(0, 16, 40001)
    table = run.sol(grid)
    exact = tuple(lambda t, x, n=n: jnp.interp(t, grid, table[n]) + 0 * x for n in range(3))
    return given(
        "Lorenz's equations",
        exact,
        rhs=lambda u, v, w: (
            10 * (v - u) + 0.1 * u.xx,
            u * (28 - w) - v + 0.1 * v.xx,
            u * v - 8 / 3 * w + 0.1 * w.xx,
        ),
        initial=tuple(start.tolist()),
        horizon=16.0,
    )


@sly
def switched_sign_of_diffusion() -> Known:
    return given(
        "diffusion that runs backwards for a while",
        lambda t, x: jnp.exp(-0.02 * TAU**2 * jnp.sin(6 * t) / 6) * jnp.cos(TAU * x),
        rhs=lambda u, t: 0.02 * np.cos(6 * t) * u.xx,
        initial=lambda x: jnp.cos(TAU * x),
    )


# Units, systems, horizons


@sly
def unlike_fields() -> Known:
    return given(
        "fields of 1e5 and 1e-9",
        (
            lambda t, x: 1e5 * jnp.exp(-0.02 * TAU**2 * t) * (jnp.cos(TAU * x)),
            lambda t, x: 1e-9 * (1 + 0.5 * jnp.sin(TAU * (x - 0.7 * t)) * jnp.exp(-0.01 * TAU**2 * t)),
        ),
        rhs=lambda u, v: (0.02 * u.xx, 0.01 * v.xx - 0.7 * v.x),
        initial=lambda x: (1e5 * jnp.cos(TAU * x), 1e-9 * (1 + 0.5 * jnp.sin(TAU * x))),
    )


@sly
def unlike_driven() -> Known:
    """The small field is driven hard by a source of its own."""
    return known(
        "fields of 1e6 and 1e-7, coupled",
        (
            lambda t, x: 1e6 * (1.5 + jnp.cos(TAU * x - t)),
            lambda t, x: 1e-7 * (1.2 + jnp.sin(2 * TAU * x + 9 * t)),
        ),
        lambda f, at: (0.02 * f[0].xx - f[0].v + 1e12 * f[1].v, 0.02 * f[1].xx - 1e-13 * f[0].v * 1.0),
        domain=LINE,
        horizon=1.0,
    )


@sly
def late_field() -> Known:
    """A field that is zero until late and then grows to a thousandth of the other."""
    b = lambda t: 1e-3 * jnp.clip((t - 0.9) / 0.1, 0, 1) ** 2
    return given(
        "a field that appears late",
        (lambda t, x: jnp.cos(TAU * x) * jnp.exp(-0.02 * TAU**2 * t), lambda t, x: b(t) + 0 * x),
        rhs=lambda u, v, t: (0.02 * u.xx, 0.02 * v.xx + 0.02 * np.maximum((t - 0.9) / 0.1, 0.0)),
        initial=lambda x: (jnp.cos(TAU * x), 0 * x),
    )


@sly
def large_mean() -> Known:
    return given(
        "a signal of 1e-3 on a mean of 1e6",
        lambda t, x: 1e6 + 1e-3 * jnp.exp(-0.02 * TAU**2 * t) * jnp.cos(TAU * x) + 2e4 * t,
        rhs=lambda u: 0.02 * u.xx + 2e4,
        initial=lambda x: 1e6 + 1e-3 * jnp.cos(TAU * x),
    )


@sly
def long_waves() -> Known:
    return given(
        "ten thousand rounds",
        lambda t, x: jnp.sin(TAU * (x - t)) + 0.3 * jnp.cos(2 * TAU * (x - t)),
        rhs=lambda u: -u.x,
        initial=lambda x: jnp.sin(TAU * x) + 0.3 * jnp.cos(2 * TAU * x),
        horizon=1e4,
    )


@sly
def long_oscillator() -> Known:
    return given(
        "an oscillator for 3000 swings, nonlinear",
        (lambda t, x: jnp.cos(t * TAU) + 0 * x, lambda t, x: jnp.sin(t * TAU) + 0 * x),
        rhs=lambda u, v: (
            -TAU * v + u * (1 - u**2 - v**2) + 0.01 * u.xx,
            TAU * u + v * (1 - u**2 - v**2) + 0.01 * v.xx,
        ),
        initial=(1.0, 0.0),
        horizon=3000.0,
    )


@sly
def drift_in_micrometres() -> Known:
    l, T = 1e-6, 1e-3
    u = lambda t, x: 1e-12 * (1 + 0.4 * jnp.sin(TAU * (x / l - 0.6 * t / T)) * jnp.exp(-0.8 * t / T))
    return known(
        "all units odd at once",
        u,
        lambda f, at: 0.02 * l**2 / T * f[0].xx - 0.6 * l / T * f[0].x,
        domain=hc.Interval(-3 * l, 4 * l),
        horizon=T,
    )


# Waves and complex fields


@sly
def wave_with_corner() -> Known:
    """A plucked string of parabolic shape: its curvature jumps along characteristics."""

    def odd(z: Any) -> Any:
        y = (z + 1) % 2 - 1
        return jnp.sign(y) * jnp.abs(y) * (1 - jnp.abs(y))

    u = lambda t, x: (odd(x - t) + odd(x + t)) / 2
    return given(
        "a string with corners",
        u,
        rhs=lambda u: u.xx,
        initial=lambda x: x * (1 - x),
        velocity=0.0,
        order=2,
        boundary=hc.Dirichlet(0.0),
        horizon=3.0,
    )


@sly
def plucked() -> Known:
    def odd(z: Any) -> Any:
        y = (z + 1) % 2 - 1
        a = jnp.abs(y)
        return jnp.sign(y) * jnp.minimum(a / 0.3, (1 - a) / 0.7)

    return given(
        "a plucked string",
        lambda t, x: (odd(x - t) + odd(x + t)) / 2,
        rhs=lambda u: u.xx,
        initial=lambda x: jnp.minimum(x / 0.3, (1 - x) / 0.7),
        velocity=0.0,
        order=2,
        boundary=hc.Dirichlet(0.0),
    )


@sly
def struck() -> Known:
    up = lambda t: jnp.where(t > 0.5, t - 0.5, 0.0)
    return given(
        "a blow to a ring",
        lambda t, x: jnp.cos(TAU * x) * jnp.cos(TAU * t) + 0.6 * up(t),
        rhs=lambda u, t: u.xx + 0.6 * pulse(0.5, 1e-6, t),
        initial=lambda x: jnp.cos(TAU * x),
        velocity=0.0,
        order=2,
    )


@sly
def fast_start() -> Known:
    """A narrow initial velocity, that probes do not meet."""
    w, at = 1e-3, 0.3517

    def area(z: Any) -> Any:
        y = z - jnp.floor(z)
        return jnp.floor(z) + (erf((y - at) / w) + 1) / 2

    return given(
        "a narrow initial velocity",
        lambda t, x: 0.5 * (area(x + t) - area(x - t)),
        rhs=lambda u: u.xx,
        initial=0.0,
        velocity=lambda x: jnp.exp(-(((x - at) / w) ** 2)) / (w * jnp.sqrt(PI)),
        order=2,
        horizon=0.6,
    )


@sly
def nonlinear_wave() -> Known:
    u = lambda t, x: 4 * jnp.arctan(jnp.exp((x - 0.6 * t) / jnp.sqrt(1 - 0.36)))
    return given(
        "a kink of sine-Gordon",
        u,
        rhs=lambda u: u.xx - np.sin(u),
        initial=lambda x: u(0.0, x),
        velocity=lambda x: jax.jvp(lambda t: u(t, x), (0.0,), (1.0,))[1],
        order=2,
        domain=hc.Interval(-12.0, 16.0),
        boundary=hc.Dirichlet(*walls(u, -12.0, 16.0)),
        horizon=8.0,
    )


@sly
def rogue() -> Known:
    """Peregrine's wave on a long ring: i uₜ + uₓₓ/2 + |u|²u = 0, from a state that is unstable."""

    def u(t: Any, x: Any) -> Any:
        s = t - 3.0
        return (1 - 4 * (1 + 2j * s) / (1 + 4 * x**2 + 4 * s**2)) * jnp.exp(1j * s)

    return given(
        "a rogue wave",
        u,
        rhs=lambda u: 0.5j * u.xx + 1j * np.abs(u) ** 2 * u,
        initial=lambda x: u(0.0 * x, x),
        domain=hc.Interval(-400.0, 400.0),
        horizon=3.0,
    )


@sly
def complex_small_part() -> Known:
    return given(
        "an imaginary part of 1e-6",
        lambda t, x: jnp.exp(-0.1 * TAU**2 * t * (1 + 1e-6j)) * jnp.cos(TAU * x),
        rhs=lambda u: 0.1 * (1 + 1e-6j) * u.xx,
        initial=lambda x: jnp.cos(TAU * x) * (1 + 0j),
        horizon=0.5,
    )


@sly
def conjugate() -> Known:
    return given(
        "a conjugate",
        lambda t, x: (
            (jnp.cosh(0.7 * t) - 1j * jnp.sinh(0.7 * t))
            * (1.3 + jnp.cos(TAU * x) * jnp.exp(-0.01 * TAU**2 * t))
        ),
        rhs=lambda u: 0.01 * u.xx - 0.7j * np.conj(u),
        initial=lambda x: 1.3 + jnp.cos(TAU * x) + 0j,
    )


# The plane


@sly
def plane_layer() -> Known:
    d = 1e-2
    u = lambda t, x, y: (1 - jnp.exp(-(1 - x) / d)) * jnp.sin(PI * y) * jnp.exp(-t)
    return known(
        "a layer in the plane",
        u,
        lambda f, at: d * (f[0].xx + f[0].yy) - f[0].x,
        domain=hc.Box((0, 1), (0, 1)),
        horizon=0.3,
        boundary=hc.Dirichlet(lambda t, x, y: u(t, x, y)),
    )


@sly
def plane_spot() -> Known:
    nu, w, at = 0.02, 4e-3, (0.37, 0.61)

    def u(t: Any, x: Any, y: Any) -> Any:
        s = w**2 + 4 * nu * t
        one = lambda z, p: sum(jnp.exp(-((z - p - n) ** 2) / s) for n in range(-2, 3))
        return 1 + 0.02 / s / 50 * one(x, at[0]) * one(y, at[1])

    return given(
        "a spot in the plane",
        u,
        rhs=lambda u: nu * (u.xx + u.yy),
        initial=lambda x, y: u(0.0, x, y),
        domain=hc.Box((0, 1), (0, 1)),
        horizon=0.5,
    )


@sly
def plane_source() -> Known:
    """A source so narrow in the plane that its grid may miss it."""
    w, at = 1e-4, (0.3712, 0.6341)
    kick = lambda t: t
    return given(
        "a ridge in the plane",
        lambda t, x, y: (
            jnp.cos(TAU * x) * jnp.cos(TAU * y) * jnp.exp(-t)
            + 0.3 * jnp.exp(-(((x - at[0]) / w) ** 2)) * kick(t)
        ),
        rhs=lambda u, x, y: -u + 0.3 * np.exp(-(((x - at[0]) / w) ** 2)) * 1.0 + 0 * u.xx,
        initial=lambda x, y: jnp.cos(TAU * x) * jnp.cos(TAU * y),
        domain=hc.Box((0, 1), (0, 1)),
    )


@sly
def plane_corner() -> Known:
    nu = 0.05

    def one(t: Any, z: Any) -> Any:
        k = 2 * jnp.arange(1, 60) - 1
        return (
            8 / (PI * k) ** 3 * jnp.sin(k * PI * z[..., None]) * jnp.exp(-nu * (k * PI) ** 2 * t[..., None])
        ).sum(-1)

    return given(
        "corners in the plane",
        lambda t, x, y: 16 * one(t, x) * one(t, y),
        rhs=lambda u: nu * (u.xx + u.yy),
        initial=lambda x, y: 16 * x * (1 - x) * y * (1 - y),
        boundary=hc.Dirichlet(0.0),
        domain=hc.Box((0, 1), (0, 1)),
        horizon=0.5,
    )


@sly
def plane_hot() -> Known:
    nu = 0.05

    def one(t: Any, z: Any) -> Any:
        k = 2 * jnp.arange(1, 80) - 1
        own = (
            4 / (PI * k) * jnp.sin(k * PI * z[..., None]) * jnp.exp(-nu * (k * PI) ** 2 * t[..., None])
        ).sum(-1)
        return jnp.where(t > 0, own, 1.0)

    return given(
        "hot between four cold walls",
        lambda t, x, y: one(t, x) * one(t, y),
        rhs=lambda u: nu * (u.xx + u.yy),
        initial=1.0,
        boundary=hc.Dirichlet(0.0),
        domain=hc.Box((0, 1), (0, 1)),
        horizon=0.5,
    )


@sly
def plane_jump() -> Known:
    k = lambda x: jnp.where(x < 0.3, 1.0, 5.0)
    return given(
        "a jump of the rate in the plane",
        lambda t, x, y: jnp.exp(-k(x) * t) * (2 + jnp.cos(TAU * y)),
        rhs=lambda u, x: -np.where(x < 0.3, 1.0, 5.0) * u,
        initial=lambda x, y: 2 + jnp.cos(TAU * y) + 0 * x,
        domain=hc.Box((0, 1), (0, 1)),
        horizon=0.5,
    )


@sly
def plane_pulse() -> Known:
    up = risen(0.3, 1e-5)
    rate = 0.01 * 2 * PI**2
    return given(
        "a pulse in the plane",
        lambda t, x, y: jnp.exp(0.5 * up(t) - rate * t) * jnp.sin(PI * x) * jnp.sin(PI * y),
        rhs=lambda u, t, x, y: 0.01 * (u.xx + u.yy) + 0.5 * pulse(0.3, 1e-5, t) * u,
        initial=lambda x, y: jnp.sin(PI * x) * jnp.sin(PI * y),
        boundary=hc.Dirichlet(0.0),
        domain=hc.Box((0, 1), (0, 1)),
        horizon=0.5,
    )
