"""Hostile problems with known solutions: pulses, jumps, layers, corners, odd units, and the unsolvable.

    python benchmarks/hostile.py --out results/trust/hostile.json [--only pulse] [--reference]

`CASES` is a list of functions; each gives a `Case`. Every run has a process of its own. What must never
happen is a verdict `converged` with an error above the accuracy; for some, being solved at all instead of
refused. `--reference` solves the references alone and compares their estimates with their errors.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf

import hcpinn as hc
from hcpinn.errors import HcpinnError
from hcpinn.problem import apply
from hcpinn.reference import solve_reference
from manufactured import Exact, Known, known, walls

LINE = hc.Interval(0.0, 1.0)
PI = np.pi
ACCURACY = 1e-3


@dataclass(frozen=True)
class Case:
    """A problem, its solution, and what must not happen with it."""

    name: str
    known: Known | None
    """None where the declaration itself must be refused."""
    never: str = "converged with an error above the accuracy"
    solvable: bool = True
    """Whether a good solver should get it right."""
    before: Callable[[], Any] | None = None
    """What is solved first in the same process and cache."""


CASES: list[Callable[[], Case]] = []


def case(function: Callable[..., Case], **settings: Any) -> None:
    """Add a case, or one with settings of its own."""
    CASES.append(partial(function, **settings))


def given(name: str, exact: Exact | tuple[Exact, ...], **problem: Any) -> Known:
    """A problem declared directly, with its solution."""
    settings = {"domain": LINE, "horizon": 1.0, "name": name, **problem}
    return Known(name, hc.Problem(**settings), exact if isinstance(exact, tuple) else (exact,))


# Short in time -------------------------------------------------------------------------------------


def _pulsed(rate: float, at: float, width: float, size: float) -> Callable[[Any], Any]:
    """a(t) with a′ = −rate a + size/(width √π) exp(−((t − at)/width)²), a(0) = 0."""

    def a(t: Any) -> Any:
        shift = rate * width / 2
        rise = erf((t - at) / width - shift) - erf(-at / width - shift)
        return size / 2 * jnp.exp(-rate * (t - at) + shift**2) * rise

    return a


def pulse(width: float, size: float, held: bool, at: float = 0.503) -> Case:
    k = PI if held else 2 * PI
    wave = lambda x: jnp.sin(k * x)
    rate = 0.02 * k**2
    a = _pulsed(rate, at, width, size)
    height = size / (width * np.sqrt(PI))
    name = f"pulse of width {width:g} and size {size:g}, {'walls' if held else 'periodic'}"
    return Case(
        name,
        given(
            name, lambda t, x: (jnp.exp(-rate * t) + a(t)) * wave(x),
            rhs=lambda u, t, x: 0.02 * u.xx + height * np.exp(-((t - at) / width) ** 2) * np.sin(k * x),
            initial=wave, boundary=hc.Dirichlet(0.0) if held else hc.Periodic(),
        ),
    )  # fmt: skip


for _width in (1e-2, 1e-3, 1e-5, 1e-9):
    for _held in (False, True):
        case(pulse, width=_width, size=0.7, held=_held)
case(pulse, width=1e-4, size=0.03, held=False)
case(pulse, width=1e-6, size=0.01, held=True)


def two_pulses() -> Case:
    rate = 0.02 * (2 * PI) ** 2
    a, b = _pulsed(rate, 0.2, 1e-3, 0.3), _pulsed(rate, 0.711, 1e-7, 0.4)
    high = lambda at, width, size, t: size / (width * np.sqrt(PI)) * np.exp(-(((t - at) / width) ** 2))
    return Case(
        "two pulses of unequal height",
        given(
            "two pulses", lambda t, x: (jnp.exp(-rate * t) + a(t) + b(t)) * jnp.cos(2 * PI * x),
            rhs=lambda u, t, x: 0.02 * u.xx
            + (high(0.2, 1e-3, 0.3, t) + high(0.711, 1e-7, 0.4, t)) * np.cos(2 * PI * x),
            initial=lambda x: jnp.cos(2 * PI * x),
        ),
    )  # fmt: skip


case(two_pulses)


def box_pulse(width: float) -> Case:
    """uₜ = 1/width within (0.31, 0.31 + width), on top of a decaying wave."""
    rate = 0.01 * (2 * PI) ** 2
    begin, end = 0.31, 0.31 + width
    return Case(
        f"box pulse of width {width:g}",
        given(
            "box pulse",
            lambda t, x: jnp.exp(-rate * t) * jnp.cos(2 * PI * x) + jnp.clip((t - begin) / width, 0, 1) * 0.8,
            rhs=lambda u, t: 0.01 * u.xx + np.where(np.logical_and(t > begin, t < end), 0.8 / width, 0.0),
            initial=lambda x: jnp.cos(2 * PI * x),
        ),
    )


for _width in (1e-2, 1e-5, 1e-8):
    case(box_pulse, width=_width)


def fast(frequency: float, held: bool, strength: float = 1.0) -> Case:
    """Forced at so many swings per unit of time; 100 and 200 fall on the grid of a comparison."""
    k, w = PI if held else 2 * PI, 2 * PI * frequency
    rate, size = 0.02 * k**2, strength * w
    a = lambda t: (
        size * (rate * jnp.sin(w * t) - w * jnp.cos(w * t) + w * jnp.exp(-rate * t)) / (rate**2 + w**2)
    )
    wave = lambda x: jnp.sin(k * x)
    name = f"forced at {frequency:g} Hz, {'walls' if held else 'periodic'}"
    return Case(
        name,
        given(
            name, lambda t, x: (jnp.exp(-rate * t) + a(t)) * wave(x),
            rhs=lambda u, t, x: 0.02 * u.xx + size * np.sin(w * t) * np.sin(k * x),
            initial=wave, boundary=hc.Dirichlet(0.0) if held else hc.Periodic(),
        ),
    )  # fmt: skip


for _frequency in (50.0, 100.0, 400.0):
    for _held in (False, True):
        case(fast, frequency=_frequency, held=_held)


def wall_pulse(width: float) -> Case:
    """A pulse in the boundary data, followed by the solution everywhere."""
    u = lambda t, x: jnp.sin(2 * x) + x * jnp.exp(-(((t - 0.503) / width) ** 2))
    name = f"wall pulse of width {width:g}"
    return Case(
        name,
        known(
            name,
            u,
            lambda f, at: 0.1 * f[0].xx,
            domain=LINE,
            horizon=1.0,
            boundary=hc.Dirichlet(*walls(u, 0, 1)),
        ),
    )


case(wall_pulse, width=1e-3)
case(wall_pulse, width=1e-6)

# Short in space ------------------------------------------------------------------------------------


def _corner(x: Any, at: float, width: float) -> Any:
    """s with s″ = exp(−((x − at)/width)²)/(width √π): |x − at|/2, rounded."""
    z = (x - at) / width
    return width / 2 * (z * erf(z) + jnp.exp(-z * z) / np.sqrt(PI))


def point_source(width: float, held: bool) -> Case:
    """From zero data, a source of integral ≈ 1 at one place."""
    at, nu = 0.3712 if held else 0.5, 0.2
    if held:
        shape = lambda x: (
            _corner(x, at, width) - _corner(0.0, at, width) * (1 - x) - _corner(1.0, at, width) * x
        )
    else:
        shape = lambda x: _corner(x, at, width) - (x - at) ** 2 / 2 - _corner(0.0, at, width) + at**2 / 2
    less = (lambda x: 0 * x) if held else (lambda x: 0 * x + 1.0)
    source = lambda x: np.exp(-(((x - at) / width) ** 2)) / (width * np.sqrt(PI)) - less(x)
    name = f"source of width {width:g}, {'walls' if held else 'periodic'}"
    return Case(
        name,
        given(
            name, lambda t, x: -(1 - jnp.exp(-t)) * shape(x),
            rhs=lambda u, t, x: nu * u.xx - np.exp(-t) * apply(shape, x) + nu * (1 - np.exp(-t)) * source(x),
            initial=0.0, boundary=hc.Dirichlet(0.0) if held else hc.Periodic(),
        ),
    )  # fmt: skip


for _width in (1e-2, 1e-3, 1e-5):
    for _held in (False, True):
        case(point_source, width=_width, held=_held)


def patched(patch: bool) -> Known:
    """A wave, and perhaps a push in a patch so narrow that no probe falls into it."""
    rate = 0.05 * (2 * PI) ** 2
    push = lambda t: np.where(np.logical_and(t > 0.4113, t < 0.4114), 3e3, 0.0) if patch else 0.0 * t
    return given(
        "patched", lambda t, x: jnp.exp(-rate * t) * jnp.cos(2 * PI * x)
            + (0.3 * jnp.clip((t - 0.4113) / 1e-4, 0, 1) if patch else 0.0),
        rhs=lambda u, t: 0.05 * u.xx + push(t), initial=lambda x: jnp.cos(2 * PI * x),
    )  # fmt: skip


case(
    lambda: Case(
        "patch that an earlier problem lacks",
        patched(True),
        before=lambda: solve_reference(patched(False).problem),
    )
)


def spike(width: float) -> Case:
    """A narrow bump that spreads: the heat kernel."""
    nu, at = 0.01, 0.3712

    def u(t: Any, x: Any) -> Any:
        spread = width**2 + 4 * nu * t
        return 1.0 + sum(
            0.1 / jnp.sqrt(PI * spread) * jnp.exp(-((x - at - n) ** 2) / spread) for n in range(-3, 4)
        )

    name = f"spike of width {width:g} in the data"
    return Case(name, given(name, u, rhs=lambda u: nu * u.xx, initial=lambda x: u(0.0, x)))


for _width in (1e-2, 1e-3, 1e-4):
    case(spike, width=_width)


def fine_wave(number: int) -> Case:
    """More waves than a grid of 512 places can tell."""
    k = 2 * PI * number
    rate = 1e-7 * k**2
    name = f"{number} waves"
    return Case(
        name,
        given(
            name, lambda t, x: jnp.exp(-rate * t) * jnp.cos(k * (x - 0.01 * t))
            + jnp.sin(2 * PI * (x - 0.01 * t)) * jnp.exp(-1e-7 * (2 * PI) ** 2 * t),
            rhs=lambda u: 1e-7 * u.xx - 0.01 * u.x, initial=lambda x: jnp.cos(k * x) + jnp.sin(2 * PI * x),
        ),
    )  # fmt: skip


case(fine_wave, number=60)
case(fine_wave, number=511)


def moving_source(width: float) -> Case:
    u = lambda t, x: jnp.cos(2 * PI * x) + jnp.exp(-(jnp.sin(PI * (x - 0.2 - 0.6 * t)) ** 2) / width**2)
    name = f"moving bump of width {width:g}"
    return Case(name, known(name, u, lambda f, at: 0.05 * f[0].xx, domain=LINE, horizon=1.0))


case(moving_source, width=0.03)
case(moving_source, width=1e-3)

# Jumps ---------------------------------------------------------------------------------------------


def jumping_coefficient(held: bool) -> Case:
    u = lambda t, x: jnp.sin(2 * PI * x) * jnp.exp(-t) + jnp.cos(2 * PI * x)
    name = f"jump in the diffusivity, smooth solution, {'walls' if held else 'periodic'}"
    both = lambda x: (
        hc.apply(lambda z: jnp.where(z < 0.4, 1.0, 0.05), x)
        if hasattr(x, "xx")
        else jnp.where(x < 0.4, 1.0, 0.05)
    )
    return Case(
        name,
        known(
            name, u, lambda f, at: both(at[1]) * f[0].xx, domain=LINE, horizon=1.0,
            boundary=hc.Dirichlet(*walls(u, 0, 1)) if held else hc.Periodic(),
        ),
    )  # fmt: skip


case(jumping_coefficient, held=False)
case(jumping_coefficient, held=True)


def jumping_source(held: bool) -> Case:
    """uₜ = ν uₓₓ + f, f = ±1 on either side: a steady parabola on each, reached from it."""
    nu = 0.3
    name = f"jump in the source, {'walls' if held else 'periodic'}"
    # s with s″ = sign(x − ½), s(0) = s(1) = 0; periodic too.
    s = lambda x: jnp.where(x < 0.5, -(x**2) / 2 + x / 4, (x - 1) ** 2 / 2 + (x - 1) / 4)
    return Case(
        name,
        given(
            name, lambda t, x: s(x) * (1 - jnp.exp(-t)) + jnp.sin(2 * PI * x) * jnp.exp(-nu * 4 * PI**2 * t),
            rhs=lambda u, t, x: nu * u.xx + np.exp(-t) * apply(s, x)
            - nu * (1 - np.exp(-t)) * np.where(x < 0.5, -1.0, 1.0),
            initial=lambda x: jnp.sin(2 * PI * x), boundary=hc.Dirichlet(0.0) if held else hc.Periodic(),
        ),
    )  # fmt: skip


case(jumping_source, held=False)
case(jumping_source, held=True)


def jumping_speed() -> Case:
    """uₜ = −c(x) uₓ, constant along characteristics: a wave in ∫ dx/c."""
    fast, slow = 1.0, 0.25
    total = 0.5 / fast + 0.5 / slow
    there = lambda x: jnp.where(x < 0.5, x / fast, 0.5 / fast + (x - 0.5) / slow)
    u = lambda t, x: jnp.sin(2 * PI * (there(x) - t) / total)
    return Case(
        "jump in the speed",
        given(
            "jump in the speed", u, rhs=lambda u, x: -np.where(x < 0.5, fast, slow) * u.x,
            initial=lambda x: u(0.0, x),
        ),
    )  # fmt: skip


case(jumping_speed)


def jumping_flux(held: bool) -> Case:
    def declare() -> Known:
        return given(
            "jump in the flux", lambda t, x: 0 * x, rhs=lambda u, x: (np.where(x < 0.5, 1.0, 0.1) * u.x).x,
            initial=lambda x: jnp.sin(2 * PI * x), boundary=hc.Dirichlet(0.0) if held else hc.Periodic(),
        )  # fmt: skip

    return Case(
        f"jump in the flux, {'walls' if held else 'periodic'}", declare(), never="solved", solvable=False
    )


case(jumping_flux, held=False)
case(jumping_flux, held=True)


def friction() -> Case:
    """uₜ = −sign(u): each point slides to zero and stays."""
    start = lambda x: jnp.cos(2 * PI * x)
    return Case(
        "friction, −sign(u)",
        given(
            "friction", lambda t, x: jnp.sign(start(x)) * jnp.maximum(jnp.abs(start(x)) - 0.7 * t, 0.0),
            rhs=lambda u: -0.7 * np.sign(u), initial=start,
        ),
        solvable=False,
    )  # fmt: skip


case(friction)


def threshold() -> Case:
    """uₜ = −1 above ½ and 0 below."""
    start = lambda x: 0.6 + 0.3 * jnp.cos(2 * PI * x)
    return Case(
        "threshold, where(u > ½, −1, 0)",
        given(
            "threshold", lambda t, x: jnp.minimum(start(x), jnp.maximum(start(x) - t, 0.5)),
            rhs=lambda u: np.where(u > 0.5, -1.0, 0.0), initial=start,
        ),
        solvable=False,
    )  # fmt: skip


case(threshold)


def switched_in_time() -> Case:
    """The diffusivity is switched at t = 0.37."""
    k2 = (2 * PI) ** 2
    spent = lambda t: jnp.where(t < 0.37, 0.01 * t, 0.01 * 0.37 + 0.08 * (t - 0.37))
    return Case(
        "diffusivity switched in time",
        given(
            "switched", lambda t, x: jnp.exp(-k2 * spent(t)) * jnp.sin(2 * PI * x),
            rhs=lambda u, t: np.where(t < 0.37, 0.01, 0.08) * u.xx, initial=lambda x: jnp.sin(2 * PI * x),
        ),
    )  # fmt: skip


case(switched_in_time)

# Corners, kinks, layers ----------------------------------------------------------------------------


def _series(coefficients: Callable[[Any], Any], nu: float, terms: int = 800) -> Exact:
    def u(t: Any, x: Any) -> Any:
        def add(n: Any, total: Any) -> Any:
            return total + coefficients(n) * jnp.sin(n * PI * x) * jnp.exp(-nu * (n * PI) ** 2 * t)

        return jax.lax.fori_loop(
            1,
            terms,
            lambda n, s: add(1.0 * n, s),
            jnp.zeros(jnp.broadcast_shapes(jnp.shape(t), jnp.shape(x))),
        )

    return u


def corner(nu: float) -> Case:
    """x(1 − x) between cold walls: uₓₓ ≠ 0 in the corners, where uₜ = 0."""
    u = _series(lambda n: 4 * (1 - jnp.cos(n * PI)) / (n * PI) ** 3, nu)
    name = f"incompatible corner, diffusivity {nu:g}"
    return Case(
        name,
        given(name, u, rhs=lambda u: nu * u.xx, initial=lambda x: x * (1 - x), boundary=hc.Dirichlet(0.0)),
    )


for _nu in (1.0, 1e-2):
    case(corner, nu=_nu)


def tent(at: float, nu: float) -> Case:
    u = _series(lambda n: 2 * jnp.sin(n * PI * at) / ((n * PI) ** 2 * at * (1 - at)), nu, 4000)
    name = f"tent with its top at {at:g}"
    return Case(
        name,
        given(
            name, u, rhs=lambda u: nu * u.xx, initial=lambda x: jnp.minimum(x / at, (1 - x) / (1 - at)),
            boundary=hc.Dirichlet(0.0),
        ),
    )  # fmt: skip


case(tent, at=0.5, nu=0.05)
case(tent, at=0.371, nu=0.05)


def rising_wall() -> Case:
    """u = t at one wall from rest: the corner's second derivative jumps."""
    nu = 0.5
    rest = _series(lambda n: -2 / (nu * (n * PI) ** 3) * -1.0, nu)
    steady = lambda t, x: t * (1 - x) - (x / 3 - x**2 / 2 + x**3 / 6) / nu
    return Case(
        "rising wall",
        given(
            "rising wall", lambda t, x: steady(t, x) + rest(t, x), rhs=lambda u: nu * u.xx, initial=0.0,
            boundary=hc.Dirichlet(lambda t: t, 0.0),
        ),
    )  # fmt: skip


