"""Sampled hidden layers over a region, φ(x) = g(x) [tanh(A E(x) + b), 1] M, with all derivatives.

E(x) are the coordinates, scaled to the region's size, and at re-entrant corners of angle ω also r^α cos αθ
and r^α sin αθ, α = π/ω: all that is singular there is smooth in them. The gate g vanishes where values are
prescribed. Steep neurons rise between pairs of points, as in SWIM (Bolager et al., 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ... import jets
from ...machine.precision import double
from ...problem import Index, Shape

_CHUNK = 512

_STEEP = (0.3, 2.0)
"""Slopes of smooth features over the region's size: the least, and the most for a hundred of them."""


class RegionLayer(eqx.Module):
    """One hidden layer over a region, and the output weights M that make its functions orthonormal."""

    weights: Any
    """A, inputs × neurons."""
    biases: Any
    mix: Any
    """M, (neurons + 1) × functions."""
    domain: Shape = eqx.field(static=True)
    gated: tuple[str, ...] = eqx.field(static=True)
    """The parts on which the functions vanish."""

    def derivatives(self, points: Any, indices: Sequence[Index]) -> list[Any]:
        """Derivatives of φ at points, each points × functions, by how often they are taken along x, y, …."""
        found = self.neurons(points, indices)
        return [f @ self.mix for f in found]

    def neurons(self, points: Any, indices: Sequence[Index]) -> list[Any]:
        """Derivatives of g [tanh(A E + b), 1], before M."""
        below = jets.closure(indices)
        embedded = jets.nested(self._embed, points, below)
        hidden = jets.compose(jets.tanh(), jets.linear(embedded, self.weights, self.biases), below)
        zero = (0,) * points.shape[1]
        ones = jnp.ones_like(points[:, :1])
        hidden = {
            index: jnp.concatenate([value, ones if index == zero else 0 * ones], axis=1)
            for index, value in hidden.items()
        }
        if self.gated:
            gate = jets.nested(lambda p: self.domain.edge_factor(self.gated, p)[:, None], points, below)
            hidden = jets.product(gate, hidden, tuple(indices))
        return [hidden[index] for index in indices]

    def _embed(self, points: Array) -> Array:
        return self.domain.embedded(points)

    def at(self, points: np.ndarray, indices: Sequence[Index]) -> list[np.ndarray]:
        """`neurons` at many points, compiled (NumPy)."""
        size = max(1, -(-len(points) // _CHUNK)) * _CHUNK
        more = np.concatenate([points, np.broadcast_to(points[:1], (size - len(points), points.shape[1]))])
        with double():
            found = _in_chunks(self, jnp.asarray(more.reshape(-1, _CHUNK, points.shape[1])), tuple(indices))
        return [np.asarray(f).reshape(size, -1)[: len(points)] for f in found]


@eqx.filter_jit
def _in_chunks(layer: RegionLayer, chunks: Array, indices: tuple[Index, ...]) -> list[Array]:
    return jax.lax.map(lambda points: layer.neurons(points, indices), chunks)


def sample(
    domain: Shape,
    gated: Sequence[str],
    count: int,
    pairs: tuple[np.ndarray, np.ndarray] | None,
    rng: np.random.Generator,
) -> RegionLayer:
    """`count` neurons: all smooth, or half of them rising between `pairs` of points, two arrays of rows."""
    steep = 0 if pairs is None else count // 2
    smooth = count - steep
    inside = domain.embedded(domain.inside(rng.random((smooth, domain.dimension))))
    inputs = inside.shape[1]
    direction = rng.standard_normal((smooth, inputs))
    direction[:, domain.dimension :] *= 0.7
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    low, high = _STEEP
    top = high * (smooth / 100) ** (1 / 2)
    slopes = np.exp(rng.uniform(np.log(low), np.log(top), smooth))
    weights = direction * slopes[:, None]
    centres = inside * 1.15
    biases = -(weights * centres).sum(1)
    if pairs is not None and steep:
        chosen = rng.integers(len(pairs[0]), size=steep)
        a, b = (domain.embedded(p[chosen]) for p in pairs)
        way = b - a
        rise = np.exp(rng.uniform(np.log(0.5), np.log(3.0), steep))
        own = way / (way**2).sum(1, keepdims=True) * rise[:, None]
        weights = np.concatenate([weights, own])
        biases = np.concatenate([biases, -(own * (a + b) / 2).sum(1)])
    return RegionLayer(weights.T, biases, np.eye(count + 1), domain, tuple(gated))
