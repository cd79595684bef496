"""Jets: a function's value and derivatives at points, propagated forward in one pass.

A jet maps an index (how often it is differentiated along t, x, …) to an array with one
row per point. An index that is absent is identically zero, which the rules below exploit.
Sums over partitions (Faà di Bruno) and Leibniz' rule are worked out in Python while
tracing, so the compiler sees straight elementwise arithmetic and plain matrix products.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..equation.derivatives import Jet
from ..problem import Index


def closure(indices: Iterable[Index]) -> tuple[Index, ...]:
    """The indices and all their lower ones, lowest order first: what propagation needs."""
    below: set[Index] = set()
    for index in indices:
        below.update(itertools.product(*(range(n + 1) for n in index)))
    return tuple(sorted(below, key=lambda i: (sum(i), i)))


def product(left: Jet, right: Jet, indices: Iterable[Index]) -> Jet:
    """The jet of a product, by Leibniz' rule."""
    result: Jet = {}
    for index in indices:
        terms = []
        for lower in itertools.product(*(range(n + 1) for n in index)):
            rest = tuple(n - k for n, k in zip(index, lower, strict=True))
            if lower in left and rest in right:
                weight = math.prod(math.comb(n, k) for n, k in zip(index, lower, strict=True))
                term = left[lower] * right[rest]
                terms.append(term if weight == 1 else weight * term)
        if terms:
            result[index] = _sum(terms)
    return result


def add(left: Jet, right: Jet) -> Jet:
    """The jet of a sum."""
    result = dict(left)
    for index, value in right.items():
        result[index] = result[index] + value if index in result else value
    return result


def mixture(first: Jet, second: Jet, share: Jet, indices: Sequence[Index]) -> Jet:
    """The jet of (1 − z) a + z b, from those of a, b and z."""
    between = add(second, {index: -value for index, value in first.items()})
    return add(first, product(share, between, indices))


def linear(jet: Jet, weight: Float[Array, "inputs outputs"], bias: Float[Array, " outputs"]) -> Jet:
    """The jet of `y = x W + b`."""
    result = {index: value @ weight for index, value in jet.items()}
    zero = (0,) * len(next(iter(jet)))
    result[zero] = result[zero] + bias
    return result


class Activation(eqx.Module):
    """An elementwise function together with its derivatives."""

    value: Callable[[Array], Array]
    slopes: Callable[[Array, Array | None, int], list[Array]]
    """`slopes(y, z, n)` → [f′, …, f⁽ⁿ⁾], from the value y = f(z) and, if needed, from z."""
    from_value: bool
    """Whether the slopes follow from y alone, so that z need not be kept."""

    def __call__(self, z: Array) -> Array:
        return self.value(z)


def compose(activation: Activation, jet: Jet, indices: Sequence[Index]) -> Jet:
    """The jet of f(z), by Faà di Bruno's formula over `indices`.

    Everything after f itself is recomputed in the backward pass: that costs less than
    writing its many products to memory.
    """
    zero = (0,) * len(indices[0])
    inner = {index: value for index, value in jet.items() if index != zero}
    z = jet[zero]

    def combined(y: Array, z: Array | None, inner: Jet) -> Jet:
        return combine(activation, y, z, inner, indices)

    return jax.checkpoint(combined)(activation.value(z), None if activation.from_value else z, inner)


def combine(activation: Activation, y: Array, z: Array | None, inner: Jet, indices: Sequence[Index]) -> Jet:
    """The jet of f(z) from its value y, from z where the slopes need it, and from the derivatives of z."""
    zero = (0,) * len(indices[0])
    slopes = activation.slopes(y, z, max(sum(index) for index in indices))
    result: Jet = {zero: y}
    for index in indices:
        terms = []
        for weight, blocks in _partitions(index):
            if blocks and all(block in inner for block in blocks):
                term = slopes[len(blocks) - 1]
                for block in blocks:
                    term = term * inner[block]
                terms.append(term if weight == 1 else weight * term)
        if terms:
            result[index] = _sum(terms)
    return result


