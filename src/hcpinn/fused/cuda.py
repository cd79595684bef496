"""Kernels for NVIDIA GPUs: CUDA, compiled at run time, and launched by XLA like any other operation."""

from __future__ import annotations

import zlib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jax

from . import arithmetic, nvrtc
from .plan import Plan

WARPS = 8
"""Per block of threads."""

TILE = 8 * WARPS
"""Points of a block where each warp has eight of its own."""

NARROW, WIDE = 64, 128
"""Widths up to which a warp, and a block of threads, takes points through the network."""

_SHARED_BYTES = 227 << 10
"""Shared memory of one multiprocessor of an H200; where it is less, fewer blocks run at once."""

_MOST_SHARED = 160 << 10

_MOST_NUMBERS = {"float32": 256, "float64": 192}
"""Streams times width up to which registers hold them, nearly."""

_TWO_BLOCKS = {"float32": 192, "float64": 96}
"""And those of two blocks of threads on a multiprocessor."""

_MOST_STREAMS = 8
"""Of a wide network."""

_CAPABILITY = {"float32": 80, "float64": 90}
"""The first devices whose matrix units multiply as the kernels do."""

_WIDE_CAPABILITY = 90
"""The first devices with enough shared memory for a wide network."""

_MOST_FEATURES = 256
"""Of a network up to `NARROW`; of a wide one no more than it has neurons."""

_LAUNCHER = "triton_kernel_call_ffi"
"""JAX's launcher of ready-made GPU kernels."""


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


def suits(plan: Plan) -> bool:
    """Whether the kernels can do it."""
    if wide(plan):
        return (
            plan.precision == "float32"
            and capability() >= _WIDE_CAPABILITY
            and plan.width == WIDE >= plan.features
            and plan.streams <= _MOST_STREAMS
            and max(shared_bytes(plan)) <= _SHARED_BYTES
        )
    return (
        plan.precision in _CAPABILITY
        and capability() >= _CAPABILITY[plan.precision]
        and plan.features <= _MOST_FEATURES
        and plan.width * plan.streams <= _MOST_NUMBERS[plan.precision]
        and max(shared_bytes(plan)) <= _MOST_SHARED
    )


def wide(plan: Plan) -> bool:
    """Whether the points are taken through the network by all warps of a block together."""
    return plan.width > NARROW


def filled(width: int) -> int:
    """The width with the neurons that fill it up."""
    return -(-width // 16) * 16 if width <= NARROW else -(-width // WIDE) * WIDE


def tile(width: int, streams: int) -> int:
    """Points of a block of threads."""
    return TILE if width <= NARROW else 32 if streams <= 4 else 16


def prepare(plan: Plan) -> None:
    """Compile, or raise an error that says why not."""
    _packed(plan, "hcpinn_forward", 1)


def target(plan: Plan, name: str, arrays: int) -> tuple[str, dict[str, Any]]:
    """What XLA calls, with its attributes."""
    return _LAUNCHER, {"name": name, "opaque": _packed(plan, name, arrays)}


def warps(plan: Plan) -> int:
    """Of a block of threads."""
    return WARPS if wide(plan) else plan.tile // 8


def blocks(plan: Plan) -> int:
    """How many blocks of threads a multiprocessor works on at once."""
    fits = plan.width * plan.streams <= _TWO_BLOCKS[plan.precision]
    return 2 if fits and not plan.mixed else 1


def resident(plan: Plan) -> bool:
    """Whether the weights of all layers stay on the chip, or those of one at a time."""
    return max(_shared_bytes(plan, plan.depth - 1)) <= min(_SHARED_BYTES // blocks(plan), _MOST_SHARED)


def shared_bytes(plan: Plan) -> tuple[int, int]:
    """Dynamic shared memory of the forward and of the backward kernel."""
    if wide(plan):
        rows, weights = plan.streams * plan.tile * (plan.width + 4), plan.width * (plan.width + 4)
        return 4 * (rows + 2 * (weights + 4 * plan.width)), 4 * (2 * rows + weights)
    return _shared_bytes(plan, plan.depth - 1 if resident(plan) else 1)


def _shared_bytes(plan: Plan, layers: int) -> tuple[int, int]:
    hidden, first = 8 * layers * plan.width**2, 8 * -(-plan.features // 8) * 8 * plan.width
    ahead = max(hidden, first) if layers == 1 else hidden + plan.firsts * first
    stage = plan.streams * 8 * (plan.width + 4)
    total = min(plan.width // 16, 2) * 16 * plan.width
    return ahead, hidden + _bytes(plan) * (plan.tile // 8) * max(stage, total)


def _bytes(plan: Plan) -> int:
    """Of a number."""
    return 8 if plan.precision == "float64" else 4


def source(plan: Plan) -> str:
    """The CUDA source for a plan."""
    names = [f"x{s}" for s in range(plan.streams)]
    constants = {
        **plan.constants(),
        "DOUBLE": int(plan.precision == "float64"),
        "POINTS": plan.points,
        "PADDED": plan.padded,
        "WARPS": warps(plan),
        "OWN_FEATURES": int(plan.own_features),
        "FEATURE_PARAMETERS": ", ".join(f"const real* __restrict__ {name}" for name in names),
        "FEATURE_NAMES": ", ".join(names),
    }
    if not wide(plan):
        constants |= {"BLOCKS": blocks(plan), "RESIDENT": int(resident(plan))}
    heads = "\n".join(f"#define {name} {value}" for name, value in constants.items())
    heads += f"\ntypedef {'double' if plan.precision == 'float64' else 'float'} real;"
    functions = arithmetic.functions(
        plan.activation,
        plan.indices,
        number="real",
        precision=plan.precision,
        kind="__device__ __forceinline__",
        mixed=plan.mixed,
    )
    files = ("common.cu", "wide.cu" if wide(plan) else "narrow.cu")
    bodies = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in files]
    return "\n".join([heads, functions, *bodies])


@cache
def _packed(plan: Plan, name: str, arrays: int) -> bytes:
    """A kernel and how it is launched, as the launcher reads it."""
    from jaxlib import gpu_triton

    shared = shared_bytes(plan)[0 if name == "hcpinn_forward" else 1]
    kernel = gpu_triton.TritonKernel(name, warps(plan), 1, shared, _assembly(plan), "", capability())
    # What is kept is read and written sixteen bytes at a time; weights may be parts of a larger array.
    kept = arrays - 1 if name == "hcpinn_forward" else arrays - 3
    parameters = [
        gpu_triton.create_array_parameter(0, 16 if place == kept else _bytes(plan)) for place in range(arrays)
    ]
    call = gpu_triton.TritonKernelCall(kernel, plan.tiles, max(plan.runs, 1), 1, parameters)
    return zlib.compress(call.to_proto(name, b""))


def _assembly(plan: Plan) -> str:
    return _compiled(source(replace(plan, runs=0)))


@cache
def _compiled(text: str) -> str:
    return nvrtc.compile_source(text, capability())
