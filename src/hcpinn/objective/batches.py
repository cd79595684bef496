"""Mini-batches: each step looks at some of the points, each epoch at all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from ..errors import MethodError
from .data import Data
from .objective import RESIDUAL
from .term import Block


@dataclass(frozen=True)
class Batches:
    """`count` batches of `size` residual points make an epoch; the points are shuffled before each.

    Where count · size exceeds the number of points, an epoch visits the first few twice:
    5 batches of 3,280 out of 16,384 points repeat 16 of them.
    """

    count: int = 5
    size: int = 3280

    def __post_init__(self) -> None:
        if not all(isinstance(n, int) and n >= 1 for n in (self.count, self.size)):
            raise MethodError(
                f"Mini-batches need a count and a size of at least 1, not {self.count!r} and {self.size!r}."
            )

    def check(self, points: int) -> None:
        """Refuse numbers with which an epoch would miss points, or a batch hold one twice."""
        if not (self.size <= points <= self.count * self.size and self.count * self.size - points < points):
            raise MethodError(
                f"{self.count} mini-batches of {self.size:,} do not make an epoch of {points:,} points: "
                "every point must be visited, few of them twice, and none twice within a batch. Take a size "
                f"of {-(-points // self.count):,}, or another count."
            )

    def indices(self, key: Array, points: int, first: Any, steps: int) -> Int[Array, "steps size"]:
        """The points of `steps` steps in a row, the first of which has the number `first` in its stage."""
        start = first // self.count
        epochs = start + jnp.arange(steps // self.count + 2)
        words = jax.random.wrap_key_data(key)

        def order(epoch: Array) -> Array:
            shuffled = jax.random.permutation(jax.random.fold_in(words, epoch), points)
            whole = jnp.concatenate([shuffled, shuffled[: self.count * self.size - points]])
            return whole.reshape(self.count, self.size)

        rows = jax.vmap(order)(epochs).reshape(-1, self.size)
        return jax.lax.dynamic_slice_in_dim(rows, first - start * self.count, steps)


def take_batch(data: Data, at: Int[Array, " size"]) -> Data:
    """The data with only some of the residual's points."""
    block = data.blocks[RESIDUAL]
    some = jax.tree.map(lambda a: a[at], block)
    share = jnp.full(at.shape, 1.0 / at.size, block.share.dtype)
    blocks = {**data.blocks, RESIDUAL: Block(some.fixed, some.target, share)}
    return Data(blocks, data.parameters, data.span, data.key)
