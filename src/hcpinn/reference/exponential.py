"""Exponential collocation for z′ = Λ z + N(t, z), Λ diagonal: implicit, of high order, with adaptive steps.

On a step of length h, with s Gauss–Lobatto nodes 0 = τ₁ < … < τₛ = 1 and N replaced by the polynomial ℓ
through its values there,

    zᵢ = e^{τᵢ h Λ} z₁ + h Σⱼ aᵢⱼ(hΛ) Nⱼ,    aᵢⱼ(ζ) = ∫₀^{τᵢ} e^{(τᵢ − σ) ζ} ℓⱼ(σ) dσ,

solved by fixed-point iteration with Anderson's acceleration. The order does not suffer where N does not
meet the boundary conditions, as that of explicit exponential schemes does; where N = 0 a step of any length
is exact. Steps are an output interval halved k times, so that coefficients are computed once for each k.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from ..machine.background import raise_if_abandoned

Force = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""N at several times: (times, states: times × unknowns) ↦ times × unknowns."""

_NODES = 7
_MOST_ITERATIONS = 24
_MEMORY = 6
"""Earlier iterates that Anderson's acceleration mixes."""

_DEEPEST = 24
_MOST_STEPS = 40_000
_EASY = 3.0**_NODES
"""By how much a step's error must be below the tolerance for the next to be twice as long."""


class Stuck(Exception):
    """The integration cannot continue, for the reason given."""


@cache
def _nodes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The nodes; rows that take values there to coefficients of powers of σ; the same without one node."""
    inner = np.polynomial.legendre.Legendre.basis(_NODES - 1).deriv().roots()
    nodes = np.concatenate([[0.0], (np.sort(np.real(inner)) + 1) / 2, [1.0]])
    whole = np.linalg.inv(np.vander(nodes, increasing=True))
    kept = [i for i in range(_NODES) if i != _NODES // 2]
    fewer = np.zeros((_NODES - 1, _NODES))
    fewer[:, kept] = np.linalg.inv(np.vander(nodes[kept], increasing=True))
    return nodes, whole, fewer


def _moments(z: np.ndarray) -> np.ndarray:
    """k! φₖ₊₁(z) = ∫₀¹ e^{(1 − σ) z} σᵏ dσ for k < the number of nodes: one row for each k."""
    count = _NODES
    result = np.empty((count, *z.shape), z.dtype)
    near = np.abs(z) < count + 1
    small = z[near]
    top = np.zeros_like(small)
    for n in range(60, -1, -1):  # Σ zⁿ k!/(n + k + 1)!, from the back
        top = (top * small if n < 60 else top) + math.exp(math.lgamma(count) - math.lgamma(n + count + 1))
    result[count - 1][near] = top
    for k in range(count - 1, 0, -1):  # φₖ = z φₖ₊₁ + 1/k!
        top = (top * small + 1.0) / k
        result[k - 1][near] = top
    large = z[~near]
    value = np.expm1(large) / large
    result[0][~near] = value
    for k in range(1, count):
        value = (k * value - 1.0) / large
        result[k][~near] = value
    return result


class _Coefficients:
    """e^{τᵢ h Λ}, h aᵢⱼ, and h times the difference of the last row from that of a lower degree."""

    def __init__(self, rates: np.ndarray, step: float):
        nodes, whole, fewer = _nodes()
        self.grown = np.exp(np.multiply.outer(nodes[1:], step * rates))
        self.weights = np.empty((_NODES - 1, _NODES, len(rates)), rates.dtype)
        for row, tau in enumerate(nodes[1:]):
            moments = _moments(tau * step * rates)
            powers = step * tau ** np.arange(1, _NODES + 1)
            self.weights[row] = np.einsum("k,kn,kj->jn", powers, moments, whole)
            if tau == 1.0:
                lower = np.einsum("k,kn,kj->jn", powers[:-1], moments[:-1], fewer)
                self.gap = self.weights[row] - lower


class Integrator:
    """One system; `advance` takes it from one output time to the next."""

    def __init__(self, rates: np.ndarray, force: Force, interval: float, tolerance: float, size: float = 0.0):
        self.rates, self.force, self.interval, self.tolerance = rates, force, interval, tolerance
        self.level, self.steps = 0, 0
        self.size = size
        """The largest norm of a state so far."""
        self._known: dict[int, _Coefficients] = {}

    def advance(self, state: np.ndarray, time: float) -> np.ndarray:
        """The state one output interval later."""
        position, cells = 0, 1 << _DEEPEST
        self.size = max(self.size, float(np.linalg.norm(state)))
        while position < cells:
            raise_if_abandoned()
            if self.steps > _MOST_STEPS:
                raise Stuck(f"it takes more than {_MOST_STEPS} steps")
            if self.level >= _DEEPEST:
                raise Stuck(f"its steps become shorter than {self.interval * 0.5**_DEEPEST:.1e}")
            length = 0.5**self.level * self.interval
            found, error = self._step(state, time + position / cells * self.interval, length)
            self.steps += 1
            if found is None or not error <= self.tolerance:
                worse = found is not None and error > 1e3 * self.tolerance
                self.level += 2 if worse else 1
                continue
            state = found
            self.size = max(self.size, float(np.linalg.norm(state)))
            position += cells >> self.level
            longer = self.level - 1
            if longer >= 0 and error * _EASY < self.tolerance and position % (cells >> longer) == 0:
                self.level = longer
        return state

    def _step(self, state: np.ndarray, time: float, length: float) -> tuple[np.ndarray | None, float]:
        """The state a step later and its estimated relative error; none where the iteration fails."""
        if self.level not in self._known:
            self._known[self.level] = _Coefficients(self.rates, length)
        table, nodes = self._known[self.level], _nodes()[0]
        times = time + length * (1e-12 + (1 - 2e-12) * nodes)  # inside, as F may jump at the ends
        scale = max(self.size, 1e-300)
        free = table.grown * state
        first = self.force(times[:1], state[None])
        stages = free + table.weights[:, 0] * first
        stages = stages + np.einsum("ijn->in", table.weights[:, 1:]) * first
        rests: list[np.ndarray] = []
        images: list[np.ndarray] = []
        last = math.inf
        for number in range(_MOST_ITERATIONS):
            forces = np.concatenate([first, self.force(times[1:], stages)])
            image = free + np.einsum("ijn,jn->in", table.weights, forces)
            rest = image - stages
            change = float(np.linalg.norm(rest)) / scale
            if not math.isfinite(change) or (number > 3 and change > 10 * last):
                return None, math.inf
            if change <= max(1e-2 * self.tolerance, 3e-15) or (change < 1e-12 and change > 0.3 * last):
                error = float(np.linalg.norm(np.einsum("jn,jn->n", table.gap, forces))) / scale
                return image[-1], error
            last = min(change, last)
            rests, images = [*rests[-_MEMORY:], rest.ravel()], [*images[-_MEMORY:], image.ravel()]
            stages = _mixed(rests, images).reshape(image.shape)
        return None, math.inf


def _mixed(rests: list[np.ndarray], images: list[np.ndarray]) -> np.ndarray:
    """The next iterate: the images mixed so that what would rest of the changes is smallest."""
    if len(rests) < 2:
        return images[-1]
    differences = np.stack([r - rests[-1] for r in rests[:-1]], axis=1)
    shares = np.linalg.lstsq(differences, -rests[-1], rcond=1e-12)[0]
    return images[-1] + sum(s * (image - images[-1]) for s, image in zip(shares, images[:-1], strict=True))
