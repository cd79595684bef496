"""u(t, x; μ) as a function that JAX can differentiate in all of them, and u(t, x) at some parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .. import jets
from ..evolution import Carrier, Function, Solved, assemble
from ..problem import Index, Problem
from .exact import Exact, Remains
from .interpolation import Interpolation
from .resampling import resampled

_BATCH = 1 << 14


@dataclasses.dataclass(frozen=True)
class _Nothing:
    """In the place of a lift: zero, for so many components."""

    components: int
    most: int = 0

    def derivative(self, points: Array, index: Index) -> Array:
        return jnp.zeros((len(points), self.components), points.dtype)

    def on_grid(self, times: np.ndarray, axes: Sequence[np.ndarray], index: Index) -> np.ndarray:
        return np.zeros((self.components, len(times), *map(len, axes)))


class Network(eqx.Module):
    """Σ c(t) φ(x) and the waves' remains, for the components of one node or of many."""

    layers: Any
    edges: Any
    powers: Any
    remains: Remains

    def derivative(self, points: Array, index: Index) -> Array:
        """A derivative at points (t in the first column): points × components."""
        return self._function._derivative(points, index) + self.remains.derivative(points, index)

    def on_grid(self, times: np.ndarray, axes: Sequence[np.ndarray], index: Index) -> np.ndarray:
        """A derivative on a grid: components × times × x × y × z."""
        return self._function.on_grid(times, *axes, index=index) + self.remains.on_grid(times, axes, index)

    @property
    def _function(self) -> Function:
        nothing: Any = _Nothing(self.powers.shape[2])
        return Function(self.layers, self.edges, self.powers, nothing)

    def folded(self, weights: np.ndarray) -> Network:
        """One node in the place of all, with so much of each."""
        steps, count, components, *rest = self.powers.shape
        own = components // len(weights)
        powers = np.asarray(self.powers).reshape(steps, count, len(weights), own, *rest)
        layers = tuple(dataclasses.replace(layer, of=layer.of[:own]) for layer in self.layers)
        powers = np.einsum("sqkc...,k->sqc...", powers, weights)
        return Network(layers, self.edges, powers, self.remains.folded(weights))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything as plain arrays, for a file."""
        own = self.remains
        return self._function.to_arrays() | {
            "remains.numbers": np.asarray(own.numbers),
            "remains.amplitudes": np.asarray(own.amplitudes),
            "remains.rates": np.asarray(own.rates),
            "remains.facts": np.array([own.start, own.low, own.tail]),
        }

    @classmethod
    def from_arrays(cls, problem: Problem, arrays: Mapping[str, np.ndarray]) -> Network:
        """The network that `to_arrays` took apart."""
        plain = Function.from_arrays(problem, arrays)
        numbers, amplitudes, rates = (
            np.asarray(arrays[f"remains.{name}"]) for name in ("numbers", "amplitudes", "rates")
        )
        start, low, tail = map(float, arrays["remains.facts"])
        remains = Remains(numbers, amplitudes, rates, start, low, tail)
        return cls(plain.layers, plain.edges, plain.powers, remains)


class Member(eqx.Module):
    """u(t, x) at one set of parameters: what an ordinary solution of a family holds."""

    network: Network
    values: Any
    """The parameters."""
    exact: Exact = eqx.field(static=True)
    engine: ClassVar[str] = "family"

    @property
    def parameters(self) -> Any:
        """The output weights over time."""
        return self.network.powers

    def derivative(self, points: Array, index: Index) -> Array:
        """A derivative at points (t in the first column): points × components."""
        return _member(self, points, tuple(index))

    def on_grid(self, times: np.ndarray, *axes: np.ndarray, index: Index | None = None) -> np.ndarray:
        """A derivative on the grid of all times and positions: component × time × x × y × z (NumPy)."""
        index = index or (0,) * (1 + len(axes))
        mesh = np.meshgrid(times, *axes, indexing="ij")
        points = np.stack([m.ravel() for m in mesh], axis=1)
        parts = [
            np.asarray(
                _exact(self.exact, jnp.asarray(points[n : n + _BATCH]), jnp.asarray(self.values), index)
            )
            for n in range(0, len(points), _BATCH)
        ]
        carried = np.concatenate(parts).T.reshape(-1, *mesh[0].shape)
        return carried + self.network.on_grid(np.asarray(times, float), axes, index)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything but the problem as plain arrays, for a file."""
        facts = np.array([np.nan if self.exact.tail is None else self.exact.tail, self.exact.fading])
        return self.network.to_arrays() | {"exact": facts}

    @classmethod
    def from_arrays(cls, problem: Problem, arrays: Mapping[str, np.ndarray]) -> Member:
        """The function that `to_arrays` took apart, for the same problem."""
        return cls(Network.from_arrays(problem, arrays), np.zeros(0), exact_of(problem, (), arrays))