case(rising_wall)


def layer(width: float) -> Case:
    u = lambda t, x: jnp.exp(-(1 - x) / width) * (1 + 0.5 * jnp.sin(3 * t)) + x + 0.3
    name = f"layer of width {width:g} at a wall"
    return Case(
        name,
        known(
            name,
            u,
            lambda f, at: width * f[0].xx - f[0].x,
            domain=LINE,
            horizon=1.0,
            boundary=hc.Dirichlet(*walls(u, 0, 1)),
        ),
    )


for _width in (1e-2, 1e-3, 1e-5):
    case(layer, width=_width)

# Units and vanishing parts -------------------------------------------------------------------------


def scaled(amplitude: float = 1.0, horizon: float = 1.0, length: float = 1.0, held: bool = False) -> Case:
    """Fisher's equation in other units: u = U w(t/T, x/L), with the same w."""
    w = lambda t, x: 0.5 + 0.3 * jnp.sin(2 * PI * x + 1.3 * t) * jnp.exp(-t)
    u = lambda t, x: amplitude * w(t / horizon, x / length)
    operator = lambda f, at: (0.05 * length**2 * f[0].xx + f[0].v * (1 - f[0].v / amplitude)) / horizon
    name = (
        f"amplitude {amplitude:g}, horizon {horizon:g}, length {length:g}, {'walls' if held else 'periodic'}"
    )
    return Case(
        name,
        known(
            name, u, operator, domain=hc.Interval(0, length), horizon=horizon,
            boundary=hc.Dirichlet(*walls(u, 0.0, length)) if held else hc.Periodic(),
        ),
    )  # fmt: skip


