"""A term of the loss: what should vanish at points, and what is computed there once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..trial import Fixed, OpenCondition, Trial, without_zeros

RESIDUAL = "residual"
"""The name of the equation's own term."""


class Block(eqx.Module):
    """What a term is computed from, one row per point in every array."""

    fixed: tuple[Fixed, ...]
    """The trial's fixed part, at one or more places per point."""
    target: Float[Array, "*runs points values"] | None
    """What the mismatch is measured against, where that is data."""
    share: Float[Array, "*runs points"]
    """Each point's share of the mean."""
    factors: Float[Array, "*runs points values indices"] | None = None
    """What each derivative of u is multiplied with, where that varies from point to point."""


@dataclass(frozen=True)
class Term:
    """One summand of the loss: weight · mean of squared mismatches."""

    name: str
    weight: float
    closes: OpenCondition | None
    """The condition it represents; None for the residual."""
    mismatch: Callable[[Trial, Any, Block, Mapping[str, Any]], Float[Array, "points values"]]
    """`mismatch(trial, network, block, parameters)`: what should vanish."""
    block: Callable[[Trial, int], Block] | None = None
    """`block(trial, seed)`: its points and the data there; None for the residual, whose points vary."""


def make_block(fixed: tuple[Fixed, ...], target: Array | None = None, *, pruned: bool = True) -> Block:
    """A block whose points share the mean equally."""
    count = fixed[0].coordinates.shape[0]
    share = jnp.full(count, 1.0 / count)
    return Block(tuple(without_zeros(f) if pruned else f for f in fixed), target, share)


def repeat_last(tree: Any, count: int) -> Any:
    """Arrays over points made up to `count` of them by repeating the last one."""

    def longer(array: Array) -> Array:
        more = (0, count - array.shape[0])
        return jnp.pad(array, (more, *[(0, 0)] * (array.ndim - 1)), mode="edge")

    return jax.tree.map(longer, tree)


def residual_block(
    trial: Trial, coordinates: Float[np.ndarray, "points axes"], *, chunk: int, pruned: bool = True
) -> Block:
    """The block of the residual at points, prepared `chunk` points at a time.

    Derivatives of lift and gate that vanish everywhere are left out if `pruned`; kept, blocks
    at different points have the same shape.
    """
    count = len(coordinates)
    chunks = -(-count // chunk)
    size = -(-count // chunks)
    filled = np.concatenate([coordinates, np.repeat(coordinates[:1], chunks * size - count, axis=0)])
    fixed = trial.fix_chunks(jnp.asarray(filled.reshape(chunks, size, -1)))
    leaves, structure = jax.tree.flatten(fixed)
    del fixed
    for number, leaf in enumerate(leaves):  # one after the other, so that only one of them is there twice
        leaves[number] = leaf.reshape(-1, *leaf.shape[2:])[:count]
    return make_block((jax.tree.unflatten(structure, leaves),), pruned=pruned)
