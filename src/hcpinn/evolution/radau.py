"""Radau IIA collocation of order 2s − 1 for c′ = f(t, c), with step control and a dense solution.

On each step the solution is the polynomial of degree s through c(t) that solves the equation at the s
Radau points of (t, t + h]. Its coefficients follow from Newton's method, where one eigenvalue of A⁻¹ after
the other needs one factorisation of μ/h − J. The error is estimated as by Hairer and Wanner (Solving ODEs
II, IV.8), against a quadrature of lower order; where c follows a stiff equation at once, that sees nothing,
and the decay of the polynomial's Legendre coefficients tells how well it serves between the points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol

import numpy as np

from ..outcome import Stop
from .limits import Limits
from .outcome import Halted


class System(Protocol):
    """What the integrator needs to know of c′ = f(t, c)."""

    @property
    def iterations(self) -> int:
        """Newton iterations before a step is tried again with half its length."""
        ...

    @property
    def dense(self) -> bool:
        """Whether the solvers of the linearised equation are exact."""
        ...

    def rates(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """f at several times; states and results are unknowns × times."""
        ...

    def linearised(self, time: float, state: np.ndarray) -> Callable[[complex], Callable[..., np.ndarray]]:
        """A function of μ that gives a solver of (μ − J) x = b."""
        ...

    def size(self, change: np.ndarray) -> float:
        """The size of a change of c relative to the solution's."""
        ...


_TINY, _CRAWL = 1e-7, 40
"""Steps shorter than this share of the whole are tiny; so many in a row mean that it is stuck."""

_MEMORY = 8
"""Earlier iterates that are mixed."""

_NEWTON, _ENOUGH = 1e-3, 0.02
"""The residual that Newton's method may leave, as a share of a step's tolerance, and the one at which
rounding may end it.

Its leftovers do not fall with the order of the scheme and are alike in two passes: they must not count.
"""


@dataclass(frozen=True)
class Scheme:
    """The coefficients for s stages."""

    nodes: np.ndarray
    inverse: np.ndarray
    """A⁻¹."""
    eigenvalues: np.ndarray
    """Of A⁻¹: the real one first, then one of each pair."""
    forward: np.ndarray
    """Rows that take stages to the eigenvectors' coordinates."""
    backward: np.ndarray
    """And back, for pairs twice the real part."""
    estimate: np.ndarray
    """The weights of the stages in the error estimate."""
    highest: np.ndarray
    """Rows that take stages to the polynomial's last two Legendre coefficients."""


