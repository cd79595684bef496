"""Sampled hidden layers along one axis, φ(x) = [g(x) tanh(A E(x) + b), g(x), p(x)] M, with all derivatives.

E(x) = [cos kθ, sin kθ], k = 1 … m, with θ = 2π(x − a)/(b − a) along a periodic axis, and E(x) = x − (a + b)/2
along any other. Functions of one coordinate are carried as Taylor coefficients, f(x + δ) = Σ fₖ δᵏ: products
become Cauchy products, and y = tanh z follows from y′ = (1 − y²) z′.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .walls import Wall

Series = list[Any]
"""Taylor coefficients f₀, f₁, …, each points × functions."""


class Layer(eqx.Module):
    """One hidden layer along one axis, and the output weights M that make its functions orthonormal."""

    weights: Any
    """A, inputs × neurons."""
    biases: Any
    mix: Any
    """M, (neurons + 1 + polynomials) × functions."""
    polynomials: Any
    """The coefficients of p in powers of ξ = (x − a)/(b − a), one row each."""
    low: float = eqx.field(static=True)
    high: float = eqx.field(static=True)
    periodic: bool = eqx.field(static=True)
    powers: tuple[int, int] = eqx.field(static=True)
    """p and q in g ∝ (x − a)ᵖ (b − x)^q, whose maximum is 1."""

    def derivatives(self, x: Any, order: int) -> Series:
        """φ, φ′, …, φ⁽ⁿ⁾ at positions x: arrays points × functions."""
        return [math.factorial(k) * (f @ self.mix) for k, f in enumerate(self.neurons(x, order))]

    def neurons(self, x: Any, order: int) -> Series:
        """The Taylor coefficients of [g(x) tanh(A E(x) + b), g(x), p(x)], before M."""
        xp = np if isinstance(x, np.ndarray) else jnp
        z = [e @ self.weights for e in self._embed(x, order, xp)]
        z[0] = z[0] + self.biases
        ones = xp.ones_like(x)[:, None]
        y = [xp.concatenate([f, ones if k == 0 else 0 * ones], 1) for k, f in enumerate(_tanh(z, xp))]
        if any(self.powers):
            y = product(y, self._gate(x, order), order)
        return [xp.concatenate([f, p], 1) for f, p in zip(y, self._polynomials(x, order, xp), strict=True)]

    def _embed(self, x: Any, order: int, xp: Any) -> Series:
        if not self.periodic:
            first = (x - (self.low + self.high) / 2)[:, None]
            return [first, xp.ones_like(first), *[0 * first] * (order - 1)][: order + 1]
        waves = np.arange(1, len(self.weights) // 2 + 1) * (2 * np.pi / (self.high - self.low))
        angle = (x - self.low)[:, None] * waves
        cosine, sine = xp.cos(angle), xp.sin(angle)
        turns = [(cosine, sine), (-sine, cosine), (-cosine, -sine), (sine, -cosine)]
        scales = [waves**k / math.factorial(k) for k in range(order + 1)]
        return [xp.concatenate([s * c for c in turns[k % 4]], 1) for k, s in enumerate(scales)]

    def _gate(self, x: Any, order: int) -> Series:
        length, (p, q) = self.high - self.low, self.powers
        one = 0 * x[:, None] + 1
        value: Series = [one * ((p + q) ** (p + q) / (p**p * q**q)), *[0 * one] * order]
        ends = [((x[:, None] - self.low) / length, 1 / length)] * p
        ends += [((self.high - x[:, None]) / length, -1 / length)] * q
        for distance, slope in ends:
            value = product(value, [distance, slope * one], order)
        return value

    def _polynomials(self, x: Any, order: int, xp: Any) -> Series:
        length, degree = self.high - self.low, self.polynomials.shape[1] - 1
        share = ((x - self.low) / length)[:, None]
        powers = [xp.ones_like(share)]
        for _ in range(degree):
            powers.append(powers[-1] * share)
        found = []
        for k in range(order + 1):
            rows = [math.comb(n, k) * powers[n - k] for n in range(k, degree + 1)]
            table = xp.concatenate(rows, 1) if rows else 0 * share
            value = table @ (self.polynomials[:, k:] if rows else self.polynomials[:, :1]).T
            found.append(value / length**k)  # last, so that whole numbers cancel without rounding
        return found


class Layers(eqx.Module):
    """The layers of all components along one axis: one for all, or one for each kind of walls."""

    kinds: tuple[Layer, ...]
    of: tuple[int, ...] = eqx.field(static=True)
    """Which each component has."""

    def derivatives(self, x: Any, order: int) -> Series:
        """φ, φ′, …, φ⁽ⁿ⁾ at positions x: points × functions, by component where there are several kinds."""
        each = [layer.derivatives(x, order) for layer in self.kinds]
        if len(each) == 1:
            return each[0]
        xp = np if isinstance(x, np.ndarray) else jnp
        return [xp.stack([series[kind] for kind in self.of]) for series in zip(*each, strict=True)]

    def chosen(self, numbers: np.ndarray) -> Layers:
        """The same layers with only these functions."""
        kinds = (dataclasses.replace(layer, mix=layer.mix[:, numbers]) for layer in self.kinds)
        return Layers(tuple(kinds), self.of)


def product(left: Series, right: Series, order: int) -> Series:
    """The Taylor coefficients of a product."""
    result = []
    for k in range(order + 1):
        terms = [left[j] * right[k - j] for j in range(len(left)) if 0 <= k - j < len(right)]
        result.append(sum(terms[1:], start=terms[0]))
    return result


def _tanh(z: Series, xp: Any) -> Series:
    """y = tanh z from y′ = (1 − y²) z′, coefficient by coefficient."""
    y = [xp.tanh(z[0])]
    v = [1 - y[0] * y[0]]
    for k in range(1, len(z)):
        y.append(sum(j * z[j] * v[k - j] for j in range(1, k + 1)) / k)
        if k + 1 < len(z):
            v.append(-sum(y[j] * y[k - j] for j in range(k + 1)))
    return y


def sample(
    count: int,
    low: float,
    high: float,
    *,
    periodic: bool,
    wall: Wall,
    density: tuple[np.ndarray, np.ndarray] | None,
    steepest: float,
    rng: np.random.Generator,
) -> Layer:
    """A layer of `count` sampled neurons.

    Without a `density` the neurons cover the axis evenly; with one, (positions, values), half of them
    are fronts placed by it, with slopes up to `steepest`. More neurons are steeper.
    """
    length = high - low
    fronts = 0 if density is None else count // 2
    smooth = count - fronts
    modes = min(max(smooth // 20, 1), 4)  # few neurons span few waves
    if periodic:
        spread = max(smooth / 100, 0.3)
        weights = rng.standard_normal((2 * modes, smooth)) * spread / math.sqrt(2 * modes)
        biases = rng.standard_normal(smooth) * spread
    else:
        centres = low - 0.1 * length + 1.2 * length * _even(smooth, rng, 0)
        slopes = np.exp(_between(1.0, max(0.2 * smooth, 4.0), _even(smooth, rng, 1))) * 2 / length
        weights = slopes[None]
        biases = slopes * ((low + high) / 2 - centres)
    if fronts and density is not None:
        added = _fronts(fronts, low, high, periodic, density, steepest, rng)
        if periodic:
            more = np.zeros((2 * modes, fronts))
            more[[0, modes]] = added[0]
        else:
            more = added[0]
        weights = np.concatenate([weights, more], 1)
        biases = np.concatenate([biases, added[1]])
    mix = np.eye(count + 1 + len(wall.polynomials))
    return Layer(weights, biases, mix, wall.polynomials, low, high, periodic, wall.powers)


def _fronts(
    count: int,
    low: float,
    high: float,
    periodic: bool,
    density: tuple[np.ndarray, np.ndarray],
    steepest: float,
    rng: np.random.Generator,
    spread: float = 6.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Weights and biases of neurons with fronts where the density is high, by pairs along a periodic axis."""
    length = high - low
    x, values = density
    mass = np.concatenate([[0.0], np.cumsum((values[1:] + values[:-1]) / 2 * np.diff(x))])
    mass /= mass[-1]
    centres = np.interp(_even(count, rng, 0), mass, x)
    local = np.interp(centres, x, values)
    top = np.maximum(local, 8 / length) * steepest
    slopes = np.exp(_between(top / spread, top, _even(count, rng, 1)))
    if not periodic:
        return slopes[None], slopes * ((low + high) / 2 - centres)
    # tanh(S (cos(θ − c) − cos w)): fronts at c ± w with slope S sin w, the second one anywhere.
    turn = 2 * np.pi / length
    first = (centres - low) * turn
    half = np.pi * rng.uniform(0.45, 0.5, count) * rng.choice([-1, 1], count)
    steep = slopes / turn / np.abs(np.sin(half))
    middle = first - half
    return np.stack([steep * np.cos(middle), steep * np.sin(middle)]), -steep * np.cos(half)


def _even(count: int, rng: np.random.Generator, number: int) -> np.ndarray:
    """Evenly spread numbers in [0, 1), multiples of an irrational number shifted at random."""
    irrational = (0.7548776662466927, 0.5698402909980532)[number]
    return np.modf(rng.random() + irrational * np.arange(count))[0]


def _between(low: Any, high: Any, share: np.ndarray) -> np.ndarray:
    return np.log(low) + share * (np.log(high) - np.log(low))
