"""The best rates of this machine, from which the floor of a step follows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ..machine.precision import double
from .counts import Work

_SIZES = {
    "cpu": {"square": (256, 512, 1024), "tall": (4096, 64), "elements": 1 << 18, "stream": 1 << 28},
    "gpu": {"square": (2048, 4096), "tall": (1 << 18, 64), "elements": 1 << 24, "stream": 1 << 30},
}
"""Sizes large enough to be fast: sides of square products, points and width of a layer, elements of
arithmetic, and bytes of a stream that fits in no cache."""

_CHAINS, _LENGTH = 8, 32
"""Independent chains of multiply–adds per element, and their length: enough to hide latency and memory."""


@dataclass(frozen=True)
class Ceilings:
    """The best rates measured in one precision."""

    precision: str
    products: float
    """Operations per second within matrix products."""
    arithmetic: float
    """Elementwise operations per second, measured with multiply–adds in registers."""
    functions: float
    """tanh per second."""
    bandwidth: float
    """Bytes per second, to and from memory."""

    def floor(self, work: Work) -> float:
        """The least seconds the work can take: computing at the best rates, or moving its data."""
        computing = (
            work.products / self.products
            + work.arithmetic / self.arithmetic
            + work.functions / self.functions
        )
        return max(computing, work.bytes / self.bandwidth)

    def __str__(self) -> str:
        return (
            f"{self.products / 1e9:,.0f} GFLOP/s in matrix products, {self.arithmetic / 1e9:,.0f} GFLOP/s "
            f"elementwise, {self.functions / 1e9:.3g} G tanh/s, {self.bandwidth / 1e9:,.0f} GB/s"
        )


def measure_ceilings(precision: str, *, rounds: int = 5, seconds: float = 0.1) -> Ceilings:
    """Measure the best rates in a precision: the fastest of several rounds of about `seconds` each."""
    sizes = _SIZES.get(jax.default_backend(), _SIZES["gpu"])
    with double():
        dtype = jnp.dtype(precision)

        def rate(amount: float, function: Callable[[Any], Any], start: Any) -> float:
            return amount / _fastest(function, start, rounds, seconds)

        def product(rows: int, side: int) -> float:
            weight = jnp.eye(side, dtype=dtype)
            start = jnp.ones((rows, side), dtype)
            return rate(2.0 * rows * side**2, lambda x: x @ weight, start)

        shapes = [(side, side) for side in sizes["square"]] + [sizes["tall"]]
        elements = jnp.linspace(0.1, 0.9, sizes["elements"], dtype=dtype)
        stream = jnp.ones(sizes["stream"] // dtype.itemsize, dtype)
        return Ceilings(
            precision,
            products=max(product(*shape) for shape in shapes),
            arithmetic=rate(2.0 * _CHAINS * _LENGTH * elements.size, _multiply_adds, elements),
            functions=rate(8.0 * elements.size, _tanhs, elements),
            bandwidth=rate(2.0 * stream.nbytes, lambda x: x + 1, stream),
        )


def _multiply_adds(x: Any) -> Any:
    chains = [x + 0.01 * number for number in range(_CHAINS)]
    for _ in range(_LENGTH):
        chains = [chain * x + 0.5 for chain in chains]
    return sum(chains[1:], chains[0]) * 1e-3


def _tanhs(x: Any) -> Any:
    for _ in range(8):
        x = jnp.tanh(x)
    return x


def _fastest(function: Callable[[Any], Any], start: Any, rounds: int, seconds: float) -> float:
    """Seconds per call in the fastest round, with many calls in one program."""
    # In place, or memory allocation would be measured instead.
    repeat = jax.jit(
        lambda x, count: jax.lax.fori_loop(0, count, lambda _, y: function(y), x), donate_argnums=0
    )
    state = jnp.array(start)

    def spent(count: int) -> float:
        nonlocal state
        began = time.perf_counter()
        state = jax.block_until_ready(repeat(state, count))
        return time.perf_counter() - began

    spent(1)
    count = 1
    while (taken := spent(count)) < 0.5 * seconds:
        count = max(2 * count, int(count * seconds / max(taken, 1e-6)))
    return min(taken, *(spent(count) for _ in range(rounds))) / count
