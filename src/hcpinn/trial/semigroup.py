"""The lift e^{tL} u₀: initial data carried along by the linear part of the equation.

L is what of F is exactly linear with constant coefficients, found by differentiating F. In a basis
of waves, e^{iκx} along periodic axes, sines and cosines on an interval with Dirichlet or Neumann data,
L is diagonal (a small matrix for systems), so that

    ψ(t, x) = G(t, x) + Σ A e^{s (t − t₀)} e^{iκx} + e^{−Λ(t − t₀)} (u₀ − G − Σ A e^{iκx}),

with finitely many waves and what they leave of u₀ dying at their fastest rate Λ. It starts
exactly from u₀, and where L smooths, a kink of u₀ is smoothed as in the solution.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .. import jets
from ..errors import MethodError
from ..jets.taylor import Jet
from ..problem import Index, Problem
from .edges import Edges, join_edges
from .function import Function, columns
from .layers import layers_of
from .lift import Lift
from .walls import Held, Walls

PARTS = ("auto", "all", "damping")

_MOST_WAVES = {1: 512, 2: 32, 3: 12}
"""Waves per axis, by number of dimensions."""

_PRESENT, _NOTHING = 1e-6, 1e-15
"""Relative amplitudes that count when a lift is judged, and below which a wave is left out."""

_GROWTH, _PHASE = math.log(2.0), math.pi
"""How much a lift may grow, and turn, over the horizon, before only its damping is kept."""


@dataclass(frozen=True)
class Semigroup(Lift):
    """ψ = e^{tL} u₀, L the linear part of the equation.

    `parts` says how much of L is used: 'all', or only its 'damping', or what 'auto' finds
    sensible: all of it unless the lift would then grow more than twofold or turn more than half a
    circle over the horizon without solving the equation by itself.
    """

    parts: str = "auto"
    decay: float = 0.0
    """An extra rate of decay, e^{−Ct}."""

    def __post_init__(self) -> None:
        if self.parts not in PARTS:
            from ..errors import unknown_name

            raise unknown_name("part of L", self.parts, PARTS)
        if not (math.isfinite(self.decay) and self.decay >= 0):
            raise MethodError(f"The extra decay of a lift must be zero or positive, but is {self.decay!r}.")

    def bind(self, problem: Problem, parameters: Mapping[str, Any], walls: Held | None = None) -> Function:
        same = dict(parameters) == dict(problem.parameters)
        return self.waves(problem if same else problem.with_parameters(**parameters))

    def waves(self, problem: Problem, most: int | None = None) -> Waves:
        """The lift for a problem, with what was decided about it, of `most` waves per axis."""
        waves = _expand(problem, most or _MOST_WAVES[len(problem.space)])
        if self.parts == "damping" or (self.parts == "auto" and not waves.sensible):
            waves = waves.damped()
        return waves.faded(self.decay)


class Waves:
    """A sum of waves, as a function of coordinates that knows its own derivatives."""

    def __init__(
        self,
        problem: Problem,
        amplitudes: np.ndarray,
        rates: np.ndarray,
        numbers: np.ndarray,
        fade: float = 0.0,
        whole: Waves | None = None,
    ):
        """Waves × components, waves, and waves × space axes; a wave is A e^{s t + iκx}, real parts count.

        `whole` are the waves under all of L, where these are not.
        """
        self.problem, self.fade = problem, fade
        self.amplitudes, self.rates, self.numbers = amplitudes, rates, numbers
        damping = -np.real(rates)
        self.tail_rate = float(damping.max(initial=0.0))
        self.whole = whole
        self._edges = _edges(problem)

    @property
    def growth(self) -> float:
        """The logarithm of how much the fastest growing wave grows over the horizon."""
        return float(np.real(self.rates)[self._present].max(initial=0.0)) * self.problem.duration

    @property
    def phase(self) -> float:
        """By what angle waves turn over the horizon: root mean square by amplitude."""
        size = np.sum(np.abs(self.amplitudes) ** 2, axis=1)
        turn = np.imag(self.rates) * self.problem.duration
        return float(np.sqrt(np.sum(size * turn**2) / max(float(size.sum()), 1e-300)))

    @property
    def leftover(self) -> float:
        """The residual that the lift alone leaves, relative to the size of its parts."""
        problem = self.problem
        rng = np.random.default_rng(0)
        time, *space = rng.random((len(problem.axes), 256))
        times = problem.start + problem.duration * time
        places = np.column_stack([times, problem.domain.inside(np.stack(space, axis=1))])
        first: Index = (1, *(0 for _ in problem.space))

        @jax.jit
        def left(points: Array) -> Array:
            jet = self.jet(points, (*problem.derivatives, first))
            fields = {index: problem.to_fields(values) for index, values in jet.items()}
            rates = problem.evaluate_rhs(lambda n, i: fields[i][n], columns(problem, points))
            gaps = problem.to_components([fields[first][n] - rate for n, rate in enumerate(rates)])
            return jnp.linalg.norm(gaps) / jnp.maximum(jnp.linalg.norm(jet[first]), 1e-300)

        return float(left(jnp.asarray(places)))

    @property
    def sensible(self) -> bool:
        """Whether the whole of L makes a lift that a network can easily correct."""
        return (self.growth <= _GROWTH and self.phase <= _PHASE) or self.leftover < 1e-8

    @property
    def _present(self) -> np.ndarray:
        size = np.abs(self.amplitudes).max(axis=1, initial=0.0)
        return size > _PRESENT * max(float(size.max(initial=0.0)), 1e-300)

    def __str__(self) -> str:
        modes = f"e^(tL) u0: {len(self.rates)} modes"
        if self.whole is None:
            return f"{modes}, {_behaviour(self)} before T"
        return f"{modes}, with the damping of L alone; under all of L, {_behaviour(self.whole)} before T"

    def damped(self) -> Waves:
        """The waves with nothing but their damping."""
        rates = np.minimum(np.real(self.rates), 0.0).astype(complex)
        return Waves(self.problem, self.amplitudes, rates, self.numbers, self.fade, self)

    def faded(self, rate: float) -> Waves:
        """The waves times e^{−rate t}."""
        if not rate:
            return self
        return Waves(self.problem, self.amplitudes, self.rates, self.numbers, rate, self.whole)

    def __call__(self, coordinates: Array) -> Array:
        zero = (0,) * len(self.problem.axes)
        return self.jet(coordinates, (zero,))[zero]

    def jet(self, coordinates: Array, indices: Sequence[Index]) -> Jet:
        """The derivatives in closed form, without nesting."""
        problem, dtype = self.problem, coordinates.dtype
        time = coordinates[:, 0] - problem.start
        origin = jnp.asarray(problem.domain.lower, dtype)
        numbers, rates = jnp.asarray(self.numbers, dtype), jnp.asarray(self.rates)
        angle = (coordinates[:, 1:] - origin) @ numbers.T
        still = jnp.exp(1j * angle)
        moving = still * jnp.exp(time[:, None] * (rates - self.fade))
        tail_rate = self.tail_rate + self.fade
        fading = jnp.exp(-tail_rate * time)[:, None]
        below = sorted({index[1:] for index in indices})
        start = jets.nested(self._start, coordinates, [(0, *space) for space in below])
        result: Jet = {}
        edges = jets.nested(self._edge, coordinates, indices)
        for index in indices:
            along = np.prod((1j * self.numbers) ** np.asarray(index[1:]), axis=1)
            factor = along[:, None] * self.amplitudes
            waves = moving @ jnp.asarray(factor * ((self.rates - self.fade) ** index[0])[:, None])
            gone = start[(0, *index[1:])] - jnp.real(still @ jnp.asarray(factor))
            rest = (-tail_rate) ** index[0] * fading * gone
            result[index] = edges[index] + jnp.real(waves) + rest
        return result

    def _edge(self, coordinates: Array) -> Array:
        """G."""
        t, *space = columns(self.problem, coordinates)
        return self._edges(t, space)

    def _start(self, coordinates: Array) -> Array:
        """u₀ − G(t₀, ·)."""
        t, *space = columns(self.problem, coordinates)
        start = self.problem.to_components(self.problem.initial_values(space))
        return start - self._edges(jnp.full_like(t, self.problem.start), space)


def _behaviour(waves: Waves) -> str:
    grown = math.exp(min(waves.growth, 700.0))
    still = grown < 1.005, waves.phase < 0.005
    if all(still):
        return "none growing or rotating"
    grow = "none growing" if still[0] else f"growing {grown:.3g}-fold at most"
    turn = "none rotating" if still[1] else f"rotating by {waves.phase:.2g} rad"
    return f"{grow}, {turn}"


def has_waves(problem: Problem) -> bool:
    """Whether the problem is of first order in time and its boundary has a basis of waves here."""
    if problem.order == 2 or problem.periodic:
        return problem.order == 1
    return (
        problem.domain.dimension == 1 and not any(problem.complex_fields) and _parities(problem) is not None
    )


def _parities(problem: Problem) -> tuple[bool, ...] | None:
    """At either end of an interval whether waves are even about it, as slopes ask for, or odd, as values do.

    None where fields or conditions differ from that, or where initial data do not meet them.
    """
    found = []
    for side in problem.sides:
        kinds = {tuple(bool(f) for c in own for f in c.factors) for own in side.conditions}
        counts = {len(own) for own in side.conditions}
        if counts != {1} or kinds not in ({(True,)}, {(False, True)}):
            return None
        found.append(kinds == {(False, True)})
    return None if layers_of(problem) else tuple(found)


def _edges(problem: Problem) -> Edges:
    return join_edges(problem, Walls(problem, even=True).held, problem.parameters)


def _expand(problem: Problem, most: int) -> Waves:
    """The waves of the initial data, each with its rate under the whole of L."""
    from ..equation.split import split

    linear = split(problem).linear
    if not has_waves(problem):
        raise MethodError(
            f"{problem.name} is neither periodic along all axes nor real on an interval with Dirichlet or "
            "Neumann data, alike for all fields and met at the start, or not of first order in time, so "
            "its linear part has no lift here. Use lift=Decay(…)."
        )
    walled = not problem.periodic
    numbers, coefficients = _standing(problem, most) if walled else _fourier(problem, most)
    size = np.abs(coefficients).max(axis=0)
    kept = size > _NOTHING * max(float(size.max(initial=0.0)), 1e-300)
    numbers, coefficients = numbers[kept], coefficients[:, kept].T
    matrices = np.zeros((len(numbers), len(problem.fields), len(problem.fields)), complex)
    for (target, (source, index)), factor in linear.items():
        if walled and any(n % 2 for n in index[1:]):
            continue  # standing waves are no eigenfunctions of odd derivatives
        matrices[:, target, source] += factor * np.prod((1j * numbers) ** np.asarray(index[1:]), axis=1)
    rates, modes = np.linalg.eig(matrices) if len(numbers) else (np.zeros((0, 1)), np.zeros((0, 1, 1)))
    shares = np.linalg.solve(modes, coefficients[..., None])[..., 0]
    fields = modes * shares[:, None, :]  # waves, fields, eigenvectors
    waves = np.moveaxis(fields, 1, 2).reshape(-1, len(problem.fields))
    amplitudes = _components(problem, waves)
    return Waves(problem, amplitudes, rates.ravel(), np.repeat(numbers, len(problem.fields), axis=0))


def _components(problem: Problem, waves: np.ndarray) -> np.ndarray:
    """Amplitudes of real components, of which the real parts count: Re(A z) and Re(−iA z) = Im(A z)."""
    parts = []
    for number, is_complex in enumerate(problem.complex_fields):
        amplitude = waves[:, number]
        parts += [amplitude, -1j * amplitude] if is_complex else [amplitude]
    return np.stack(parts, axis=1)


def _fourier(problem: Problem, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Wave numbers and coefficients per field; for real fields one of each conjugate pair, doubled."""
    from ..equation.projection import mode_numbers, project

    dimensions = len(problem.space)
    half = not any(problem.complex_fields)
    grid = np.meshgrid(*mode_numbers(most, dimensions, half), indexing="ij")
    numbers = np.stack([g.ravel() for g in grid], axis=1)
    coefficients = project(problem, most, half).reshape(len(problem.fields), -1)
    if half:
        coefficients = coefficients * np.where(numbers[:, -1] > 0, 2.0, 1.0)
    return numbers * (2 * np.pi / np.asarray(problem.domain.lengths)), coefficients


def _standing(problem: Problem, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Wave numbers and coefficients, b of cos κ(x − a) or −ib of b sin κ(x − a), by a fine midpoint sum."""
    import scipy.fft

    even = _parities(problem)
    assert even is not None
    count = 1 << 14
    (low, high), length = problem.domain.bounds[0], problem.domain.lengths[0]
    x = jnp.asarray(low + (high - low) * (np.arange(count) + 0.5) / count)
    start = problem.to_components(problem.initial_values([x]))
    start = start - _edges(problem)(jnp.full_like(x, problem.start), [x])
    fields = np.stack([np.asarray(v) for v in problem.to_fields(start)])
    transform = scipy.fft.dct if even[0] else scipy.fft.dst
    found = np.asarray(transform(fields, type=2 if even[0] == even[1] else 4, axis=1))[:, :most] / count
    first = 0.5 if even[0] != even[1] else 0.0 if even[0] else 1.0
    numbers = first + np.arange(most)
    found = found * np.where(numbers > 0, 1.0, 0.5)
    return (numbers * np.pi / length)[:, None], found if even[0] else -1j * found