@cache
def tanh() -> Activation:
    """tanh, whose derivatives are polynomials in its value: f′ = 1 − f²."""

    def slopes(y: Array, z: Array | None, order: int) -> list[Array]:
        square = y * y
        first = 1.0 - square
        result = []
        for coefficients in _tanh_polynomials(order):
            odd = (len(coefficients) - 1) % 2
            even_part = coefficients[odd::2]
            factor: Array | float = float(even_part[-1])
            for c in reversed(even_part[:-1]):
                factor = factor * square + float(c)
            factor = factor * y if odd else factor
            result.append(first * factor)
        return result

    return Activation(jnp.tanh, slopes, from_value=True)


@cache
def sine() -> Activation:
    """sin, whose derivatives repeat: cos, −sin, −cos, sin."""

    def slopes(y: Array, z: Array | None, order: int) -> list[Array]:
        assert z is not None
        cosine = jnp.cos(z)
        cycle = [cosine, -y, -cosine, y]
        return [cycle[n % 4] for n in range(order)]

    return Activation(jnp.sin, slopes, from_value=False)


@cache
def exponential() -> Activation:
    """exp, its own derivative."""
    return Activation(jnp.exp, lambda y, z, order: [y] * order, from_value=True)


def elementwise(function: Callable[[Array], Array]) -> Activation:
    """Any smooth elementwise function, differentiated by JAX."""

    def slopes(y: Array, z: Array | None, order: int) -> list[Array]:
        assert z is not None
        result, current = [], function
        for _ in range(order):
            current = _slope(current)
            result.append(current(z))
        return result

    return Activation(function, slopes, from_value=False)


ACTIVATIONS: dict[str, Callable[[], Activation]] = {
    "tanh": tanh,
    "sin": sine,
    "gelu": lambda: elementwise(lambda z: jax.nn.gelu(z, approximate=False)),
    "swish": lambda: elementwise(jax.nn.swish),
}
"""Activation functions by name."""


def _slope(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda z: jax.jvp(function, (z,), (jnp.ones_like(z),))[1]


def _sum(terms: list[Array]) -> Array:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


@cache
def _tanh_polynomials(order: int) -> list[tuple[int, ...]]:
    """Coefficients of f⁽ⁿ⁾/(1 − f²) as polynomials in f = tanh, for n = 1 … order."""
    polynomials: list[tuple[int, ...]] = [(1,)]
    while len(polynomials) < order:
        # With f⁽ⁿ⁾ = (1 − f²) q, the next one is (1 − f²) [(1 − f²) q′ − 2 f q].
        q = polynomials[-1]
        following = [0] * (len(q) + 1)
        for power, c in enumerate(q):
            if power:
                following[power - 1] += power * c
            following[power + 1] -= (power + 2) * c
        polynomials.append(tuple(following))
    return polynomials


@cache
def _partitions(index: Index) -> list[tuple[int, tuple[Index, ...]]]:
    """Partitions of a derivative into blocks, alike ones counted together: (how many, blocks)."""
    labels = [axis for axis, n in enumerate(index) for _ in range(n)]
    counts: Counter[tuple[Index, ...]] = Counter()
    for partition in _set_partitions(labels):
        blocks = tuple(sorted(tuple(block.count(axis) for axis in range(len(index))) for block in partition))
        counts[blocks] += 1
    return [(count, blocks) for blocks, count in counts.items()]


def _set_partitions(labels: list[int]) -> Iterable[list[list[int]]]:
    if not labels:
        yield []
        return
    first, rest = labels[0], labels[1:]
    for partition in _set_partitions(rest):
        yield [[first], *partition]
        for i, block in enumerate(partition):
            yield [*partition[:i], [first, *block], *partition[i + 1 :]]
