"""The kernels as JAX functions, one launch for all runs that are mapped over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from . import cuda, host
from .plan import KernelPlan

Shape = tuple[int, ...]


def platform() -> str:
    """Where JAX computes now, 'cpu' or 'gpu' or another: on the default device, if the user has set one."""
    chosen = jax.config.jax_default_device  # type: ignore[attr-defined]
    if chosen is None:
        return jax.default_backend()
    name = chosen if isinstance(chosen, str) else chosen.platform
    return "gpu" if name == "cuda" else name


@cache
def forward(plan: KernelPlan) -> Any:
    """`forward(plan)(features, weights)`: outputs (streams, outputs, points), and what is kept."""
    shapes = (
        (plan.streams, plan.outputs, plan.padded),
        (plan.layers, plan.streams, plan.padded, plan.width),
    )
    return _mapped(plan, "hcpinn_forward", shapes)


@cache
def backward(plan: KernelPlan) -> Any:
    """`backward(plan)(features, others)`: the gradient of each part of the points, all weights in one row.

    Behind it may come what the kernel has written for itself.
    """
    return _mapped(plan, "hcpinn_backward", ((plan.gradients, sum(plan.sizes)), *cuda.scratch(plan)))


def _mapped(plan: KernelPlan, name: str, shapes: tuple[Shape, ...]) -> Any:
    """A kernel as a function of features and other arrays; under `vmap` one launch does all runs."""

    @jax.custom_batching.custom_vmap
    def call(features: tuple[Array, ...], others: tuple[Array, ...]) -> tuple[Array, ...]:
        return _launch(plan, name, shapes, (*features, *others))

    @call.def_vmap
    def rule(size: int, batched: Any, features: Any, others: Any) -> tuple[Any, Any]:
        def spread(array: Array, is_batched: bool) -> Array:
            return array if is_batched else jnp.broadcast_to(array, (size, *array.shape))

        own = any(batched[0])
        if own:
            features = tuple(map(spread, features, batched[0]))
        others = tuple(map(spread, others, batched[1]))
        many = replace(plan, runs=size, own_features=own)
        result = _launch(many, name, tuple((size, *shape) for shape in shapes), (*features, *others))
        return result, (True,) * len(shapes)

    return call


def _launch(
    plan: KernelPlan, name: str, shapes: Sequence[Shape], arrays: tuple[Array, ...]
) -> tuple[Array, ...]:
    results = tuple(jax.ShapeDtypeStruct(shape, plan.precision) for shape in shapes)
    if platform() == "cpu":
        target, attributes = host.target(plan, name), {}
    else:
        target, attributes = cuda.target(plan, name, len(arrays) + len(shapes))
    call = jax.ffi.ffi_call(target, results, vmap_method="sequential")
    return tuple(call(*arrays, **attributes))