for _settings in (
    {"amplitude": 1e-8}, {"amplitude": 1e8}, {"horizon": 1e6}, {"horizon": 1e-7},
    {"length": 1e-6}, {"length": 1e5},
    {"amplitude": 1e-8, "held": True}, {"amplitude": 1e8, "held": True}, {"horizon": 1e6, "held": True},
    {"length": 1e-6, "held": True},
):  # fmt: skip
    case(scaled, **_settings)


def really_real() -> Case:
    """A complex field whose imaginary part stays zero."""
    rate = 0.1 * (2 * PI) ** 2
    return Case(
        "complex equation with a real solution",
        given(
            "real", lambda t, x: jnp.exp(-rate * t) * jnp.cos(2 * PI * x) * (1 + 0j),
            rhs=lambda u: 0.1 * u.xx,
            initial=lambda x: jnp.cos(2 * PI * x) * (1 + 0j), horizon=0.5,
        ),
    )  # fmt: skip


case(really_real)


def empty_field() -> Case:
    rate = 0.05 * (2 * PI) ** 2
    return Case(
        "system with a field that stays zero",
        given(
            "empty", (lambda t, x: 3e-4 * jnp.exp(-rate * t) * jnp.cos(2 * PI * x), lambda t, x: 0 * x * t),
            rhs=lambda u, v: (0.05 * u.xx - v * u, 0.05 * v.xx - u * v),
            initial=lambda x: (3e-4 * jnp.cos(2 * PI * x), 0 * x),
        ),
    )  # fmt: skip


