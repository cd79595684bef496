"""Points in chunks, so that memory stays bounded and the working set stays in cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .term import Block, repeat_last

_CACHE_BYTES = {"cpu": 2 << 20, "gpu": 1 << 30}
"""Size of one layer's jet up to which a chunk of points is fast: in cache, or simply in memory."""

_JACOBIAN_BYTES = 1 << 28
"""How much of a Jacobian is held at once."""


def in_chunks(tree: Any, chunk: int) -> Any:
    """Arrays over points as (chunks, points in a chunk, …); the last chunk repeats its last point."""
    count = jax.tree.leaves(tree)[0].shape[0]
    chunks = -(-count // chunk)
    size = -(-count // chunks)
    filled = repeat_last(tree, chunks * size)
    return jax.tree.map(lambda a: a.reshape(chunks, size, *a.shape[1:]), filled)


def join_chunks(values: Array, count: int) -> Array:
    """The values at points from those in chunks, without the points that only pad the last one."""
    return values.reshape(-1, *values.shape[2:])[:count]


def summed(
    function: Callable[..., tuple[Any, Any]],
    theta: Array,
    parameters: dict[str, Array],
    block: Block,
    scale: Array,
    *,
    chunk: int,
) -> tuple[Any, Any]:
    """Sums over points and values at points, a chunk of points at a time.

    Args:
        function: `function(theta, parameters, block, scale)` gives both.
        theta: the network's parameters.
        parameters: the problem's.
        block: the points.
        scale: what each of them counts.
        chunk: how many are done at once.
    """
    count = block.share.size
    if count <= chunk:
        return function(theta, parameters, block, scale)
    blocks, scales = in_chunks((block, scale), chunk)
    padding = jnp.arange(scales.size).reshape(scales.shape) >= count
    chunks = blocks, jnp.where(padding, 0.0, scales)
    first = jax.tree.map(lambda array: array[0], chunks)
    shapes, _ = jax.eval_shape(function, theta, parameters, *first)

    def add(sums: Any, chunk: tuple[Block, Array]) -> tuple[Any, Any]:
        more, values = function(theta, parameters, *chunk)
        return jax.tree.map(jnp.add, sums, more), values

    zero = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes)
    sums, values = jax.lax.scan(add, zero, chunks)
    return sums, jax.tree.map(lambda a: join_chunks(a, count), values)


def jacobian_chunk(size: int, outputs: int, itemsize: int) -> int:
    """How many points' rows of a Jacobian with `size` columns are held at once."""
    return int(np.clip(_JACOBIAN_BYTES // (size * itemsize * outputs), 64, 4096))


def chunk_size(*, width: int, indices: int, itemsize: int, runs: int, platform: str) -> int:
    """How many points to take through the network at once.

    Args:
        width: of its layers.
        indices: how many derivatives are carried along.
        itemsize: bytes of a number.
        runs: how many train together.
        platform: 'cpu' or 'gpu'.
    """
    budget = _CACHE_BYTES.get(platform, _CACHE_BYTES["gpu"])
    points = budget // (width * indices * itemsize * runs)
    return int(np.clip(2 ** int(np.log2(max(points, 1))), 256, 1 << 20))
