"""The kernels as JAX functions: compiled once per shape, launched by XLA, mapped over runs."""

from __future__ import annotations

import warnings
import zlib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..jets import Activation
from ..problem import Index
from . import arithmetic, nvrtc

_SHARED_BYTES = 227 << 10
"""Shared memory of one multiprocessor of an H200; of others it is less, and blocks wait for each other."""

_TWO_BLOCKS = 192
"""Streams times width up to which two blocks' registers fit on a multiprocessor."""


@dataclass(frozen=True)
class Plan:
    """The shape of the kernels: everything that is settled before they are compiled."""

    activation: Activation
    indices: tuple[Index, ...]
    points: int
    features: int
    width: int
    depth: int
    """Hidden layers."""
    outputs: int
    runs: int = 0
    """How many networks at once, along the leading axis of every array; 0: one, and no such axis."""
    own_features: bool = False
    """Whether each run has features of its own."""
    warps: int = 8
    """Per block of threads; each has eight points at a time."""

    @property
    def streams(self) -> int:
        return len(self.indices)

    @property
    def tiles(self) -> int:
        """Blocks of threads, each for a tile of points."""
        return -(-self.points // (8 * self.warps))

    @property
    def padded(self) -> int:
        """Points, with those that fill up the last tile."""
        return self.tiles * 8 * self.warps

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """How many numbers the first, hidden, bias and last weights are."""
        square = (self.depth - 1) * self.width**2
        return self.features * self.width, square, self.depth * self.width, self.outputs * self.width

    @property
    def resident(self) -> bool:
        """Whether the weights of all layers stay on the chip, or those of one at a time."""
        return max(self._shared_bytes(self.depth - 1)) <= _SHARED_BYTES // 2

    @property
    def shared_bytes(self) -> tuple[int, int]:
        """Dynamic shared memory of the forward and of the backward kernel."""
        return self._shared_bytes(self.depth - 1 if self.resident else 1)

    def _shared_bytes(self, layers: int) -> tuple[int, int]:
        hidden, first = 8 * layers * self.width**2, 8 * -(-self.features // 8) * 8 * self.width
        ahead = max(hidden, first) if layers == 1 else hidden + first
        stage = self.streams * 8 * (self.width + 4)
        total = min(self.width // 16, 2) * 16 * self.width
        return ahead, hidden + 4 * self.warps * max(stage, total)


def source(plan: Plan) -> str:
    """The CUDA source for a plan."""
    names = [f"x{s}" for s in range(plan.streams)]
    constants = {
        "S": plan.streams,
        "W": plan.width,
        "F": plan.features,
        "D": plan.depth,
        "C": plan.outputs,
        "POINTS": plan.points,
        "PADDED": plan.padded,
        "WARPS": plan.warps,
        "BLOCKS": 2 if plan.streams * plan.width <= _TWO_BLOCKS else 1,
        "RESIDENT": int(plan.resident),
        "OWN_FEATURES": int(plan.own_features),
        "FEATURE_PARAMETERS": ", ".join(f"const float* __restrict__ {name}" for name in names),
        "FEATURE_NAMES": ", ".join(names),
    }
    heads = "\n".join(f"#define {name} {value}" for name, value in constants.items())
    body = Path(__file__).with_name("kernels.cu").read_text(encoding="utf-8")
    return "\n".join([heads, arithmetic.functions(plan.activation, plan.indices), body])


@cache
def forward(plan: Plan) -> Any:
    """`forward(plan)(features, weights)`: outputs (streams, outputs, points), and what is kept."""
    shapes = (
        (plan.streams, plan.outputs, plan.padded),
        (plan.depth, plan.streams, plan.padded, plan.width),
    )
    return _mapped(plan, "hcpinn_forward", shapes)


@cache
def backward(plan: Plan) -> Any:
    """`backward(plan)(features, others)`: the gradient of each tile, all weights in one row."""
    return _mapped(plan, "hcpinn_backward", ((plan.tiles, sum(plan.sizes)),))


def _mapped(plan: Plan, name: str, shapes: tuple[tuple[int, ...], ...]) -> Any:
    """A kernel as a function of features and other arrays; under `vmap` one launch does all runs."""

    @jax.custom_batching.custom_vmap
    def call(features: tuple[Array, ...], others: tuple[Array, ...]) -> tuple[Array, ...]:
        return _launch(plan, name, shapes, features, others)

    @call.def_vmap
    def rule(size: int, batched: Any, features: Any, others: Any) -> tuple[Any, Any]:
        def spread(array: Array, is_batched: bool) -> Array:
            return array if is_batched else jnp.broadcast_to(array, (size, *array.shape))

        own = any(batched[0])
        many = replace(plan, runs=size, own_features=own)
        if own:
            features = tuple(map(spread, features, batched[0]))
        result = _launch(
            many, name, tuple((size, *s) for s in shapes), features, tuple(map(spread, others, batched[1]))
        )
        return result, (True,) * len(shapes)

    return call


def _launch(
    plan: Plan,
    name: str,
    shapes: tuple[tuple[int, ...], ...],
    features: tuple[Array, ...],
    others: tuple[Array, ...],
) -> tuple[Array, ...]:
    results = tuple(jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes)
    call = jax.ffi.ffi_call("triton_kernel_call_ffi", results, vmap_method="sequential")
    arrays = len(features) + len(others) + len(shapes)
    return tuple(call(*features, *others, name=name, opaque=_packed(plan, name, arrays)))


@cache
def _packed(plan: Plan, name: str, arrays: int) -> bytes:
    """A kernel and how it is launched, as JAX's launcher of ready-made GPU kernels reads it."""
    from jaxlib import gpu_triton

    shared = plan.shared_bytes[0 if name == "hcpinn_forward" else 1]
    kernel = gpu_triton.TritonKernel(name, plan.warps, 1, shared, _assembly(plan), "", capability())
    call = gpu_triton.TritonKernelCall(
        kernel, plan.tiles, max(plan.runs, 1), 1, [gpu_triton.create_array_parameter(0, 16)] * arrays
    )
    return zlib.compress(call.to_proto(name, b""))


@cache
def _assembly(plan: Plan) -> str:
    return nvrtc.compile_source(source(replace(plan, runs=0)), capability())


@cache
def capability() -> int:
    """The compute capability of the default device, 90 for 9.0; 0 without an NVIDIA GPU."""
    try:
        device = jax.devices()[0]
        if device.platform != "gpu" or "NVIDIA" not in device.device_kind.upper():
            return 0
        return round(10 * float(device.compute_capability))
    except (RuntimeError, AttributeError, ValueError):
        return 0


@cache
def compiles(plan: Plan) -> bool:
    """Whether the kernels for a plan can be made here; why not is said once."""
    try:
        _packed(plan, "hcpinn_forward", 1)
    except (nvrtc.CompilerError, ImportError, AttributeError, TypeError, NotImplementedError) as error:
        warnings.warn(f"Training goes without fused GPU kernels: {error}", stacklevel=2)
        return False
    return True