case(empty_field)

# What cannot be solved as asked --------------------------------------------------------------------


def blow_up(horizon: float) -> Case:
    """uₜ = u², which ends at t = 1/max u₀ = 1."""
    start = lambda x: 0.7 + 0.3 * jnp.cos(2 * PI * x)
    name = f"blow-up at t = 1, asked for until {horizon:g}"
    return Case(
        name,
        given(name, lambda t, x: 1 / (1 / start(x) - t), rhs=lambda u: u**2, initial=start, horizon=horizon),
        never="converged" if horizon >= 1 else "converged with an error above the accuracy",
        solvable=horizon < 1,
    )


case(blow_up, horizon=0.9)
case(blow_up, horizon=1.5)


def backwards() -> Case:
    return Case(
        "heat backwards",
        given(
            "backwards", lambda t, x: jnp.exp(0.05 * (2 * PI) ** 2 * t) * jnp.cos(2 * PI * x),
            rhs=lambda u: -0.05 * u.xx, initial=lambda x: jnp.cos(2 * PI * x),
        ),
        solvable=False,
    )  # fmt: skip


case(backwards)


def two_ends_of_transport() -> Case:
    """Data where it flows out, too, which the solution does not meet."""
    return Case(
        "transport with data at both ends",
        given(
            "both ends", lambda t, x: jnp.sin(2 * PI * (x - t)), rhs=lambda u: -u.x,
            initial=lambda x: jnp.sin(2 * PI * x), boundary=hc.Dirichlet(lambda t: -jnp.sin(2 * PI * t), 0.0),
        ),
        never="converged", solvable=False,
    )  # fmt: skip