def exact_of(problem: Problem, names: Sequence[str], arrays: Mapping[str, np.ndarray]) -> Exact:
    """ψ from the two numbers that a file holds."""
    tail, fading = map(float, arrays["exact"])
    return Exact(problem, names, None if np.isnan(tail) else tail, fading)


class FamilyFunction(eqx.Module):
    """u(t, x; μ)."""

    network: Network
    """Of all nodes, one after another."""
    interpolation: Interpolation = eqx.field(static=True)
    exact: Exact = eqx.field(static=True)

    def derivative(
        self, points: Array, values: Array, rows: tuple[Any, Any], index: Index, along: Index
    ) -> Array:
        """A derivative at combinations of points and parameters, traceable.

        Args:
            points: P rows (t, x, …).
            values: M rows of parameters.
            rows: which point and which parameters belong to each of the R rows of the result.
            index: how often the derivative is taken along t, x, ….
            along: how often along each parameter.
        """
        return _combined(self, points, values, rows, index, along)

    def at(self, values: Sequence[float]) -> Member:
        """u(t, x) at some parameters."""
        own = np.asarray(values, float)
        return Member(self.network.folded(self.interpolation.weights(own[None])[0]), own, self.exact)


def _rows(points: Array, values: Array) -> Array:
    return jnp.concatenate([points, jnp.broadcast_to(values, (len(points), values.shape[-1]))], axis=1)


@eqx.filter_jit
def _exact(exact: Exact, points: Array, values: Array, index: Index) -> Array:
    own = values.astype(points.dtype)
    return exact.derivative(_rows(points, own), (*index, *(0 for _ in exact.names)))


@eqx.filter_jit
def _member(member: Member, points: Array, index: Index) -> Array:
    return member.network.derivative(points, index) + _exact(
        member.exact, points, jnp.asarray(member.values), index
    )


@eqx.filter_jit
def _combined(
    family: FamilyFunction,
    points: Array,
    values: Array,
    rows: tuple[Any, Any],
    index: Index,
    along: Index,
) -> Array:
    which_point, which_values = rows
    each = family.network.derivative(points, index)
    each = each.reshape(len(points), len(family.interpolation), -1)
    weights = jets.nested(family.interpolation.weights, values, [along])[along]
    own = jnp.concatenate([points[which_point], values[which_values]], axis=1)
    if len(points) == 1:
        network = (weights @ each[0])[which_values]
    else:
        network = jnp.einsum("rkc,rk->rc", each[which_point], weights[which_values])
    return network + family.exact.derivative(own, (*index, *along))


def join(
    exact: Exact,
    interpolation: Interpolation,
    nodes: Sequence[Solved],
    carriers: Sequence[Carrier],
    edges: Sequence[float],
    spare: float,
) -> FamilyFunction:
    """The function that the solutions at all nodes make, with an error of up to `spare` relative to u.

    Steps end at least at the `edges`.
    """
    projection = nodes[0].projection
    track = resampled(nodes, edges, spare)
    spare *= float(min(n.projection.scale.min() for n in nodes))
    layers = [dataclasses.replace(own.layers, of=tuple(own.of) * len(nodes)) for own in projection.bases]
    components = len(exact.problem.components)
    if carriers[0].waves is None:
        remains = Remains.none(components * len(nodes))
    else:
        remains = Remains.of(carriers, carriers[0].waves.tail_rate, spare)
    nothing: Any = _Nothing(components * len(nodes))
    plain, _ = assemble(nothing, layers, track, components * len(nodes), spare)
    return FamilyFunction(Network(plain.layers, plain.edges, plain.powers, remains), interpolation, exact)
