"""The loss of one run and of many runs of one shape, with its gradient, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from ..jets import Jet
from ..trial import Fixed, Trial, without_zeros
from .residual import residual

_CACHE_BYTES = {"cpu": 2 << 20, "gpu": 1 << 30}
"""Size of one layer's jet that keeps a chunk of points fast: in cache, or simply in memory."""


class Data(eqx.Module):
    """What the loss of one run is computed from, in chunks of points (leading axis)."""

    fixed: Fixed
    share: Float[Array, "*chunks points"]
    """Each point's share of the mean; zero for points that only fill up the last chunk."""
    parameters: dict[str, Array]
    """The problem's named parameters."""


class Objective:
    """Mean squared residual over fixed points, for runs that differ in data but not in shape.

    `loss(theta, data)` is for a single run, with the network's parameters as one flat
    vector; `stack` lays the data of several runs together for `jax.vmap`.
    """

    def __init__(self, trial: Trial, template: Any, *, chunk: int):
        """`template` is any set of network parameters; `chunk` is how many points are done at once."""
        self.trial = trial
        self.chunk = chunk
        flat, self.unravel = ravel_pytree(template)
        self.size: int = flat.size
        self.loss: Callable[[Array, Data], Array] = self._with_chunked_gradient()
        self.evaluate: Callable[[Array, Data], Array] = jax.jit(self.loss)

    def data(self, coordinates: Float[np.ndarray, "points axes"], trial: Trial | None = None) -> Data:
        """The data of one run at the given points; `trial` where it differs from the first one's."""
        own = self.trial if trial is None else trial
        count = len(coordinates)
        chunks = -(-count // self.chunk)
        size = -(-count // chunks)
        filled = np.concatenate([coordinates, np.repeat(coordinates[:1], chunks * size - count, axis=0)])
        share = np.where(np.arange(chunks * size) < count, 1.0 / count, 0.0).reshape(chunks, size)
        in_chunks = jnp.asarray(filled.reshape(chunks, size, -1))
        fixed = own.fix_chunks(in_chunks)
        parameters = {name: jnp.asarray(float(v)) for name, v in own.problem.parameters.items()}
        return Data(without_zeros(fixed), jnp.asarray(share), parameters)

    def residuals(self, theta: Array, data: Data) -> Float[Array, "chunks points components"]:
        """The residual at every point, chunk by chunk."""
        network = self.unravel(theta)
        return jax.lax.map(lambda fixed: residual(self.trial, network, fixed, data.parameters), data.fixed)

    def _chunk_loss(self, theta: Array, fixed: Fixed, share: Array, parameters: dict[str, Array]) -> Array:
        values = residual(self.trial, self.unravel(theta), fixed, parameters)
        return jnp.sum(share * jnp.sum(values**2, axis=-1))

    def _with_chunked_gradient(self) -> Callable[[Array, Data], Array]:
        """The loss, whose gradient is summed chunk by chunk so that memory stays that of one chunk."""

        def total(function: Callable[..., Any], theta: Array, data: Data) -> Any:
            def one(fixed: Fixed, share: Array) -> Any:
                return function(theta, fixed, share, data.parameters)

            first = jax.tree.map(lambda a: a[0], (data.fixed, data.share))
            if data.share.shape[0] == 1:
                return one(*first)
            zero = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), jax.eval_shape(one, *first))

            def add(sums: Any, chunk: Any) -> tuple[Any, None]:
                return jax.tree.map(jnp.add, sums, one(*chunk)), None

            return jax.lax.scan(add, zero, (data.fixed, data.share))[0]

        @jax.custom_vjp
        def loss(theta: Array, data: Data) -> Array:
            return total(self._chunk_loss, theta, data)

        def forward(theta: Array, data: Data) -> tuple[Array, Array]:
            return total(jax.value_and_grad(self._chunk_loss), theta, data)

        def backward(gradient: Array, cotangent: Array) -> tuple[Array, None]:
            return cotangent * gradient, None

        loss.defvjp(forward, backward)
        return loss


def chunk_size(*, width: int, indices: int, itemsize: int, runs: int, platform: str) -> int:
    """How many points to take through the network at once."""
    budget = _CACHE_BYTES.get(platform, _CACHE_BYTES["gpu"])
    points = budget // (width * indices * itemsize * runs)
    return int(np.clip(2 ** int(np.log2(max(points, 1))), 256, 1 << 20))


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

    lifts, gates = fill([r.fixed.lift for r in runs]), fill([r.fixed.gate for r in runs])
    return [
        Data(Fixed(r.fixed.coordinates, lift, gate, r.fixed.features), r.share, r.parameters)
        for r, lift, gate in zip(runs, lifts, gates, strict=True)
    ]