case(two_ends_of_transport)


# Running -------------------------------------------------------------------------------------------


def one(number: int, seconds: float, reference: bool) -> dict[str, Any]:
    """Solve one case and measure it."""
    begun, cpu = time.perf_counter(), time.process_time()
    found: dict[str, Any] = {"number": number}
    with jax.enable_x64(True):
        own = CASES[number]()
        found |= {"name": own.name, "never": own.never, "solvable": own.solvable}
        if own.before is not None:
            own.before()
    assert own.known is not None
    try:
        if reference:
            solution: Any = solve_reference(own.known.problem, cache=own.before is not None)
            found |= {
                "status": "reference",
                "claimed": solution.error_estimate,
                "notes": list(solution.notes),
            }
            found["true"] = _reference_error(own.known, solution)
        else:
            solution = hc.solve(own.known.problem, accuracy=ACCURACY, max_seconds=seconds, progress=False)
            verdict = solution.verdict
            found |= {"status": verdict.status, "claimed": verdict.error, "notes": list(verdict.reasons)}
            found |= {"stop": solution.stop.value, "true": own.known.error(solution)}
    except HcpinnError as error:
        found |= {"status": "refused", "notes": [str(error)], "true": None}
    except Exception as error:
        found |= {"status": "raw error", "notes": [f"{type(error).__name__}: {error}"], "true": None}
    return {**found, "wall_s": time.perf_counter() - begun, "cpu_s": time.process_time() - cpu}