@cache
def scheme(stages: int) -> Scheme:
    """The Radau IIA scheme with an odd number of stages."""
    s = stages
    legendre = np.polynomial.legendre.Legendre
    difference = legendre.basis(s)(np.polynomial.Polynomial([-1, 2])) - legendre.basis(s - 1)(
        np.polynomial.Polynomial([-1, 2])
    )
    nodes = np.sort(np.real(difference.roots()))
    nodes[-1] = 1.0
    powers = np.arange(s)
    vandermonde = nodes[:, None] ** powers
    matrix = (nodes[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(vandermonde)
    inverse = np.linalg.inv(matrix)
    values, vectors = np.linalg.eig(inverse)
    real = int(np.argmin(np.abs(np.imag(values))))
    upper = [i for i in np.argsort(np.imag(values)) if np.imag(values[i]) > 1e-8]
    chosen = [real, *upper]
    back = np.linalg.inv(vectors)
    twice = np.where(np.arange(len(chosen)) > 0, 2.0, 1.0)
    lead = 1 / values[real].real
    target = 1 / (powers + 1.0)
    target[0] -= lead
    lower = np.linalg.solve(vandermonde.T, target)
    places = 2 * np.concatenate([[0.0], nodes]) - 1
    highest = np.linalg.inv(np.polynomial.legendre.legvander(places, s))[-2:, 1:]
    return Scheme(
        nodes,
        inverse,
        values[chosen],
        back[chosen],
        vectors[:, chosen] * twice,
        (lower - matrix[-1]) @ inverse,
        highest,
    )


@dataclass
class Track:
    """c(t) as polynomials on consecutive steps: values at each step's start and Radau points."""

    stages: int
    times: list[float]
    values: list[np.ndarray]
    """One array (s + 1) × unknowns per step."""
    order: int = 1
    """2 where the unknowns are c and behind it c′, which then both shape c between the points."""

    @property
    def steps(self) -> int:
        return len(self.values)

    def powers(self) -> np.ndarray:
        """Coefficients of c in powers of 2 (t − tₖ)/h − 1: steps × powers × unknowns."""
        return np.einsum("pq,kqn->kpn", self._shape(), [self._known(k) for k in range(self.steps)])

    def _shape(self) -> np.ndarray:
        """What is known of c on a step ↦ its coefficients."""
        nodes = 2 * np.concatenate([[0.0], scheme(self.stages).nodes]) - 1
        count = self.order * len(nodes)
        rows = np.vander(nodes, count, increasing=True)
        if self.order == 2:
            slopes = np.arange(1, count) * rows[:, :-1]
            rows = np.concatenate([rows, np.pad(slopes, ((0, 0), (1, 0)))])
        return np.linalg.inv(rows)

    def _known(self, step: int) -> np.ndarray:
        """The values of c at the points of a step, and for the second order its slopes times h/2."""
        if self.order == 1:
            return self.values[step]
        places, slopes = np.split(self.values[step], 2, axis=1)
        return np.concatenate([places, slopes * (self.times[step + 1] - self.times[step]) / 2])

    def at(self, times: np.ndarray, *, slope: bool = False) -> np.ndarray:
        """c, or c′, at given times: times × unknowns."""
        edges = np.asarray(self.times)
        shape = self._shape()
        step = np.clip(np.searchsorted(edges, times, side="left") - 1, 0, self.steps - 1)
        result = np.empty((len(times), self.values[0].shape[1] // self.order))
        for k in np.unique(step):
            where = step == k
            share = (times[where] - edges[k]) / (edges[k + 1] - edges[k])
            rows = np.vander(2 * share - 1, len(shape), increasing=True)
            if slope:
                rows[:, 1:] = rows[:, :-1] * np.arange(1, len(shape)) * (2 / (edges[k + 1] - edges[k]))
                rows[:, 0] = 0.0
            result[where] = rows @ shape @ self._known(k)
        return result


def lagrange(nodes: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Lagrange polynomials on the nodes at x: places × nodes."""
    result = np.ones((len(x), len(nodes)))
    for i, a in enumerate(nodes):
        for j, b in enumerate(nodes):
            if i != j:
                result[:, i] *= (x - b) / (a - b)
    return result


def integrate(
    system: System,
    start: np.ndarray,
    times: tuple[float, float],
    track: Track,
    tolerance: float,
    *,
    growth: float = 8.0,
    limits: Limits | None = None,
    longest: Callable[[float], float] = lambda _: np.inf,
    report: Callable[[float], None] = lambda _: None,
) -> None:
    """Integrate from times[0] to times[1] and add the steps to a track that ends at times[0].

    `tolerance` bounds the error of a step in the system's norm, `growth` how many times longer a step may be
    than the last, and `longest` how long one may be from a time on; `report` is told each time reached.
    Raises `Halted` with a reason where it cannot go on, or where `limits` say so.
    """
    stages, limits = track.stages, limits or Limits()
    rule, most = scheme(stages), system.iterations
    begin, end = times
    inside = 1e-12 * (end - begin)
    time, state = begin, start
    rate = system.rates(np.array([time + inside]), state[:, None])[:, 0]
    step, taken = (end - begin) * 1e-3, track.steps
    smallest = 1e-13 * max(abs(begin), abs(end), end - begin)
    linear: Any = None
    solvers: list[Any] = []
    factored = 0.0
    fresh, failed, before = False, False, None
    crawled = 0
    while time < end:
        if step < smallest or crawled > _CRAWL:
            raise Halted(Stop.STUCK, time)
        step = min(step, max(longest(time), smallest))
        if end - time < 1.01 * step:
            step = end - time
        elif end - time < 1.9 * step:
            step = (end - time) / 2
        if linear is None:
            linear, fresh, factored = system.linearised(time + inside, state), True, 0.0
        if factored != step:
            solvers = [linear(mu / step) for mu in rule.eigenvalues]
            factored = step
        stage = np.zeros((len(state), stages)) if before is None else _extended(before, step, rule, state)
        at = np.minimum(time + rule.nodes * step, end - inside)
        check = partial(limits.check, time)
        newton = _newton(system, rule, solvers, at, state, stage, step, tolerance, check)
        if not newton.converged:
            if fresh:
                step, before = step / 2 if newton.finite else step / 8, None
            linear = None
            continue
        stage = newton.stage
        error, gap = _step_error(system, rule, solvers[0], stage, rate, step, tolerance)
        if error > 1 and (failed or track.steps == taken):
            # A stiff start exaggerates the error; the rate there, mended by it, does not.
            again = system.rates(np.array([time + inside]), (state + gap)[:, None])[:, 0]
            error, _ = _step_error(system, rule, solvers[0], stage, again, step, tolerance)
        error = max(error, _between(system, rule, stage, tolerance))
        safety = 0.9 * (2 * most + 1) / (2 * most + newton.count)
        factor = min(growth, max(0.15, safety * max(error, 1e-12) ** (-1 / (stages + 1))))
        if not error <= 1:
            step, failed = step * factor, True
            if not fresh:
                linear = None
            continue
        track.values.append(np.concatenate([state[None], (state[:, None] + stage).T]))
        before = (step, stage)
        time = end if end - time <= step * (1 + 1e-12) else time + step
        track.times.append(time)
        state = state + stage[:, -1]
        rate = stage @ rule.inverse[-1] / step
        report(float(time))
        crawled = crawled + 1 if step < _TINY * (end - begin) else 0
        fresh = False
        if failed:
            factor = min(factor, 1.0)
        failed = False
        if newton.speed > 0.03 or factor < 1:
            linear = None
        if not 1 <= factor <= 1.15:
            step = step * factor
            linear = None


@dataclass(frozen=True)
class _Newton:
    """What Newton's method made of a step."""

    stage: np.ndarray
    """c at the Radau points, relative to c at the beginning."""
    converged: bool
    finite: bool
    """Whether any of its changes was a number."""
    speed: float
    """The factor by which the last change was smaller than the one before."""
    count: int
    """Iterations."""


def _newton(
    system: System,
    rule: Scheme,
    solvers: list[Any],
    at: np.ndarray,
    state: np.ndarray,
    stage: np.ndarray,
    step: float,
    tolerance: float,
    check: Callable[[], None],
) -> _Newton:
    """Solve for the stages of one step.

    Where J is only approximate, iterates are mixed so that little is left of the equation (Anderson).
    """
    most, speed, first, last, count = system.iterations, 0.0, np.inf, np.inf, 0
    images: list[np.ndarray] = []
    changes: list[np.ndarray] = []
    while count < most:
        check()
        found = system.rates(at, state[:, None] + stage)
        if not np.isfinite(found).all():
            break
        right = (found - stage @ rule.inverse.T / step) @ rule.forward.T
        change = np.zeros_like(stage)
        for number, solve in enumerate(solvers):
            change += np.real(np.outer(solve(right[:, number]), rule.backward[:, number]))
        size = max(system.size(own) for own in change.T)
        stage = stage + change
        if not system.dense:
            images, changes = [*images[-_MEMORY:], stage], [*changes[-_MEMORY:], change]
            stage = _mixed(images, changes)
        count += 1
        if not np.isfinite(size):
            break
        if count > 1:
            speed = size / last if system.dense else (size / first) ** (1 / (count - 1))
            if speed > 0.95:
                return _Newton(stage, size < _ENOUGH * tolerance, True, speed, count)
            if size * speed ** (most - count) / (1 - speed) > tolerance:
                break
        else:
            first = size
        last = size
        left = size * (speed / (1 - speed) if count > 1 else 1.0)
        if left < (_NEWTON if count < most else _ENOUGH) * tolerance:
            return _Newton(stage, True, True, speed, count)
    return _Newton(stage, False, bool(np.isfinite(last)), speed, count)


def _mixed(images: list[np.ndarray], changes: list[np.ndarray]) -> np.ndarray:
    """The combination of images whose changes all but cancel."""
    if len(changes) < 2:
        return images[-1]
    gaps = np.stack([(c - changes[-1]).ravel() for c in changes[:-1]], axis=1)
    scales = np.linalg.norm(gaps, axis=0)
    shares = np.linalg.lstsq(gaps / scales, -changes[-1].ravel(), rcond=1e-10)[0] / scales
    return images[-1] + sum(s * (image - images[-1]) for s, image in zip(shares, images[:-1], strict=True))


def _step_error(
    system: System,
    rule: Scheme,
    solve: Any,
    stage: np.ndarray,
    rate: np.ndarray,
    step: float,
    tolerance: float,
) -> tuple[float, np.ndarray]:
    """The error against a quadrature of lower order, in units of the tolerance, and the error itself."""
    raw = stage @ rule.estimate + rate * (step / rule.eigenvalues[0].real)
    gap = np.real(solve(rule.eigenvalues[0] / step * raw))
    return system.size(gap) / tolerance, gap


def _between(system: System, rule: Scheme, stage: np.ndarray, tolerance: float) -> float:
    """The error between the points, in units of the tolerance, as Legendre coefficients decay."""
    before_last, last = (system.size(stage @ row) for row in rule.highest)
    return last * min(1.0, last / max(before_last, 1e-300)) / tolerance


def _extended(before: tuple[float, np.ndarray], step: float, rule: Scheme, state: np.ndarray) -> np.ndarray:
    """The last step's polynomial at the next one's points, relative to the state between them."""
    length, stage = before
    nodes = np.concatenate([[0.0], rule.nodes])
    weights = lagrange(nodes, 1 + rule.nodes * step / length)
    return stage @ weights[:, 1:].T - stage[:, -1:]
