"""The outcome on a region: u(t, x) = ψ(t, x) + Σ cⱼ(t) φⱼ(x), with all derivatives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...machine.precision import double
from ...problem import Index, Problem, Shape
from ..lift import Added, Carrier
from ..radau import Track, scheme
from .layer import RegionLayer
from .system import RegionSystem

_BATCH = 64

_ARRAYS = "weights", "biases", "centres", "widths", "mix"
"""What a file holds of a layer."""


class RegionFunction(eqx.Module):
    """u(t, x), traceable: usable inside `jit`, `grad` and `vmap`."""

    layers: tuple[RegionLayer, ...]
    """One for each component."""
    edges: Any
    """The ends of the time steps."""
    powers: tuple[Any, ...]
    """For each component c on each step in powers of 2 (t − tₖ)/h − 1: steps × powers × functions."""
    carrier: Carrier = eqx.field(static=True)
    engine: ClassVar[str] = "evolution on a region"

    @property
    def parameters(self) -> Any:
        """The output weights over time."""
        return self.powers

    def __call__(self, points: Float[Array, "points axes"]) -> Float[Array, "points components"]:
        """u at points, t in the first column."""
        return self.derivative(points, (0,) * points.shape[1])

    def derivative(
        self, points: Float[Array, "points axes"], index: Index
    ) -> Float[Array, "points components"]:
        """A derivative of u at points, by how often it is taken along t, x, …."""
        own = jax.tree.map(lambda a: jnp.asarray(a, points.dtype), self)
        return _derivative(own, points, tuple(index))

    def _derivative(self, points: Array, index: Index) -> Array:
        def at(point: Array) -> Array:
            step = jnp.clip(jnp.searchsorted(self.edges, point[0], side="left") - 1, 0, len(self.edges) - 2)
            length = self.edges[step + 1] - self.edges[step]
            share = 2 * (point[0] - self.edges[step]) / length - 1
            result = []
            for layer, powers in zip(self.layers, self.powers, strict=True):
                weights = jnp.stack(_weights(share, powers.shape[1], index[0]))
                own = jnp.tensordot(weights * (2 / length) ** index[0], powers[step], 1)
                (functions,) = layer.derivatives(point[None, 1:], [index[1:]])
                result.append(functions[0] @ own)
            return jnp.stack(result)

        network = jax.lax.map(at, points, batch_size=min(_BATCH, len(points)))
        return network + self.carrier.derivative(points, index)

    def on_points(self, times: np.ndarray, points: np.ndarray, index: Index) -> np.ndarray:
        """A derivative at some points at all times: component × time × point (NumPy)."""
        step = np.clip(np.searchsorted(self.edges, times, side="left") - 1, 0, len(self.edges) - 2)
        length = np.diff(self.edges)[step]
        share = 2 * (times - self.edges[step]) / length - 1
        with double():
            psi = self.carrier.of([index]).on(points)(np.asarray(times, float))[0]
        found = []
        for number, (layer, powers) in enumerate(zip(self.layers, self.powers, strict=True)):
            weights = (
                np.stack(_weights(share, powers.shape[1], index[0]), 1) * (2 / length)[:, None] ** index[0]
            )
            coefficients = np.einsum("tq,tqr->tr", weights, np.asarray(powers)[step])
            (functions,) = layer.at(points, [index[1:]])
            own = (functions @ np.asarray(layer.mix)) @ coefficients.T
            found.append((own + psi[number]).T)
        return np.stack(found)

    def on_grid(self, times: np.ndarray, *axes: np.ndarray, index: Index | None = None) -> np.ndarray:
        """A derivative on a grid: component × time × x × y × z; NaN outside the region."""
        mesh = np.stack([m.ravel() for m in np.meshgrid(*axes, indexing="ij")], axis=1).astype(float)
        domain = self.carrier.problem.domain
        inside = domain.mask(mesh)
        shape = (len(self.layers), len(times), *(len(a) for a in axes))
        result = np.full((len(self.layers), len(times), len(mesh)), np.nan)
        if inside.any():
            index = index or (0,) * (1 + len(axes))
            result[..., inside] = self.on_points(np.asarray(times, float), mesh[inside], index)
        return result.reshape(shape)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything but the problem as plain arrays, for a file; `from_arrays` takes them back."""
        arrays = {"edges": np.asarray(self.edges)}
        for number, (layer, powers) in enumerate(zip(self.layers, self.powers, strict=True)):
            arrays |= {
                f"powers.{number}": np.asarray(powers),
                **{f"layer.{number}.{name}": np.asarray(getattr(layer, name)) for name in _ARRAYS},
                f"layer.{number}.gated": np.array([part in layer.gated for part in layer.domain.parts]),
            }
        return arrays

    @classmethod
    def from_arrays(
        cls, problem: Problem, arrays: Mapping[str, np.ndarray], added: Added | None = None
    ) -> RegionFunction:
        """The function that `to_arrays` took apart, for the same problem and what was added to its lift."""
        layers, powers = [], []
        for number in range(len(problem.components)):
            sampled = {name: np.asarray(arrays[f"layer.{number}.{name}"]) for name in _ARRAYS}
            gated = np.asarray(arrays[f"layer.{number}.gated"])
            parts = tuple(p for p, own in zip(problem.domain.parts, gated, strict=True) if own)
            layers.append(RegionLayer(**sampled, domain=cast(Shape, problem.domain), gated=parts))
            powers.append(np.asarray(arrays[f"powers.{number}"]))
        with double():
            carrier = Carrier(problem, added=added)
            return cls(tuple(layers), np.asarray(arrays["edges"]), tuple(powers), carrier)


@eqx.filter_jit
def _derivative(function: RegionFunction, points: Array, index: Index) -> Array:
    return function._derivative(points, index)


def _weights(share: Any, count: int, order: int) -> list[Any]:
    """The derivatives of the powers of a share."""
    return [math.perm(q, order) * share ** (q - order) if q >= order else 0 * share for q in range(count)]


def assemble(system: RegionSystem, track: Track) -> RegionFunction:
    """The function that a track of output weights makes, with the functions that carry data on slopes."""
    nodes = np.concatenate([[0.0], scheme(track.stages).nodes])
    powers = track.powers()
    parts = []
    for number, basis in enumerate(system.bases):
        own = powers[..., system.edges[number] : system.edges[number + 1]] @ basis.null.T
        if basis.held:
            own = own + _carried(system, number, track, nodes, own.shape[1])
        parts.append(own)
    layers = tuple(basis.layer for basis in system.bases)
    return RegionFunction(layers, np.asarray(track.times), tuple(parts), system.carrier)


def _carried(system: RegionSystem, number: int, track: Track, nodes: np.ndarray, count: int) -> np.ndarray:
    """R h(t) on each step as a polynomial through its values at as many Chebyshev points as c has powers."""
    basis, edges = system.bases[number], np.asarray(track.times)
    if not system._moves:
        still = basis.reach @ system.missing(number, edges[:1])
        found = np.zeros((track.steps, count, len(still)))
        found[:, 0] = still[:, 0]
        return found
    places = -np.cos(np.pi * np.arange(count) / (count - 1))
    shape = np.linalg.inv(np.vander(places, increasing=True))
    times = edges[:-1, None] + (places + 1) / 2 * np.diff(edges)[:, None]
    data = basis.reach @ system.missing(number, times.ravel())
    return np.einsum("pq,rkq->kpr", shape, data.reshape(len(data), *times.shape))
