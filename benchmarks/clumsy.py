"""What a first-time user may hand over: it works, or a sentence says what is wrong.

python benchmarks/clumsy.py          prints every message, to be read aloud
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.interpolate
import scipy.special

import hcpinn as hc
from hcpinn.errors import HcpinnError

LINE = hc.Interval(0.0, 1.0)
X = np.linspace(0.0, 1.0, 21)
HUMP = X * (1 - X)


@dataclass(frozen=True)
class Case:
    """A call, and words that its sentence must hold; None where it must work."""

    name: str
    call: Callable[[], Any]
    says: tuple[str, ...] | None = None


CASES: list[Case] = []


def works(name: str, call: Callable[[], Any]) -> None:
    """Add a call that must work."""
    CASES.append(Case(name, call))


def says(name: str, call: Callable[[], Any], *words: str) -> None:
    """Add a call that must be refused with these words."""
    CASES.append(Case(name, call, words))


def heat(**changes: Any) -> hc.Problem:
    """A problem like any other, with some settings changed."""
    settings: dict[str, Any] = {
        "rhs": lambda u: 0.05 * u.xx,
        "initial": lambda x: x * (1 - x),
        "domain": LINE,
        "horizon": 1.0,
        "boundary": hc.Dirichlet(0.0),
    }
    return hc.Problem(**{**settings, **changes})


def start(**changes: Any) -> float:
    """The largest initial value between the places where the data were given."""
    problem = heat(**changes)
    places = jnp.linspace(0.013, 0.987, 77)

    def value(x: Any) -> Any:
        return problem.initial_values([x])[0]

    curvature = jax.jit(jax.vmap(jax.grad(jax.grad(value))))(places)  # as engines differentiate them
    assert np.isfinite(curvature).all()
    return float(np.abs(jax.jit(jax.vmap(value))(places)).max())


PERIODIC = {"boundary": hc.Periodic()}
SPLINE = scipy.interpolate.CubicSpline(X, HUMP)

# Initial data
works("initial: a spline", lambda: start(initial=SPLINE))
works("initial: a lambda around a spline", lambda: start(initial=lambda x: SPLINE(x)))
works("initial: make_interp_spline", lambda: start(initial=scipy.interpolate.make_interp_spline(X, HUMP)))
works("initial: UnivariateSpline", lambda: start(initial=scipy.interpolate.UnivariateSpline(X, HUMP, s=0)))
works("initial: pchip", lambda: start(initial=scipy.interpolate.PchipInterpolator(X, HUMP)))
works("initial: np.interp", lambda: start(initial=lambda x: np.interp(x, X, HUMP)))
works("initial: interp1d", lambda: start(initial=scipy.interpolate.interp1d(X, HUMP, kind="cubic")))
works(
    "initial: scipy erf", lambda: start(initial=lambda x: scipy.special.erf(9 * x) - x * scipy.special.erf(9))
)
works("initial: scipy j0", lambda: start(initial=lambda x: scipy.special.j0(5 * x) * x * (1 - x)))
works("initial: np.polyval", lambda: start(initial=lambda x: np.polyval([-1.0, 1.0, 0.0], x)))
works("initial: np.poly1d", lambda: start(initial=np.poly1d([-1.0, 1.0, 0.0])))
works("initial: np Polynomial", lambda: start(initial=np.polynomial.Polynomial([0.0, 1.0, -1.0])))
works("initial: %", lambda: start(initial=lambda x: np.sin(np.pi * (x % 1.0)) * np.sin(np.pi * x)))
works("initial: math.exp", lambda: start(initial=lambda x: x * (1 - x) * math.exp(-x)))
works("initial: math.sin", lambda: start(initial=lambda x: math.sin(math.pi * x)))
works("initial: an if", lambda: start(initial=lambda x: x if x < 0.5 else 1 - x))
works("initial: np.where", lambda: start(initial=lambda x: np.where(x < 0.5, x, 1 - x)))
works("initial: np.vectorize", lambda: start(initial=np.vectorize(lambda x: x * (1 - x))))
works("initial: a number", lambda: start(initial=0.0))
works("initial: np.float32", lambda: start(initial=np.float32(0.0)))
works("initial: whole numbers", lambda: start(initial=0))
works("initial: an array", lambda: heat(initial=HUMP))
says("initial: a list", lambda: heat(initial=[*HUMP]), "21", "field")
says("initial: None", lambda: heat(initial=None), "initial", "None")
says("initial: a string", lambda: heat(initial="sin(pi*x)"), "initial", "lambda x")
says("initial: y", lambda: heat(initial=lambda y: y), "'y'", "x")
says("initial: returns None", lambda: heat(initial=lambda x: None), "initial", "None")
says("initial: returns a string", lambda: heat(initial=lambda x: "x"), "initial", "'x'")
says("initial: prints", lambda: heat(initial=print), "initial")
says("initial: divides by zero", lambda: heat(initial=lambda x: 1 / x), "not finite")
says("initial: log", lambda: heat(initial=lambda x: np.log(x)), "not finite")
says("initial: too many values", lambda: heat(initial=lambda x: (x, x)), "2 value", "1 field")
says("initial: a matrix", lambda: heat(initial=lambda x: np.ones((3, 3))), "shape")
says("initial: fails", lambda: heat(initial=lambda x: {}["k"]), "initial", "KeyError")
says("initial: an undefined name", lambda: heat(initial=lambda x: undefined * x), "initial", "undefined")
says("initial: u of t", lambda: heat(initial=lambda t, x: x), "'t'")

# The right-hand side
says("rhs: math.sin(u)", lambda: heat(rhs=lambda u: u.xx + math.sin(u)), "math", "np.sin")
says("rhs: jnp.sin(u)", lambda: heat(rhs=lambda u: u.xx + jnp.sin(u)), "jax.numpy", "np.sin")
says("rhs: u, y on an interval", lambda: heat(rhs=lambda u, y: u.xx + y), "'y'")
says("rhs: u.y on an interval", lambda: heat(rhs=lambda u: u.yy), ".yy", "x")
says("rhs: u.t", lambda: heat(rhs=lambda u: u.t), "time derivatives")
says("rhs: u_xx", lambda: heat(rhs=lambda u, u_xx: u_xx), "u_xx", "u.xx")
says("rhs: u.dx", lambda: heat(rhs=lambda u: u.dx), "'dx'", ".x")
says("rhs: u.diff", lambda: heat(rhs=lambda u: u.diff(2)), "diff", ".x")
says("rhs: no field", lambda: heat(rhs=lambda: 0.0), "no field")
says("rhs: a number", lambda: heat(rhs=0.0), "rhs", "function")
says("rhs: None", lambda: heat(rhs=None), "rhs", "None")
says("rhs: a string", lambda: heat(rhs="u_xx"), "rhs", "lambda u")
says("rhs: returns None", lambda: heat(rhs=lambda u: None), "rhs", "None")
says("rhs: prints", lambda: heat(rhs=lambda u: print(u.xx)), "rhs", "None")
says("rhs: an if", lambda: heat(rhs=lambda u: u.xx if u > 0 else -u), "np.where")
says("rhs: *args", lambda: heat(rhs=lambda *u: u[0].xx), "*u")
says("rhs: an undefined name", lambda: heat(rhs=lambda u: nu * u.xx), "nu")
says("rhs: two values", lambda: heat(rhs=lambda u: (u.xx, u)), "2 value")
says("rhs: np.gradient", lambda: heat(rhs=lambda u: np.gradient(u)), "rhs")
says("rhs: u[0]", lambda: heat(rhs=lambda u: u[0]), "rhs")
says("rhs: scipy spline of u", lambda: heat(rhs=lambda u: SPLINE(u)), "rhs", "jax")
works("rhs: scipy erf of u", lambda: heat(rhs=lambda u: u.xx + scipy.special.erf(u)))
works("rhs: np.polyval of u", lambda: heat(rhs=lambda u: u.xx + np.polyval([1.0, 0.0, 0.0], u)))
works("rhs: % of x", lambda: heat(rhs=lambda u, x: u.xx + x % 0.5))
works("rhs: np.pi", lambda: heat(rhs=lambda u, x: u.xx + np.sin(np.pi * x)))
says("rhs: math.exp(t)", lambda: heat(rhs=lambda u, t: u.xx * math.exp(-t)), "math", "np.exp")
says(
    "rhs: a constant not given",
    lambda: heat(rhs=lambda u, nu: nu * u.xx, initial=lambda x: x),
    "nu",
    "parameters",
)

# Domain, horizon, boundary, parameters
says("domain: a tuple", lambda: heat(domain=(0, 1)), "Interval")
says("domain: a number", lambda: heat(domain=1.0), "Interval")
says("domain: backwards", lambda: heat(domain=hc.Interval(1, 0)), "1", "0")
works("domain: numbers as text", lambda: heat(domain=hc.Interval("0", "1")))
says("domain: infinite", lambda: heat(domain=hc.Interval(0, math.inf)), "inf")
says("horizon: a string", lambda: heat(horizon="1"), "horizon", "'1'")
says("horizon: negative", lambda: heat(horizon=-1.0), "horizon")
says("horizon: None", lambda: heat(horizon=None), "horizon", "None")
works("horizon: np.float32", lambda: heat(horizon=np.float32(1.0)))
works("horizon: np.int64", lambda: heat(horizon=np.int64(1)))
works("horizon: jnp", lambda: heat(horizon=jnp.asarray(1.0)))
says("boundary: a string", lambda: heat(boundary="periodic"), "boundary", "Periodic()")
says("boundary: a class", lambda: heat(boundary=hc.Periodic), "parentheses")
says("boundary: a number", lambda: heat(boundary=0.0), "boundary", "Dirichlet")
says("boundary: None", lambda: heat(boundary=None), "boundary")
says("boundary: Dirichlet(None)", lambda: heat(boundary=hc.Dirichlet(None)), "None")
says("boundary: Dirichlet(of x)", lambda: heat(boundary=hc.Dirichlet("0")), "'0'")
says("boundary: Dirichlet of u", lambda: heat(boundary=hc.Dirichlet(lambda u: u)), "'u'")
works("boundary: math.exp(t)", lambda: heat(boundary=hc.Dirichlet(lambda t: math.exp(-t) - 1.0)))
works("boundary: a spline in t", lambda: heat(boundary=hc.Dirichlet(scipy.interpolate.CubicSpline(X, X**2))))
says("boundary: data disagree", lambda: heat(boundary=hc.Dirichlet(1.0)), "disagree")
says("periodic: not periodic", lambda: heat(initial=lambda x: x, **PERIODIC), "not periodic")
says("parameters: a list", lambda: heat(parameters=[1.0]), "parameters", "{")
says("parameters: a string", lambda: heat(parameters={"nu": "1"}), "nu", "'1'")
says("parameters: x", lambda: heat(parameters={"x": 1.0}), "'x'")
says("a system with one value", lambda: heat(rhs=lambda u, v: (u.xx, v.xx)), "1 value", "2 field")

# Solving
says("solve: accuracy text", lambda: hc.solve(heat(), accuracy="1e-3"), "accuracy", "'1e-3'")
says("solve: accuracy zero", lambda: hc.solve(heat(), accuracy=0), "accuracy")
says("solve: accuracy None", lambda: hc.solve(heat(), accuracy=None), "accuracy")
says("solve: max_seconds text", lambda: hc.solve(heat(), max_seconds="5"), "max_seconds", "'5'")
says("solve: max_seconds negative", lambda: hc.solve(heat(), max_seconds=-1), "max_seconds")
says("solve: reference zeros", lambda: hc.solve(heat(), reference=np.zeros(5)), "reference", "Reference")
says("solve: reference None", lambda: hc.solve(heat(), reference=None), "reference", "None")
says("solve: a list of problems", lambda: hc.solve([heat(), heat()]), "one Problem", "for p in")
says("solve: a name misspelt", lambda: hc.solve("alen-cahn-1"), "Did you mean 'allen-cahn-1'")
says("solve: a solution", lambda: hc.solve(None), "Problem", "None")
says("solve: method 5", lambda: hc.solve(heat(), 5), "method")
says("solve: method misspelt", lambda: hc.solve(heat(), "exprt"), "expert")
says("solve: seed text", lambda: hc.solve(heat(), seed="0"), "seed")
says("solve: seed negative", lambda: hc.solve(heat(), seed=-1), "seed")
says("solve: devices 0", lambda: hc.solve(heat(), "expert", devices=0), "devices")
says("solve: resume without a folder", lambda: hc.solve(heat(), "expert", resume=True), "out")
says("solve: out a file", lambda: _out_a_file(), "Cannot write", "a file")
says("solve: out a number", lambda: hc.solve(heat(), out=5), "out", "5")
says("solve_batch: a run", lambda: hc.solve_batch(hc.Run(heat(), hc.Evolution())), "[run]")
says("solve_batch: problems", lambda: hc.solve_batch([heat()]), "Run(")
says("solve_batch: nothing", lambda: hc.solve_batch([]), "no runs")
works(
    "solve: accuracy np.float32",
    lambda: hc.solve(heat(), accuracy=np.float32(1e-2), reference=False, progress=False),
)

# Solutions and files
says("load: no file", lambda: hc.load("nowhere.npz"), "nowhere.npz")
says("load: a folder", lambda: hc.load(tempfile.gettempdir()), tempfile.gettempdir())
says("load: text", lambda: _load_text(), "cannot be read")
says("find_problem: misspelt", lambda: hc.find_problem("alen-cahn-1"), "allen-cahn-1")
says("find_problem: 5", lambda: hc.find_problem(5), "5")
says("with_parameters: unknown", lambda: hc.find_problem("allen-cahn-1").with_parameters(gama=1), "gama")
says("with_parameters: text", lambda: hc.find_problem("allen-cahn-1").with_parameters(gamma2="4"), "'4'")
says("Evolution: features text", lambda: hc.Evolution(features="many"), "features")
says("Evolution: stages 4", lambda: hc.Evolution(stages=4), "stages")


def _out_a_file() -> Any:
    with tempfile.NamedTemporaryFile() as file:
        return hc.solve(heat(), out=file.name)


def _load_text() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "solution.npz"
        path.write_text("u = 0")
        return hc.load(path)


def main() -> None:
    for case in CASES:
        try:
            outcome = f"works: {case.call()}"[:120]
            good = case.says is None
        except HcpinnError as error:
            outcome = f"{type(error).__name__}: {error}"
            good = case.says is not None and all(word in str(error) for word in case.says)
        except Exception as error:
            outcome, good = f"RAW {type(error).__name__}: {str(error)[:300]}", False
        print(f"{'    ' if good else 'BAD '}{case.name}\n        {outcome}", flush=True)


if __name__ == "__main__":
    main()
