"""Sampled hidden layers over a region, φ(x) = g(x) [tanh(A E(x) + b), exp(−|(E(x) − c) / s|² / 2), 1] M.

E(x) are the coordinates, scaled to the region's size, and at re-entrant corners of angle ω also r^α cos αθ
and r^α sin αθ, α = π/ω: all that is singular there is smooth in them. The gate g vanishes where values are
prescribed. Bells on a lattice c resolve what is as wide as its spacing, and lose little where conditions at
the boundary take some of them away; flat neurons bring the digits of smooth solutions. Steep neurons rise
between pairs of points, as in SWIM (Bolager et al., 2023).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ... import jets
from ...jets import Jet
from ...machine.precision import double
from ...problem import Index, Shape

_CHUNK = 512

_STEEP = (0.3, 2.0)
"""Slopes of smooth neurons over the region's size: the least, and the most for a hundred of them."""

_FLAT = 0.25
"""The share of neurons among smooth features; the others are bells."""

_WIDTH = 1.4, 0.09
"""Widths s of bells over their spacing, and how much more each digit takes: wider ones carry more of them."""

_MARGIN = 1.5
"""How far outside of the region bells stand, over their spacing."""


class RegionLayer(eqx.Module):
    """One hidden layer over a region, and the output weights M that make its functions orthonormal."""

    weights: Any
    """A, inputs × neurons."""
    biases: Any
    centres: Any
    """c, inputs × bells."""
    widths: Any
    """s along each input."""
    mix: Any
    """M, (neurons + bells + 1) × functions."""
    domain: Shape = eqx.field(static=True)
    gated: tuple[str, ...] = eqx.field(static=True)
    """The parts on which the functions vanish."""

    def derivatives(self, points: Any, indices: Sequence[Index]) -> list[Any]:
        """Derivatives of φ at points, each points × functions, by how often they are taken along x, y, …."""
        found = self.neurons(points, indices)
        return [f @ self.mix for f in found]

    def neurons(self, points: Any, indices: Sequence[Index]) -> list[Any]:
        """Derivatives of g [tanh(A E + b), exp(−|(E − c) / s|² / 2), 1], before M."""
        below = jets.closure(indices)
        embedded = jets.nested(self._embed, points, below)
        rising = jets.compose(jets.tanh(), jets.linear(embedded, self.weights, self.biases), below)
        bells = jets.compose(jets.exponential(), self._exponent(embedded, below), below)
        zero = (0,) * points.shape[1]
        ones = jnp.ones_like(points[:, :1])
        hidden = {
            index: jnp.concatenate([rising[index], bells[index], ones if index == zero else 0 * ones], axis=1)
            for index in below
        }
        if self.gated:
            gate = jets.nested(lambda p: self.domain.edge_factor(self.gated, p)[:, None], points, below)
            hidden = jets.product(gate, hidden, tuple(indices))
        return [hidden[index] for index in indices]

    def _exponent(self, embedded: Jet, indices: Sequence[Index]) -> Jet:
        """−|(E − c) / s|² / 2, from differences: the small functions of a basis magnify rounding."""
        total: Jet = {}
        for number, (row, width) in enumerate(zip(self.centres, self.widths, strict=True)):
            one = jnp.zeros_like(self.centres).at[number].set(1 / width)
            away = jets.linear(embedded, one, -row / width)
            total = jets.add(total, jets.product(away, away, indices))
        return {index: -value / 2 for index, value in total.items()}

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
    accuracy: float,
) -> RegionLayer:
    """About `count` features, all smooth or half of them rising between `pairs`, two arrays of points."""
    steep = 0 if pairs is None else count // 2
    flat = round(_FLAT * (count - steep))
    inside = domain.embedded(domain.inside(rng.random((flat, domain.dimension))))
    direction = rng.standard_normal((flat, inside.shape[1]))
    direction[:, domain.dimension :] *= 0.7
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    low, high = _STEEP
    slopes = np.exp(rng.uniform(np.log(low), np.log(high * (flat / 100) ** 0.5 + low), flat))
    weights = direction * slopes[:, None]
    biases = -(weights * inside * 1.15).sum(1)
    if pairs is not None and steep:
        chosen = rng.integers(len(pairs[0]), size=steep)
        a, b = (domain.embedded(p[chosen]) for p in pairs)
        way = b - a
        rise = np.exp(rng.uniform(np.log(0.5), np.log(3.0), steep))
        own = way / (way**2).sum(1, keepdims=True) * rise[:, None]
        weights = np.concatenate([weights, own])
        biases = np.concatenate([biases, -(own * (a + b) / 2).sum(1)])
    places, spacing = lattice(domain, count - steep - flat, rng)
    centres = domain.embedded(places).T
    functions = len(biases) + centres.shape[1] + 1
    width = (_WIDTH[0] - _WIDTH[1] * math.log10(accuracy)) * spacing
    widths = np.full(len(centres), width / (max(domain.lengths) / 2))
    widths[: domain.dimension] *= max(domain.lengths) / np.array(domain.lengths)
    return RegionLayer(weights.T, biases, centres, widths, np.eye(functions), domain, tuple(gated))


def lattice(domain: Shape, count: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """About `count` points of a turned and shifted lattice over a region and a margin, and its spacing."""
    dimension, half = domain.dimension, max(domain.lengths) / 2
    turn, _ = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    shift = rng.random(dimension)
    middle = np.array([(low + high) / 2 for low, high in domain.bounds])
    around = [np.zeros(dimension), *(sign * row for row in turn for sign in (-1.0, 1.0))]
    around += [np.array(signs) @ turn for signs in itertools.product((-0.7, 0.7), repeat=dimension)]
    spacing, places = (domain.volume / count) ** (1 / dimension), middle[None]
    for _ in range(4):
        spacing *= max(len(places) / count, 0.1) ** (1 / dimension) if len(places) > 1 else 1.0
        reach = math.ceil(half * dimension**0.5 / spacing + _MARGIN) + 1
        steps = [np.arange(-reach, reach + 1)] * dimension
        grid = np.stack([m.ravel() for m in np.meshgrid(*steps, indexing="ij")], axis=1) + shift
        places = middle + spacing * grid @ turn
        near = np.zeros(len(places), bool)
        for way in around:
            near |= domain.contains(places + _MARGIN * spacing * way)
        places = places[near]
    return places, spacing
