"""The jet of a multilayer perceptron in one GPU kernel forward and one backward.

Layer by layer, XLA writes every layer's jet to memory and reads it again, several times each way. Here
a warp takes eight points with all their derivatives through all layers in registers; see `kernels.cu`.
It keeps, for the way back, what the activations were computed from. The backward kernel works through
that once and leaves the gradient of each tile of points; they are added up in a fixed order, so that the
same input always gives the same bits.

The kernels are CUDA, compiled for the shape at hand by NVIDIA's run-time compiler and launched by XLA
like any other operation. Where that is not possible, or the shape does not suit, `propagate` is not to
be used and `MLP.propagate` does the same.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..jets import Activation, Jet
from ..problem import Index
from . import launch
from .launch import Plan

SWITCH = "HCPINN_FUSED"
"""The environment variable that turns the kernels off."""

_WIDEST = 64
_MOST_FEATURES = 128
_MOST_NUMBERS = 256
"""Streams times width: beyond, a thread's registers do not hold them."""
_FEWEST_POINTS = 512
_MOST_SHARED = 160 << 10
_SIZES = 16
"""Widths are filled up to a multiple of this."""


def propagate(
    activation: Activation, parameters: Sequence[dict[str, Array]], features: Jet, indices: Sequence[Index]
) -> Jet:
    """The jet of the outputs from the jet of the features, as `MLP.propagate`, where `suits` says so.

    It can be differentiated once, backward, with respect to the parameters; the features count as constants.
    """
    plan = _plan(activation, parameters, features, indices)
    value = features[indices[0]]
    streams = tuple(features[i] if i in features else jnp.zeros_like(value) for i in indices)
    wide = plan.width
    weights = (
        _filled(parameters[0]["weight"], (plan.features, wide)),
        jnp.stack([_filled(layer["weight"], (wide, wide)) for layer in parameters[1:-1]]),
        jnp.stack([_filled(layer["bias"], (wide,)) for layer in parameters[:-1]]),
        _filled(parameters[-1]["weight"].T, (plan.outputs, wide)),
    )
    whole: Array = _run(plan, weights, streams)  # type: ignore[assignment]
    out = whole[:, :, : plan.points]
    result = {index: out[i].T for i, index in enumerate(indices)}
    result[indices[0]] = result[indices[0]] + parameters[-1]["bias"]
    return result


def suits(
    activation: Activation, parameters: Sequence[dict[str, Array]], features: Jet, indices: Sequence[Index]
) -> bool:
    """Whether the kernels can do it here."""
    if os.environ.get(SWITCH, "").lower() in ("0", "off", "no", "false") or launch.capability() < 80:
        return False
    if any(a.dtype != jnp.float32 for a in (*features.values(), parameters[0]["weight"])):
        return False
    plan = _plan(activation, parameters, features, indices)
    return (
        plan.points >= _FEWEST_POINTS
        and plan.features <= _MOST_FEATURES
        and plan.depth >= 2
        and plan.width <= _WIDEST
        and plan.width * plan.streams <= _MOST_NUMBERS
        and max(plan.shared_bytes) <= _MOST_SHARED
        and launch.compiles(plan)
    )


def _plan(
    activation: Activation, parameters: Sequence[dict[str, Array]], features: Jet, indices: Sequence[Index]
) -> Plan:
    points, inputs = features[indices[0]].shape
    width, outputs = parameters[-1]["weight"].shape
    filled = -(-width // _SIZES) * _SIZES
    return Plan(activation, tuple(indices), points, inputs, filled, len(parameters) - 1, outputs)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _run(plan: Plan, weights: tuple[Array, ...], features: tuple[Array, ...]) -> Array:
    """Outputs, indices × outputs × points, without the last bias."""
    return _ahead(plan, weights, features)[0]


def _ahead(plan: Plan, weights: tuple[Array, ...], features: tuple[Array, ...]) -> tuple[Array, Any]:
    out, kept = launch.forward(plan)(features, weights)
    return out, (weights, features, kept)


def _back(plan: Plan, known: Any, cotangent: Array) -> tuple[Any, Any]:
    (_, hidden, _, last), features, kept = known
    (parts,) = launch.backward(plan)(features, (hidden, last, kept, cotangent))
    total = jnp.sum(parts, axis=0)
    found, at = [], 0
    for size, weight in zip(plan.sizes, known[0], strict=True):
        found.append(total[at : at + size].reshape(weight.shape))
        at += size
    return tuple(found), tuple(jnp.zeros_like(stream) for stream in features)


_run.defvjp(_ahead, _back)


def _filled(array: Array, shape: tuple[int, ...]) -> Array:
    """An array with zeros up to a shape: neurons that are always zero and count for nothing."""
    if array.shape == shape:
        return array
    return jnp.pad(array, [(0, wanted - size) for size, wanted in zip(array.shape, shape, strict=True)])
