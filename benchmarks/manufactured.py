"""Problems whose exact solution is known: a chosen u, and the source that makes it solve the equation.

Each family is a function of a random generator; `draw(seed)` gives one problem of every family. None of
them is in the catalogue, and nothing in hcpinn was chosen by looking at them one by one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import hcpinn as hc
from hcpinn.problem import Expression

Exact = Callable[..., Any]
"""u as a function of t, x, …, written with `jax.numpy`."""


@dataclass(frozen=True)
class Known:
    """A problem and its solution."""

    family: str
    problem: hc.Problem
    exact: tuple[Exact, ...]
    """One function per field."""

    def error(self, solution: Any, counts: tuple[int, ...] = (41, 257)) -> float:
        """The relative L2 error of the worst field on a grid of times and places."""
        problem = self.problem
        ends = [(problem.start, problem.horizon), *problem.domain.bounds]
        per_axis = (
            counts[0],
            *[counts[1] if len(ends) == 2 else 65 if len(ends) == 3 else 21] * (len(ends) - 1),
        )
        axes = [np.linspace(a, b, n) for (a, b), n in zip(ends, per_axis, strict=True)]
        found = solution.on_grid(*axes)
        mesh = np.meshgrid(*axes, indexing="ij")
        worst = 0.0
        for name, u in zip(problem.fields, self.exact, strict=True):
            with jax.enable_x64(True):
                true = np.asarray(jax.jit(u)(*map(jnp.asarray, mesh)))
            worst = max(worst, float(np.linalg.norm(found[name] - true) / np.linalg.norm(true)))
        return worst


def _derivative(u: Exact, name: str) -> Exact:
    """∂u, differentiated once for each letter of `name`: t, x, y or z."""
    for letter in name:
        u = _once(u, "txyz".index(letter))
    return u


def _once(u: Exact, position: int) -> Exact:
    def slope(*at: Any) -> Any:
        tangents = [jnp.ones_like(a) if i == position else jnp.zeros_like(a) for i, a in enumerate(at)]
        return jax.jvp(u, at, tuple(tangents))[1]

    return slope


class _Values:
    """Stands for a field in a right-hand side: `u.xx` is a number there, and arithmetic goes to it."""

    def __init__(self, u: Exact, at: tuple[Any, ...]):
        self._u, self._at = u, at

    def __getattr__(self, name: str) -> Any:
        return _derivative(self._u, name)(*self._at)


def _source(operator: Callable[..., Any], exact: tuple[Exact, ...], field: int) -> Exact:
    """uₜ − F(u) for the exact solution, complex where u is."""

    def source(*at: Any) -> Any:
        at = tuple(jnp.broadcast_arrays(*map(jnp.asarray, at)))
        fields = [_Values(u, at) for u in exact]
        result = operator(fields, at)
        return fields[field].t - (result[field] if isinstance(result, tuple) else result)

    return source


class _Field:
    """The unknown in a right-hand side, with the same names as `_Values`."""

    def __init__(self, expression: Any):
        self._expression = expression

    def __getattr__(self, name: str) -> Any:
        return self._expression if name == "v" else getattr(self._expression, name)


_Values.v = property(lambda self: self._u(*self._at))  # type: ignore[attr-defined]


def known(
    family: str,
    exact: Exact | tuple[Exact, ...],
    operator: Callable[..., Any],
    *,
    domain: Any,
    horizon: float,
    boundary: Any = None,
    start: float = 0.0,
) -> Known:
    """The problem uₜ = operator + source that `exact` solves.

    `operator(fields, at)` takes fields whose value is `u.v` and whose derivatives are `u.x`, `u.xx`, … and
    the coordinates (t, x, …).
    """
    exact = exact if isinstance(exact, tuple) else (exact,)
    sources = [_source(operator, exact, n) for n in range(len(exact))]
    axes = ("t", *"xyz"[: len(domain.bounds)])
    names = ("u", "v", "w")[: len(exact)]

    def rates(fields: list[Any], at: tuple[Any, ...]) -> Any:
        result = operator([_Field(f) for f in fields], at)
        parts = result if isinstance(result, tuple) else (result,)
        added = tuple(part + hc.apply(s, *at) for part, s in zip(parts, sources, strict=True))
        return added if len(added) > 1 else added[0]

    def data(u: Exact) -> Callable[..., Any]:
        return lambda *space: u(jnp.full(jnp.shape(space[0]), start), *space)

    def rhs(*values: Any) -> Any:
        return rates(list(values[: len(names)]), values[len(names) :])

    def initial(*space: Any) -> Any:
        values = tuple(data(u)(*space) for u in exact)
        return values if len(values) > 1 else values[0]

    with_arguments(rhs, (*names, *axes))
    with_arguments(initial, axes[1:])
    if boundary is None:
        boundary = hc.Periodic()
    problem = hc.Problem(
        name=family, domain=domain, horizon=horizon, start=start, boundary=boundary, rhs=rhs, initial=initial
    )
    return Known(family, problem, exact)


def with_arguments(function: Callable[..., Any], arguments: Sequence[str]) -> None:
    """Give a function's arguments the names by which hcpinn calls it."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    function.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in arguments])  # type: ignore[attr-defined]


