"""The lift ψ of an evolution: all initial and boundary data, with its derivatives at points over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import jax
import jax.extend.core as jex
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..equation import scan
from ..machine.precision import double
from ..problem import Index, Problem
from ..trial import Semigroup, jet_of
from ..trial.edges import Edges, join_edges
from ..trial.function import columns
from ..trial.layers import with_layers
from ..trial.pieces import on_pieces
from ..trial.semigroup import Waves, has_waves
from .motion import fading

Added = Callable[[Array, Sequence[Index]], Mapping[Index, Array]]
"""The jet of a known function at points (t in the first column), whose initial and boundary data are zero.

Derivatives that are left out vanish.
"""

_CHUNK = 1024

_ROOM = 1 << 21
"""Numbers held at once while many waves are summed at points."""

_GONE = 100.0
"""The remainder of the initial data counts as gone at once if it fades by e to this power before T."""

_FADE, _FADED = 1.75, 0.3
"""How much faster than the fastest wave it then fades, and how much of its size is wrong while it does.

Where u₀ has a kink, these are best: its waves fall off as k⁻² and fade at rates that grow as k².
"""

_WAVES, _MOST_WAVES = 512, 4096
"""Waves per axis that the equation is solved with, and the most that the solution has."""

_TAIL = 1e3
"""How much faster than the fastest wave it fades elsewhere: a kink has a curvature that no point sees."""


def has_wave_lift(problem: Problem) -> bool:
    """Whether the lift e^{tL} u₀ is used: where there are waves, in one dimension.

    Where slopes are prescribed only for a kink: smooth initial data are as good a lift themselves.
    """
    if len(problem.space) > 1 or not has_waves(problem):
        return False
    return problem.periodic or problem.prescribed_axes == [0] or bool(scan(problem).space[0].jumps)


class Carrier:
    """ψ for one problem: e^{tL} u₀ where there are waves, else u₀ with the boundary data added.

    For uₜₜ = F the initial velocity is added too, and all fades, so that ψ stays bounded over long times.
    With a function that is `added`, such as a trained network behind its gate, features carry less.
    """

    def __init__(
        self, problem: Problem, accuracy: float = 1.0, waves: int = _WAVES, added: Added | None = None
    ):
        self.problem, self.added = problem, added
        still = (0,) * len(problem.space)
        times = ((k, *still) for k in range(1, problem.order + 1))
        self.indices: tuple[Index, ...] = (*problem.derivatives, *times)
        self.waves: Waves | None = None
        self.fades, self.leftover, self.most = False, 0.0, waves
        """Whether the remainder fades by itself, and its relative L2 error in space and time."""
        if has_wave_lift(problem):
            self._expand()
            wanted = (self.leftover / (0.1 * accuracy)) ** 0.4  # it falls as k^−2.5
            if wanted > 1:
                self.most = min(_WAVES * 2 ** math.ceil(math.log2(wanted)), _MOST_WAVES)
                self._expand()
            assert self.waves is not None
            self.waves.tail_rate *= _FADE if self.fades else _TAIL
            self.function: Callable[[Array], Array] = self.waves
        else:
            self.function = _with_walls(problem)

    def _expand(self) -> None:
        """The waves, and whether and how fast their remainder fades."""
        self.waves = Semigroup().waves(self.problem, self.most)
        self.fades = self.waves.tail_rate * self.problem.duration >= _GONE
        self.leftover = _FADED * _remainder(self.problem, self.waves) if self.fades else 0.0

    def derivative(self, points: Array, index: Index) -> Array:
        """A derivative of ψ at points (t in the first column), traceable: points × components."""
        if self.most == _WAVES:
            value = jet_of(self.function, points, (index,))[index]
        else:
            some = max(1, _ROOM // self.most)
            value = jax.lax.map(
                lambda p: jet_of(self.function, p[None], (index,))[index][0], points, batch_size=some
            )
        return value if self.added is None else value + self.added(points, (index,)).get(index, 0.0)

    def of(self, indices: Sequence[Index]) -> Carrier:
        """The same ψ, of which other derivatives are wanted."""
        other = Carrier.__new__(Carrier)
        other.__dict__.update(
            problem=self.problem,
            waves=self.waves,
            function=self.function,
            added=self.added,
            fades=False,
            indices=tuple(indices),
        )
        return other

    def on_grid(self, times: np.ndarray, axes: Sequence[np.ndarray], index: Index) -> np.ndarray:
        """A derivative of ψ on a grid: component × time × x × y × z."""
        mesh = np.meshgrid(*axes, indexing="ij")
        space = np.stack([np.asarray(m, float).ravel() for m in mesh], axis=1)
        with double():
            found = self.of([index]).on(space)(np.asarray(times, float))[0]
        found = np.broadcast_to(found, (*found.shape[:2], len(times)))
        return np.moveaxis(found, 2, 1).reshape(len(found), len(times), *mesh[0].shape)

    @cached_property
    def moves(self) -> bool:
        """Whether the part of ψ that carries boundary data depends on time."""
        if self.waves is None and self.problem.pieces:
            return True
        place = [jnp.full(1, low + 0.3 * (high - low)) for low, high in self.problem.domain.bounds]
        rate = _rate(self.problem)
        edges = _carried(self.problem, rate) if self.waves is None else self.waves._edges
        return depends(lambda t: edges(t, place), jnp.asarray([self.problem.start]))

    @cached_property
    def _slow(self) -> Callable[[Array], Array]:
        """What of ψ has no closed form in time: all of it without waves, else the boundary data."""
        if self.waves is None:
            return self.function
        edges = self.waves._edges
        return lambda c: edges(c[:, 0], columns(self.problem, c)[1:])

    @cached_property
    def _jets(self) -> Any:
        def run(points: Array) -> Array:
            found = jet_of(self._slow, points, self.indices)
            return jnp.stack([found[i] for i in self.indices])

        return jax.jit(run)

    @cached_property
    def _added_jets(self) -> Any:
        added, count = self.added, len(self.problem.components)
        assert added is not None

        def run(points: Array) -> Array:
            found, nothing = added(points, self.indices), jnp.zeros((len(points), count))
            return jnp.stack([found.get(i, nothing) for i in self.indices])

        return jax.jit(run)

    @cached_property
    def _start_jets(self) -> Any:
        """The derivatives of u₀ − G(t₀, ·) that the waves' remainder needs."""
        assert self.waves is not None
        begin = self.waves._start
        return jax.jit(lambda p: jnp.stack([jet_of(begin, p, (i,))[i] for i in self._spatial]))

    @cached_property
    def _spatial(self) -> tuple[Index, ...]:
        return tuple((0, *i[1:]) for i in self.indices)

    def on(self, space: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """ψ at fixed places (points × axes) as a function of times: index × component × point × time.

        The indices are those that F uses, and last the time derivatives up to the one that F gives.
        A remainder that fades by itself is left out: its modes are above all waves, and points would fold
        them onto low ones.
        """
        parts: list[Callable[[np.ndarray], np.ndarray]] = []
        if self.moves:
            parts.append(lambda times: self._sampled(self._jets, space, times))
        elif self.waves is None or not self.problem.periodic:
            still = self._sampled(self._jets, space, np.array([self.problem.start]))
            parts.append(lambda times: still)
        if self.waves is not None:
            parts.append(self._waves_on(space, self.waves))
        if self.added is not None:
            parts.append(lambda times: self._sampled(self._added_jets, space, times))

        def psi(times: np.ndarray) -> np.ndarray:
            total = parts[0](times)
            for part in parts[1:]:
                total = total + part(times)
            return total

        return psi

    def _sampled(self, jets: Any, space: np.ndarray, times: np.ndarray) -> np.ndarray:
        points = np.column_stack([np.tile(times, len(space)), np.repeat(space, len(times), axis=0)])
        found = _chunked(jets, points)  # index × point·time × component
        found = found.reshape(len(self.indices), len(space), len(times), -1)
        return np.moveaxis(found, 3, 1)

    def _waves_on(self, space: np.ndarray, waves: Waves) -> Callable[[np.ndarray], np.ndarray]:
        origin = np.asarray(self.problem.domain.lower)
        used = slice(None)
        if self.fades:
            used = np.abs(waves.numbers[:, 0]) < (_WAVES + 0.5) * _lowest(self.problem)
        numbers, amplitudes = waves.numbers[used], waves.amplitudes[used]
        still = np.exp(1j * (space - origin) @ numbers.T)
        rates = waves.rates[used] - waves.fade
        tail = waves.tail_rate + waves.fade
        points = np.column_stack([np.full(len(space), self.problem.start), space])
        start = None if self.fades else _chunked(self._start_jets, points)
        turning = bool(np.abs(rates.imag).max(initial=0.0) > 0)
        tables, rests = [], []
        for number, index in enumerate(self.indices):
            along = np.prod((1j * numbers) ** np.asarray(index[1:]), axis=1)
            factor = along[:, None] * amplitudes
            if start is not None:
                gone = start[number] - np.real(still @ factor)
                rests.append((-tail) ** index[0] * gone.T)
            moving = factor * (rates ** index[0])[:, None]
            table = still[None] * moving.T[:, None, :]
            tables.append(np.concatenate([table.real, -table.imag], -1) if turning else table.real)
        table = np.stack(tables)
        rest = np.stack(rests)[..., None] if rests else None

        def psi(times: np.ndarray) -> np.ndarray:
            since = times - self.problem.start
            waved = np.exp(rates[:, None] * since)
            grown = np.concatenate([np.real(waved), np.imag(waved)]) if turning else np.real(waved)
            waves = table @ grown
            return waves if rest is None else waves + rest * np.exp(-tail * since)

        return psi


def _lowest(problem: Problem) -> float:
    """The smallest wave number."""
    return (2 if problem.periodic else 1) * np.pi / problem.domain.lengths[0]


def _remainder(problem: Problem, waves: Waves) -> float:
    """‖u₀ − Σ waves‖ / ‖u₀‖, times √(∫ e^{−2Λt} dt / T): what is wrong where it fades at the rate Λ."""
    (low, high), count = problem.domain.bounds[0], 1 << 13
    x = low + (high - low) * (np.arange(count) + 0.5) / count
    start = np.asarray(waves._start(jnp.stack([jnp.full(count, problem.start), jnp.asarray(x)], axis=1)))
    summed = np.empty_like(start)
    for first in range(0, count, _CHUNK):
        part = slice(first, first + _CHUNK)
        angle = (x[part, None] - low) * waves.numbers[:, 0]
        summed[part] = np.real(np.exp(1j * angle) @ waves.amplitudes)
    share = np.linalg.norm(start - summed) / max(float(np.linalg.norm(start)), 1e-300)
    return float(share / np.sqrt(2 * waves.tail_rate * problem.duration))


def _chunked(function: Any, points: np.ndarray) -> np.ndarray:
    """A compiled function of points, whose results have the points in their second axis."""
    parts = []
    for first in range(0, len(points), _CHUNK):
        part = points[first : first + _CHUNK]
        size = len(part)
        if size < _CHUNK:
            part = np.concatenate([part, np.repeat(part[-1:], _CHUNK - size, axis=0)])
        parts.append(np.asarray(function(part))[:, :size])
    return np.concatenate(parts, axis=1)


def depends(function: Callable[[Array], Array], argument: Array) -> bool:
    """Whether the result depends on the argument's value, read off the program."""
    program = jax.make_jaxpr(function)(argument).jaxpr
    varying = set(program.invars)
    for equation in program.eqns:
        if any(not isinstance(v, jex.Literal) and v in varying for v in equation.invars):
            varying.update(equation.outvars)
    return any(not isinstance(v, jex.Literal) and v in varying for v in program.outvars)


def _with_walls(problem: Problem) -> Callable[[Array], Array]:
    """The lift without waves of one problem."""
    return walled(problem, problem.parameters, _rate(problem))


def _rate(problem: Problem) -> float:
    return 0.0 if problem.order == 1 else fading(problem)


def walled(problem: Problem, parameters: Mapping[str, Any], rate: float) -> Callable[[Array], Array]:
    """u₀, with the initial velocity where there is one, and what it takes to meet all conditions at walls.

    On a curved domain these are the conditions on values.

    With a velocity v₀, s = t − t₀ and a `rate` C it is e^{−Cs} ((1 + Cs) u₀ + s v₀).
    """
    if problem.pieces:
        return on_pieces(problem, partial(swung, rate), parameters)
    edges = _carried(problem, rate, parameters)

    def lift(points: Array) -> Array:
        t, *space = columns(problem, points)
        return edges(t, space)

    return lift


def swung(rate: float, since: Array, value: Array, velocity: Callable[[], Array]) -> Array:
    """What the initial data do in time: they stand, or swing and fade at a rate."""
    if not rate:
        return value
    return jnp.exp(-rate * since) * ((1 + rate * since) * value + since * velocity())


def _carried(problem: Problem, rate: float, parameters: Mapping[str, Any] | None = None) -> Edges:
    """The same in a box, as a function of t and x, …."""
    given = problem.parameters if parameters is None else parameters

    def start(t: Array, space: list[Array]) -> Array:
        value = problem.to_components(problem.initial_values(space, given))
        since = (t - problem.start)[:, None]
        return swung(
            rate, since, value, lambda: problem.to_components(problem.initial_velocities(space, given))
        )

    held = {(side.part, c) for side in problem.sides for c in range(len(problem.components))}
    return join_edges(problem, held, given, with_layers(problem, held, given, start))
