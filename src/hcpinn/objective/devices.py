"""Devices that share the points of a training: each runs the same program on its own points.

Parameters and optimiser states are the same everywhere. Sums over points (loss, gradient, normal
equations) are added up across devices, so each device needs nothing of the others' points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array

from ..errors import MethodError
from .term import Block, repeat_last

ENOUGH = 8192
"""Points per device, over all runs, from which several devices are used without being asked for."""

_AXIS = "points"


class Devices:
    """One device, as if this class were not there, or several that share the points."""

    def __init__(self, several: Sequence[Any] = ()):
        """With fewer than two, the device that JAX uses by default."""
        self.count = max(len(several), 1)
        self._mesh = (
            Mesh(np.asarray(several), (_AXIS,), axis_types=(AxisType.Auto,)) if self.count > 1 else None
        )

    def compiled(self, function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        """`jax.jit`, with complete results on every device and so in every process."""
        if self._mesh is None:
            return jax.jit(function, **options)
        return jax.jit(function, out_shardings=NamedSharding(self._mesh, PartitionSpec()), **options)

    def everywhere(self, tree: Any) -> Any:
        """The arrays, complete on every device."""
        return tree if self._mesh is None else self._spread(tree)

    @cached_property
    def _spread(self) -> Callable[[Any], Any]:
        return self.compiled(lambda tree: tree)

    def place(self, blocks: Any, axes: Any) -> Any:
        """Blocks with each device holding its share of their points.

        `axes` says which arrays have an axis of runs in front, as `stack` does. Points whose number the
        devices do not divide stay whole on each, which then looks at its share of them only.
        """
        if self._mesh is None:
            return blocks
        mesh = self._mesh
        runs = jax.tree.map(lambda _: None, blocks) if axes is None else axes

        def put(array: Array, run: int | None) -> Array:
            axis = 0 if run is None else 1
            split = PartitionSpec(*[None] * axis, _AXIS)
            spec = split if array.shape[axis] % self.count == 0 else PartitionSpec()
            host = np.asarray(array)
            return jax.make_array_from_callback(host.shape, NamedSharding(mesh, spec), lambda at: host[at])

        return jax.tree.map(put, blocks, runs)

    def share_out(
        self,
        function: Callable[..., tuple[Any, Any]],
        shared: tuple[Any, ...],
        block: Block,
        scale: Array | None = None,
    ) -> tuple[Any, Any]:
        """Sums over points and values at points, from a `function(*shared, block, scale)` that gives both.

        Each device calls it with its own points. Those that only fill up the last device's share
        have a scale of zero.
        """
        if self._mesh is None:
            return function(*shared, block, scale)
        count = block.share.shape[0]
        size = -(-count // self.count)
        even = count % self.count == 0

        def own_part(block: Block, scale: Array | None) -> tuple[Block, Array | None]:
            filled = None if scale is None else jnp.pad(scale, (0, size * self.count - count))
            whole = (repeat_last(block, size * self.count), filled)
            first = size * jax.lax.axis_index(_AXIS)
            return jax.tree.map(lambda a: jax.lax.dynamic_slice_in_dim(a, first, size), whole)

        def own(shared: tuple[Any, ...], block: Block, scale: Array | None) -> tuple[Any, Any]:
            mine = (block, scale) if even else own_part(block, scale)
            sums, values = function(*shared, *mine)
            return jax.lax.psum(sums, _AXIS), values

        everywhere, split = PartitionSpec(), PartitionSpec(_AXIS)
        given = split if even else everywhere
        # Sums are made equal on all devices by hand, which leaves the function free to hold any kernel.
        mapped = jax.shard_map(
            own,
            mesh=self._mesh,
            in_specs=(everywhere, given, given),
            out_specs=(everywhere, split),
            check_vma=False,
        )
        sums, values = mapped(shared, block, scale)
        return sums, jax.tree.map(lambda a: a[:count], values)


def find_devices(count: int | None, *, points: int) -> Devices:
    """The first `count` devices; unless given, all of them if each gets `ENOUGH` points, else one.

    Processes that train together through `jax.distributed` use all of their devices.
    """
    there = jax.devices()
    if count is not None and count > len(there):
        raise MethodError(
            f"{count} devices were asked for, but there are {len(there)} ({there[0].platform}). "
            f"Take at most {len(there)}, or leave devices out."
        )
    if jax.process_count() > 1:
        if count not in (None, len(there)):
            raise MethodError(
                f"{jax.process_count()} processes train together, and all of their {len(there)} devices "
                f"take part, but {count} were asked for. Leave devices out."
            )
        return Devices(there)
    if count is None:
        chosen = jax.config.jax_default_device is not None  # type: ignore[attr-defined]
        count = 1 if chosen or points < ENOUGH * len(there) else len(there)
    return Devices(there[:count])
