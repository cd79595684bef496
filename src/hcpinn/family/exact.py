"""What a family has without interpolation: initial and boundary data, exact at every parameter.

    u(t, x; μ) = ψ(t, x; μ) + Σₖ ℓₖ(μ) Sₖ(t, x)

ψ carries the data and is evaluated at the parameters asked for; the Sₖ, which vanish at the start and where
data are prescribed, belong to the nodes μₖ of the interpolation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .. import jets
from ..evolution import Carrier, walled
from ..problem import Index, Problem
from ..trial.edges import join_edges
from ..trial.walls import Walls


class Exact:
    """ψ as a function of rows (t, x, …, μ, …), differentiable in all of them.

    Where nodes carry their initial data along as waves, ψ = G + e^{−Λ(t − t₀)} (u₀ − G) with the boundary
    data G; else it is u₀ with the boundary data added, as for a single solution.
    """

    def __init__(self, problem: Problem, names: Sequence[str], tail: float | None, fading: float = 0.0):
        """`problem` is closed; the parameters `names` come with the rows. `tail` is Λ, or None."""
        self.problem, self.names, self.tail, self.fading = problem, tuple(names), tail, fading

    def __call__(self, rows: Array) -> Array:
        """ψ at rows: points × components."""
        problem, count = self.problem, len(self.problem.axes)
        columns = {name: rows[:, count + n] for n, name in enumerate(self.names)}
        parameters = {**problem.parameters, **columns}
        t, *space = (rows[:, n] for n in range(count))
        if self.tail is None:
            return walled(problem, parameters, self.fading)(rows[:, :count])
        edges = join_edges(problem, Walls(problem).held, parameters)
        start = problem.to_components(problem.initial_values(space, parameters))
        begin = start - edges(jnp.full_like(t, problem.start), space)
        return edges(t, space) + jnp.exp(-self.tail * (t - problem.start))[:, None] * begin

    def derivative(self, rows: Array, index: Index) -> Array:
        """A derivative of ψ, by how often it is taken along each column of the rows."""
        return jets.nested(self, rows, [index])[index]


class Remains(eqx.Module):
    """The waves' part of Sₖ, Σ A (e^{s(t − t₀)} − e^{−Λ(t − t₀)}) e^{iκ(x − a)}, for each node k.

    It takes the place of a lift in an evolution whose components are those of all nodes, one after another.
    """

    numbers: Any
    """κ."""
    amplitudes: Any
    """Nodes × waves × modes × components."""
    rates: Any
    """Nodes × waves × modes; real where none of them turns."""
    start: float = eqx.field(static=True)
    low: float = eqx.field(static=True)
    tail: float = eqx.field(static=True)
    """Λ."""

    @property
    def most(self) -> int:
        """How many waves there are."""
        return len(self.numbers)

    @property
    def components(self) -> int:
        """Of all nodes."""
        return self.amplitudes.shape[0] * self.amplitudes.shape[-1]

    @classmethod
    def none(cls, components: int) -> Remains:
        """No waves, for so many components in all."""
        return cls(np.zeros(0), np.zeros((1, 0, 1, components), complex), np.zeros((1, 0, 1)), 0.0, 0.0, 0.0)

    @classmethod
    def of(cls, carriers: Sequence[Carrier], tail: float, spare: float) -> Remains:
        """The waves of all nodes, without those that together have no more than `spare` of the L² norm."""
        problem = carriers[0].problem
        waves = [carrier.waves for carrier in carriers if carrier.waves is not None]
        found: list[dict[float, list[int]]] = []
        for each in waves:
            own: dict[float, list[int]] = {}
            for row, number in enumerate(each.numbers[:, 0]):
                own.setdefault(round(float(number), 9), []).append(row)
            found.append(own)
        numbers = np.array(sorted({number for own in found for number in own}))
        modes = max((len(rows) for own in found for rows in own.values()), default=1)
        shape = (len(waves), len(numbers), modes)
        rates = np.zeros(shape, complex)
        amplitudes = np.zeros((*shape, len(problem.components)), complex)
        for node, (each, own) in enumerate(zip(waves, found, strict=True)):
            for place, number in enumerate(numbers):
                rows = own.get(float(number), [])
                rates[node, place, : len(rows)] = each.rates[rows]
                amplitudes[node, place, : len(rows)] = each.amplitudes[rows]
        size = np.max(np.sum(np.abs(amplitudes) ** 2, axis=(2, 3)), axis=0) * problem.domain.lengths[0]
        ascending = np.argsort(size)
        few = np.sort(ascending[np.searchsorted(np.cumsum(size[ascending]), spare**2) :])
        kept = rates[:, few]
        kept = kept if np.imag(kept).any() else np.real(kept)
        low = problem.domain.lower[0]
        return cls(numbers[few], amplitudes[:, few], kept, problem.start, low, tail)

    def folded(self, weights: np.ndarray) -> Remains:
        """One node in the place of all, with so much of each."""
        if not self.most:
            return Remains.none(self.amplitudes.shape[-1] // len(weights))
        nodes, waves, modes, components = self.amplitudes.shape
        amplitudes = np.moveaxis(self.amplitudes * weights[:, None, None, None], 0, 1)
        rates = np.moveaxis(self.rates, 0, 1)
        return Remains(
            self.numbers,
            amplitudes.reshape(1, waves, nodes * modes, components),
            rates.reshape(1, waves, nodes * modes),
            self.start,
            self.low,
            self.tail,
        )

    def derivative(self, points: Array, index: Index) -> Array:
        """A derivative at points: points × (nodes · components)."""
        if not self.most:
            return jnp.zeros((len(points), self.components), points.dtype)
        since = points[:, 0] - self.start
        rates = jnp.asarray(self.rates)
        faded = (-self.tail) ** index[0] * jnp.exp(-self.tail * since)[:, None, None, None]
        moved = rates ** index[0] * jnp.exp(rates * since[:, None, None, None]) - faded
        turned = jnp.exp(1j * (points[:, 1:2] - self.low) * self.numbers) * (1j * self.numbers) ** index[1]
        total = jnp.einsum("pkwm,kwmc,pw->pkc", moved.astype(complex), jnp.asarray(self.amplitudes), turned)
        return jnp.real(total).reshape(len(points), -1).astype(points.dtype)

    def on_grid(self, times: np.ndarray, axes: Sequence[np.ndarray], index: Index) -> np.ndarray:
        """A derivative on a grid: (nodes · components) × times × x × y × z."""
        if not self.most:
            return np.zeros((self.components, len(times), *map(len, axes)))
        since = np.asarray(times, float) - self.start
        faded = (-self.tail) ** index[0] * np.exp(-self.tail * since)[:, None, None, None]
        moved = self.rates ** index[0] * np.exp(self.rates * since[:, None, None, None]) - faded
        (x,) = axes
        turned = (
            np.exp(1j * np.outer(np.asarray(x) - self.low, self.numbers)) * (1j * self.numbers) ** index[1]
        )
        found = np.einsum("tkwm,kwmc->kctw", moved, self.amplitudes, optimize=True)
        return np.real(found @ turned.T).reshape(self.components, len(times), len(x))
