"""The data of the loss, for one run or several, its values, and mini-batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32

from ..errors import MethodError
from ..jets.taylor import Jet
from ..trial import Fixed
from .term import RESIDUAL, Block


class Data(eqx.Module):
    """What the loss of one run is computed from."""

    blocks: dict[str, Block]
    """What each term is computed from."""
    parameters: dict[str, Array]
    """The problem's named parameters."""
    span: Float[Array, "*runs two"]
    """When the problem starts, and how long it lasts."""
    key: UInt32[Array, "*runs words"]
    """From which the order of mini-batches is drawn."""

    def when(self, term: str) -> Float[Array, "*runs points"]:
        """The times of a term's points, from 0 at the start to 1 at the horizon."""
        return (self.blocks[term].fixed[0].coordinates[..., 0] - self.span[..., 0]) / self.span[..., 1]


class Measured(eqx.Module):
    """The loss at some parameters, with everything that comes with it."""

    loss: Float[Array, ""]
    gradient: Float[Array, " parameters"]
    terms: dict[str, Float[Array, ""]]
    """The mean squared mismatch of each term, without any weights."""
    squares: dict[str, Float[Array, " points"]]
    """The squared mismatch at each point of each term."""


class Linearized(eqx.Module):
    """The loss near some parameters, Σ (ρ + J δ)², by its normal equations."""

    loss: Float[Array, ""]
    slope: Float[Array, " parameters"]
    """Jᵀ ρ, half the gradient."""
    gram: Float[Array, "parameters parameters"]
    """Jᵀ J."""


class Rows(eqx.Module):
    """A term's mismatches, and how each answers to the network's parameters."""

    values: Float[Array, "*rows"]
    jacobian: Float[Array, "*rows parameters"]


def stack(runs: Sequence[Data]) -> tuple[Data, Any]:
    """Several runs' data as one tree, with the axes to map over: None for what all runs share."""
    if len(runs) == 1:
        return runs[0], None
    trees = _with_same_indices(runs)

    def same(*leaves: Any) -> bool:
        first = np.asarray(leaves[0])
        return all(np.array_equal(first, np.asarray(leaf)) for leaf in leaves[1:])

    shared = jax.tree.map(same, *trees)
    stacked = jax.tree.map(lambda s, *leaves: leaves[0] if s else jnp.stack(leaves), shared, *trees)
    return stacked, jax.tree.map(lambda s: None if s else 0, shared)


def _with_same_indices(runs: Sequence[Data]) -> list[Data]:
    """The data with zeros for derivatives of lift or gate that vanish in some runs but not in others."""

    def fill(jets: Sequence[Jet]) -> list[Jet]:
        like = {index: value for jet in jets for index, value in jet.items()}
        return [{i: jet[i] if i in jet else jnp.zeros_like(v) for i, v in like.items()} for jet in jets]

    def alike(fixed: Sequence[Fixed]) -> list[Fixed]:
        lifts, gates = fill([f.lift for f in fixed]), fill([f.gate for f in fixed])
        return [
            Fixed(f.coordinates, lift, gate, f.features)
            for f, lift, gate in zip(fixed, lifts, gates, strict=True)
        ]

    filled: list[dict[str, Block]] = [{} for _ in runs]
    for name in runs[0].blocks:
        blocks = [run.blocks[name] for run in runs]
        places = [alike([b.fixed[i] for b in blocks]) for i in range(len(blocks[0].fixed))]
        for number, block in enumerate(blocks):
            own = tuple(place[number] for place in places)
            filled[number][name] = Block(own, block.target, block.share)
    return [Data(blocks, run.parameters, run.span, run.key) for blocks, run in zip(filled, runs, strict=True)]


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
