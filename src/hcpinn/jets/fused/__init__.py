"""The jet of a multilayer perceptron, plain or modified, by one kernel forward and one backward.

Layer by layer, XLA writes every layer's jet to memory and reads it back, several times in each direction.
Here a few points with all their derivatives go through all layers at once: on a GPU in the registers of a
warp (`narrow.cu`) or in the shared memory of a block of threads (`wide.cu`), on a CPU in a core's cache
(`host.cpp`). The inputs of the activations are kept for the backward kernel, which reads them once and gives
the gradient of each part of the points; these are added in a fixed order, so that the same input always
gives the same bits.

The kernels are compiled for each shape of network: on a GPU by NVIDIA's run-time compiler, which comes with
JAX, on a CPU by the system's C++ compiler if there is one. XLA launches them like any other operation.
Where `suits` says no, `network_jet` goes layer by layer instead.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ...errors import FileError
from ...problem import Index
from ..taylor import Activation, Jet, sine, tanh
from . import cuda, host, launch
from .launch import platform
from .plan import CompilerError, KernelPlan

SWITCH = "HCPINN_FUSED"
"""The environment variable that turns the kernels off."""

_BACKENDS = ("cpu", "gpu")

Layer = dict[str, Array]
"""`weight` (inputs × outputs) and `bias`."""


def propagate(
    activation: Activation,
    layers: Sequence[Layer],
    features: Jet,
    indices: Sequence[Index],
    encoders: Sequence[Layer] = (),
) -> Jet:
    """The jet of the outputs from the jet of the features, where `suits` says so.

    Arguments are those of `network_jet`. It can be differentiated once, backward, with respect to the
    parameters; the features count as constants.
    """
    plan = _plan(activation, layers, features, indices, encoders)
    value = features[indices[0]]
    streams = tuple(features[i] if i in features else jnp.zeros_like(value) for i in indices)
    wide = plan.width
    weights = (
        jnp.stack([_filled(layer["weight"], (plan.features, wide)) for layer in (layers[0], *encoders)]),
        jnp.stack([_filled(layer["weight"], (wide, wide)) for layer in layers[1:-1]]),
        jnp.stack([_filled(layer["bias"], (wide,)) for layer in (*layers[:-1], *encoders)]),
        _filled(layers[-1]["weight"].T, (plan.outputs, wide)),
    )
    whole: Array = _run(plan, weights, streams)  # type: ignore[assignment]
    out = whole[:, :, : plan.points]
    result = {index: out[i].T for i, index in enumerate(indices)}
    result[indices[0]] = result[indices[0]] + layers[-1]["bias"]
    return result


def suits(
    activation: Activation,
    layers: Sequence[Layer],
    features: Jet,
    indices: Sequence[Index],
    encoders: Sequence[Layer] = (),
) -> bool:
    """Whether the kernels can do it here."""
    backend = platform()
    arrays = (*features.values(), layers[0]["weight"])
    if _off() or backend not in _BACKENDS or len({a.dtype for a in arrays}) > 1 or len(layers) < 3:
        return False
    if not fusible(activation, layers[0]["weight"].shape[1]):
        return False
    plan = _plan(activation, layers, features, indices, encoders)
    return (host.suits(plan) if backend == "cpu" else cuda.suits(plan)) and _prepared(plan, backend)


def fusible(activation: Activation, width: int) -> bool:
    """Whether there are kernels for hidden layers of this kind."""
    return any(activation is known() for known in (tanh, sine)) and width <= cuda.WIDE


def start_compiling(
    activation: Activation,
    sizes: Sequence[int],
    indices: Sequence[Index],
    *,
    points: int,
    precision: str,
    mixed: bool,
) -> None:
    """Start compiling, in the background, the kernels that the CPU's compiler takes seconds for.

    Args:
        activation: of the hidden layers.
        sizes: the number of features, the widths of the hidden layers, and the number of outputs.
        indices: the derivatives that are carried along.
        points: how many there will be at once.
        precision: 'float32' or 'float64'.
        mixed: whether there will be encoders.
    """
    if platform() == "cpu" and not _off() and len(sizes) > 3 and fusible(activation, sizes[1]):
        plan = _shaped(activation, sizes, indices, points, precision, mixed)
        if host.suits(plan):
            host.begin(plan)


def points_at_once(plain: int, activation: Activation, width: int, *, numbers: int, itemsize: int) -> int:
    """How many points to take forward and back at once, given how many it would be without these kernels.

    `numbers` is how many are kept of each point: derivatives times neurons, over all layers.
    """
    if platform() != "cpu" or _off() or not host.possible() or not fusible(activation, width):
        return plain
    return max(plain, host.chunk(numbers, itemsize))


def _off() -> bool:
    return os.environ.get(SWITCH, "").lower() in ("0", "off", "no", "false")


@cache
def _prepared(plan: KernelPlan, backend: str) -> bool:
    """Whether the kernels could be compiled; if not, one sentence says why, once per process."""
    try:
        if backend == "cpu":
            host.prepare(plan)
        else:
            cuda.prepare(plan)
    except (CompilerError, FileError, OSError, ImportError, AttributeError, TypeError) as error:
        _warn(str(error))
        return False
    return True


@cache
def _warn(reason: str) -> None:
    """Say once that kernels could not be compiled."""
    warnings.warn(f"The fused kernels could not be compiled, so training is slower: {reason}", stacklevel=2)


def _plan(
    activation: Activation,
    layers: Sequence[Layer],
    features: Jet,
    indices: Sequence[Index],
    encoders: Sequence[Layer],
) -> KernelPlan:
    value = features[indices[0]]
    sizes = (value.shape[1], *(layer["weight"].shape[1] for layer in layers))
    return _shaped(activation, sizes, indices, value.shape[0], value.dtype.name, bool(encoders))


def _shaped(
    activation: Activation,
    sizes: Sequence[int],
    indices: Sequence[Index],
    points: int,
    precision: str,
    mixed: bool,
) -> KernelPlan:
    """The plan for layers of these sizes, from the features to the outputs."""
    inputs, *_, width, outputs = sizes
    on_the_cpu = platform() == "cpu"
    return KernelPlan(
        activation,
        tuple(indices),
        points,
        inputs,
        width=host.filled(width) if on_the_cpu else cuda.filled(width),
        depth=len(sizes) - 2,
        outputs=outputs,
        precision=precision,
        tile=host.TILES.get(precision, 1) if on_the_cpu else cuda.tile(width, len(indices)),
        parts=host.threads() if on_the_cpu else 0,
        mixed=mixed,
    )


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _run(plan: KernelPlan, weights: tuple[Array, ...], features: tuple[Array, ...]) -> Array:
    """Outputs, indices × outputs × points, without the last bias."""
    return _ahead(plan, weights, features)[0]


def _ahead(plan: KernelPlan, weights: tuple[Array, ...], features: tuple[Array, ...]) -> tuple[Array, Any]:
    out, kept = launch.forward(plan)(features, weights)
    return out, (weights, features, kept)


def _back(plan: KernelPlan, known: Any, cotangent: Array) -> tuple[Any, Any]:
    (_, hidden, _, last), features, kept = known
    parts, *_ = launch.backward(plan)(features, (hidden, last, kept, cotangent))
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