def walls(u: Exact, low: float, high: float) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The values of a solution at both ends of an interval, as functions of t."""
    return (lambda t: u(t, jnp.full_like(t, low))), (lambda t: u(t, jnp.full_like(t, high)))


def slopes(u: Exact, low: float, high: float) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The outward slopes of a solution at both ends of an interval."""
    ux = _derivative(u, "x")
    return (lambda t: -ux(t, jnp.full_like(t, low))), (lambda t: ux(t, jnp.full_like(t, high)))


def _on(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function for coordinates, which are expressions in a right-hand side and arrays in a source."""
    return lambda z: hc.apply(function, z) if isinstance(z, Expression) else function(z)


cos, sin = _on(jnp.cos), _on(jnp.sin)

FAMILIES: list[Callable[[np.random.Generator], Known]] = []


def family(function: Callable[[np.random.Generator], Known]) -> Callable[[np.random.Generator], Known]:
    """Add a family to those that are drawn."""
    FAMILIES.append(function)
    return function


def draw(seed: int) -> Iterator[Known]:
    """One problem of every family."""
    for number, make in enumerate(FAMILIES):
        with jax.enable_x64(True):
            yield make(np.random.default_rng([seed, number]))


LINE = hc.Interval(0.0, 1.0)


def _waves(rng: np.random.Generator, period: float, most: int = 4, terms: int = 3) -> Exact:
    """A sum of travelling waves that repeats itself after `period`."""
    k = rng.integers(1, most + 1, terms) * 2 * np.pi / period
    speed, phase, size = rng.uniform(-4, 4, terms), rng.uniform(0, 6, terms), rng.uniform(0.3, 1.0, terms)
    return lambda t, x: sum(
        a * jnp.cos(q * x - w * t + p) for a, q, w, p in zip(size, k, speed, phase, strict=True)
    )


def _pulse(rng: np.random.Generator, period: float) -> Exact:
    """A smooth travelling pulse that repeats itself after `period`."""
    sharp, speed, place = rng.uniform(1, 8), rng.uniform(-1, 1), rng.uniform(0, period)
    return lambda t, x: jnp.exp(sharp * (jnp.cos(2 * jnp.pi * (x - place - speed * t) / period) - 1))


def _front(rng: np.random.Generator, width: tuple[float, float] = (0.03, 0.2)) -> Exact:
    """A front that moves across [0, 1]."""
    d, c, x0 = np.exp(rng.uniform(*np.log(width))), rng.uniform(-0.4, 0.4), rng.uniform(0.35, 0.65)
    return lambda t, x: jnp.tanh((x - x0 - c * t) / d)


def _smooth(rng: np.random.Generator) -> Exact:
    """A smooth function on [0, 1] that is not periodic."""
    a, b, c = rng.uniform(0.5, 2, 3)
    return lambda t, x: jnp.exp(-a * t) * jnp.sin(3 * b * x + c) + 0.3 * x**2 * jnp.cos(2 * t)


@family
def heat_periodic(rng):
    nu = 10 ** rng.uniform(-3, 0)
    return known("heat_periodic", _waves(rng, 1.0), lambda f, at: nu * f[0].xx, domain=LINE, horizon=1.0)


@family
def transport_periodic(rng):
    c = rng.uniform(1, 10)
    u = _pulse(rng, 2.0)
    return known("transport_periodic", u, lambda f, at: -c * f[0].x, domain=hc.Interval(-1, 1), horizon=1.0)


@family
def burgers_periodic(rng):
    nu = 10 ** rng.uniform(-2.5, -1)
    return known(
        "burgers_periodic", _waves(rng, 2.0, 3), lambda f, at: -f[0].v * f[0].x + nu * f[0].xx,
        domain=hc.Interval(-1, 1), horizon=1.0,
    )  # fmt: skip


@family
def korteweg_de_vries(rng):
    d = 10 ** rng.uniform(-4, -2)
    return known(
        "korteweg_de_vries", _waves(rng, 2.0, 3), lambda f, at: -f[0].v * f[0].x - d * f[0].xxx,
        domain=hc.Interval(-1, 1), horizon=1.0,
    )  # fmt: skip


@family
def reaction_bistable(rng):
    nu, r = 10 ** rng.uniform(-4, -2), rng.uniform(1, 5)
    return known(
        "reaction_bistable", _pulse(rng, 2.0), lambda f, at: nu * f[0].xx - r * (f[0].v ** 3 - f[0].v),
        domain=hc.Interval(-1, 1), horizon=1.0,
    )  # fmt: skip


@family
def swift_hohenberg(rng):
    r = rng.uniform(0.1, 0.9)
    return known(
        "swift_hohenberg", _waves(rng, 12.0, 5),
        lambda f, at: r * f[0].v - f[0].v - 2 * f[0].xx - f[0].xxxx - f[0].v ** 3,
        domain=hc.Interval(0, 12), horizon=2.0,
    )  # fmt: skip


@family
def kuramoto(rng):
    a, b = rng.uniform(0.5, 2, 2)
    return known(
        "kuramoto", _waves(rng, 20.0, 4), lambda f, at: -a * f[0].v * f[0].x - f[0].xx - b * f[0].xxxx,
        domain=hc.Interval(0, 20), horizon=2.0,
    )  # fmt: skip


@family
def phase_field_crystal(rng):
    return known(
        "phase_field_crystal", _waves(rng, 10.0, 3),
        lambda f, at: ((1 - 0.3) * f[0].xx + 2 * f[0].xxxx + f[0].xxxxxx) + 0.1 * f[0].v * f[0].xx,
        domain=hc.Interval(0, 10), horizon=1.0,
    )  # fmt: skip


@family
def variable_diffusion(rng):
    a, b, k = rng.uniform(0.2, 0.8), rng.uniform(0.01, 0.1), 2 * np.pi
    return known(
        "variable_diffusion", _waves(rng, 1.0, 3),
        lambda f, at: b * ((1 + a * cos(k * at[1])) * f[0].xx - a * k * sin(k * at[1]) * f[0].x),
        domain=LINE, horizon=1.0,
    )  # fmt: skip


@family
def forced_in_time(rng):
    w = rng.uniform(5, 40)
    u = _pulse(rng, 1.0)
    return known(
        "forced_in_time", lambda t, x: u(t, x) * (1 + 0.3 * jnp.sin(w * t)), lambda f, at: 0.02 * f[0].xx,
        domain=LINE, horizon=1.0,
    )  # fmt: skip


@family
def schrodinger_cubic(rng):
    k, w = 2 * np.pi * rng.integers(1, 3), rng.uniform(1, 5)
    a = rng.uniform(0.3, 0.8)
    return known(
        "schrodinger_cubic", lambda t, x: (1 + a * jnp.cos(k * x)) * jnp.exp(1j * (w * t + k * x)),
        lambda f, at: 0.5j * f[0].xx + 1j * abs(f[0].v) ** 2 * f[0].v, domain=LINE, horizon=0.5,
    )  # fmt: skip


@family
def two_species(rng):
    d1, d2 = 10 ** rng.uniform(-3, -1, 2)
    u, v = _waves(rng, 1.0, 2), _waves(rng, 1.0, 2)
    return known(
        "two_species", (u, v),
        lambda f, at: (
            d1 * f[0].xx - f[0].v * f[1].v ** 2 + 0.1 * (1 - f[0].v),
            d2 * f[1].xx + f[0].v * f[1].v ** 2 - 0.2 * f[1].v,
        ),
        domain=LINE, horizon=1.0,
    )  # fmt: skip


@family
def wave_as_a_pair(rng):
    c, k = rng.uniform(1, 3), 2 * np.pi * rng.integers(1, 4)
    u = lambda t, x: jnp.sin(k * x) * jnp.cos(c * k * t)
    v = lambda t, x: -c * k * jnp.sin(k * x) * jnp.sin(c * k * t)
    return known("wave_as_a_pair", (u, v), lambda f, at: (f[1].v, c**2 * f[0].xx), domain=LINE, horizon=1.0)


@family
def later_start(rng):
    return known(
        "later_start", _pulse(rng, 1.0), lambda f, at: 0.05 * f[0].xx - at[0] * f[0].x, domain=LINE,
        start=1.5, horizon=2.5,
    )  # fmt: skip


def _held(name, u, operator, horizon=1.0):
    return known(name, u, operator, domain=LINE, horizon=horizon, boundary=hc.Dirichlet(*walls(u, 0.0, 1.0)))


@family
def heat_walls(rng):
    nu = 10 ** rng.uniform(-2, 0)
    return _held("heat_walls", _smooth(rng), lambda f, at: nu * f[0].xx)


@family
def burgers_front(rng):
    u = _front(rng)
    return _held("burgers_front", u, lambda f, at: -f[0].v * f[0].x + 0.02 * f[0].xx)


@family
def sharp_front(rng):
    u = _front(rng, (0.005, 0.02))
    return _held("sharp_front", u, lambda f, at: 1e-3 * f[0].xx - (f[0].v ** 3 - f[0].v))


@family
def fisher_walls(rng):
    nu, r = 10 ** rng.uniform(-3, -1), rng.uniform(1, 8)
    return _held("fisher_walls", _smooth(rng), lambda f, at: nu * f[0].xx + r * f[0].v * (1 - f[0].v))


@family
def layer_at_a_wall(rng):
    d = 10 ** rng.uniform(-2, -1)
    u = lambda t, x: jnp.exp(-(1 - x) / d) * (1 + 0.5 * jnp.sin(3 * t)) + x
    return _held("layer_at_a_wall", u, lambda f, at: d * f[0].xx - f[0].x)


@family
def porous(rng):
    s = _smooth(rng)
    u = lambda t, x: 2.0 + 0.5 * s(t, x)
    return _held("porous", u, lambda f, at: 0.1 * (f[0].v * f[0].xx + f[0].x ** 2))


@family
def quick_walls(rng):
    w = rng.uniform(10, 40)
    u = lambda t, x: jnp.sin(2 * x + w * t) + x
    return _held("quick_walls", u, lambda f, at: 0.1 * f[0].xx)


@family
def heat_slopes(rng):
    u = _smooth(rng)
    return known(
        "heat_slopes", u, lambda f, at: 0.1 * f[0].xx, domain=LINE, horizon=1.0,
        boundary=hc.Neumann(*slopes(u, 0.0, 1.0)),
    )  # fmt: skip


@family
def heat_mixed(rng):
    u = _smooth(rng)
    (a, b), (c, d) = walls(u, 0.0, 1.0), slopes(u, 0.0, 1.0)
    return known(
        "heat_mixed", u, lambda f, at: 0.1 * f[0].xx - f[0].v, domain=LINE, horizon=1.0,
        boundary=hc.Robin(lambda t: 2 * a(t) + c(t), lambda t: 2 * b(t) + d(t), value=2.0, slope=1.0),
    )  # fmt: skip


@family
def plane_periodic(rng):
    u, v = _pulse(rng, 1.0), _waves(rng, 1.0, 2, 2)
    return known(
        "plane_periodic", lambda t, x, y: u(t, x) * (1 + 0.3 * v(t, y)),
        lambda f, at: 0.01 * (f[0].xx + f[0].yy) - f[0].v ** 3, domain=hc.Box((0, 1), (0, 1)), horizon=0.5,
    )  # fmt: skip


@family
def plane_walls(rng):
    a, b = rng.uniform(1, 4, 2)
    u = lambda t, x, y: jnp.exp(-t) * jnp.sin(a * x + 0.3) * jnp.cos(b * y) + x * y * t
    faces = {
        "x": hc.Dirichlet(lambda t, y: u(t, jnp.zeros_like(y), y), lambda t, y: u(t, jnp.ones_like(y), y)),
        "y": hc.Dirichlet(lambda t, x: u(t, x, jnp.zeros_like(x)), lambda t, x: u(t, x, jnp.ones_like(x))),
    }
    return known(
        "plane_walls", u, lambda f, at: 0.1 * (f[0].xx + f[0].yy) - f[0].x, domain=hc.Box((0, 1), (0, 1)),
        horizon=1.0, boundary=faces,
    )  # fmt: skip


@family
def space_periodic(rng):
    k = 2 * np.pi
    a = rng.uniform(0.5, 1.5, 3)
    u = lambda t, x, y, z: (
        jnp.exp(-t) * jnp.cos(k * x + a[0]) * jnp.cos(k * y + a[1]) * jnp.cos(k * z + a[2] * t)
    )
    return known(
        "space_periodic", u, lambda f, at: 0.02 * (f[0].xx + f[0].yy + f[0].zz) - f[0].v,
        domain=hc.Box((0, 1), (0, 1), (0, 1)), horizon=0.5,
    )  # fmt: skip