def _reference_error(truth: Known, reference: Any) -> float:
    mesh = np.meshgrid(reference.times, *reference.coordinates, indexing="ij")
    worst, sizes, gaps = 0.0, [], []
    for name, u in zip(truth.problem.fields, truth.exact, strict=True):
        with jax.enable_x64(True):
            exact = np.asarray(jax.jit(u)(*map(jnp.asarray, mesh)))
        sizes.append(np.linalg.norm(exact))
        gaps.append(np.linalg.norm(reference.values[name] - exact))
    for size, gap in zip(sizes, gaps, strict=True):
        worst = max(worst, gap / size if size > 1e-9 * max(sizes) else gap / max(sizes))
    return float(worst)


def bad(found: dict[str, Any]) -> bool:
    """Whether what must not happen did."""
    if found["status"] in ("raw error", "hang"):
        return True
    if found["never"] == "solved":
        return found["status"] != "refused"
    if found["never"] == "converged":
        return found["status"] == "converged"
    if found["status"] == "reference":
        return not found["true"] <= 3 * found["claimed"] + 1e-11
    return found["status"] == "converged" and not found["true"] <= 1.1 * ACCURACY


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--case", type=int)
    settings = parser.parse_args()
    if settings.case is not None:
        print("FOUND " + json.dumps(one(settings.case, settings.seconds, settings.reference)))
        return
    results = []
    for number, make in enumerate(CASES):
        with jax.enable_x64(True):
            name = make().name if settings.only else ""
        if settings.only not in name:
            continue
        command = [sys.executable, __file__, "--case", str(number), "--seconds", str(settings.seconds)]
        command += ["--reference"] * settings.reference
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=3 * settings.seconds + 30)
            lines = [line for line in run.stdout.splitlines() if line.startswith("FOUND ")]
            found = (
                json.loads(lines[0][6:]) if lines else {"status": "raw error", "notes": [run.stderr[-300:]]}
            )
        except subprocess.TimeoutExpired:
            found = {"status": "hang", "notes": []}
        found = {
            "number": number,
            "name": name or str(number),
            "never": "",
            "true": None,
            "claimed": None,
            **found,
        }
        results.append(found)
        numbers = " ".join(
            "       –" if found.get(k) is None else f"{found[k]:8.1e}" for k in ("claimed", "true")
        )
        print(
            f"{'BAD ' if bad(found) else '    '}{found['name'][:60]:60} {found['status']:14} {numbers} "
            f"{found.get('cpu_s', 0):6.1f} s  {' '.join(found['notes'])[:150]}",
            flush=True,
        )
        if settings.out:
            settings.out.parent.mkdir(parents=True, exist_ok=True)
            settings.out.write_text(json.dumps(results, indent=1) + "\n")
    wrong = sum(map(bad, results))
    good = [
        r
        for r in results
        if r.get("true") is not None and r["true"] <= ACCURACY and r["status"] != "reference"
    ]
    called = sum(r["status"] == "converged" for r in good)
    print(
        f"{len(results)} cases, {wrong} with what must not happen; {called} of {len(good)} good solutions "
        "recognised"
    )


if __name__ == "__main__":
    main()
