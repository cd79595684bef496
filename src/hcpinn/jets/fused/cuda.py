"""Kernels for NVIDIA GPUs: CUDA, compiled at run time, and launched by XLA like any other operation."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import jax

from . import arithmetic, nvrtc
from .plan import KernelPlan

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

_THREE_BLOCKS = 128
"""And, in float64, those of three blocks of half as many threads, forward."""

_FEW_STREAMS, _MOST_STREAMS = 4, 8
"""Of a wide network: up to which blocks of threads have room for more, and at most."""

_CAPABILITY = {"float32": 80, "float64": 90}
"""The first devices whose matrix units multiply as the kernels do."""

_WIDE_CAPABILITY = 90
"""The first devices with enough shared memory for a wide network."""

_MOST_FEATURES = 256
"""Of a network up to `NARROW`; of a wide one no more than it has neurons."""

KERNELS = ("hcpinn_forward", "hcpinn_backward")
"""By their names in the sources."""

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


def suits(plan: KernelPlan) -> bool:
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


def wide(plan: KernelPlan) -> bool:
    """Whether the points are taken through the network by all warps of a block together."""
    return plan.width > NARROW


def filled(width: int) -> int:
    """The width with the neurons that fill it up."""
    return -(-width // 16) * 16 if width <= NARROW else -(-width // WIDE) * WIDE


def tile(width: int, streams: int) -> int:
    """Points that a block of threads of the backward kernel takes, of which there are whole numbers."""
    return TILE if width <= NARROW else 32 if streams <= _FEW_STREAMS else 16


def prepare(plan: KernelPlan) -> None:
    """Compile, or raise an error that says why not."""
    for name in KERNELS:
        _assembly(plan, name)


def target(plan: KernelPlan, name: str, arrays: int) -> tuple[str, dict[str, Any]]:
    """What XLA calls, with its attributes."""
    return _LAUNCHER, {"name": name, "opaque": _packed(plan, name, arrays)}


@dataclass(frozen=True)
class ThreadBlock:
    """A block of threads."""

    points: int
    warps: int
    abreast: int
    """How many of them a multiprocessor works on at once."""


def block(plan: KernelPlan, name: str) -> ThreadBlock:
    """The blocks of threads of a kernel."""
    if wide(plan):
        # Two blocks hide each other's waiting; back there is no room for two. What is kept lies alike.
        halved = name == "hcpinn_forward" and plan.streams <= _FEW_STREAMS
        return ThreadBlock(16, WARPS // 2, 2) if halved else ThreadBlock(plan.tile, WARPS, 1)
    numbers = plan.width * plan.streams
    if numbers <= _TWO_BLOCKS[plan.precision] and not plan.mixed:
        return ThreadBlock(plan.tile, plan.tile // 8, 2)
    if name == "hcpinn_forward" and numbers <= _THREE_BLOCKS and not plan.mixed:
        return ThreadBlock(plan.tile // 2, plan.tile // 16, 3)
    return ThreadBlock(plan.tile, plan.tile // 8, 1)


def scratch(plan: KernelPlan) -> tuple[tuple[int, ...], ...]:
    """The shapes of what the backward kernel writes for itself: cotangents of a wide network's encodings.

    Registers have no room for them. A plan with parts of the points is for the CPU, which needs none.
    """
    own = plan.mixed and wide(plan) and not plan.parts
    return ((2, plan.streams, plan.padded, plan.width),) if own else ()


def resident(plan: KernelPlan) -> bool:
    """Whether the weights of all layers stay on the chip, or those of one at a time."""
    abreast = block(plan, "hcpinn_backward").abreast
    return max(_shared_bytes(plan, plan.depth - 1)) <= min(_SHARED_BYTES // abreast, _MOST_SHARED)


def shared_bytes(plan: KernelPlan) -> tuple[int, int]:
    """Dynamic shared memory of the forward and of the backward kernel."""
    if wide(plan):
        row = plan.width + 4
        ahead, back = (plan.streams * block(plan, name).points * row for name in KERNELS)
        return 4 * (ahead + plan.width * (row + 4)), 4 * (2 * back + plan.width * row)
    return _shared_bytes(plan, plan.depth - 1 if resident(plan) else 1)


def _shared_bytes(plan: KernelPlan, layers: int) -> tuple[int, int]:
    hidden, first = 8 * layers * plan.width**2, 8 * -(-plan.features // 8) * 8 * plan.width
    ahead = max(hidden, first) if layers == 1 else hidden + plan.firsts * first
    stage = plan.streams * 8 * (plan.width + 4)
    total = min(plan.width // 16, 2) * 16 * plan.width
    return ahead, hidden + _bytes(plan) * (plan.tile // 8) * max(stage, total)


def _bytes(plan: KernelPlan) -> int:
    """Of a number."""
    return 8 if plan.precision == "float64" else 4


def source(plan: KernelPlan, name: str) -> str:
    """The CUDA source of a kernel."""
    threads = block(plan, name)
    names = [f"x{s}" for s in range(plan.streams)]
    constants = {
        **plan.constants(),
        "DOUBLE": int(plan.precision == "float64"),
        "POINTS": plan.points,
        "PADDED": plan.padded,
        "TILE": threads.points,
        "WARPS": threads.warps,
        "BLOCKS": threads.abreast,
        "OWN_FEATURES": int(plan.own_features),
        "FEATURE_PARAMETERS": ", ".join(f"const real* __restrict__ {name}" for name in names),
        "FEATURE_NAMES": ", ".join(names),
    }
    if not wide(plan):
        constants["RESIDENT"] = int(resident(plan))
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
    kind, way = "wide" if wide(plan) else "narrow", name.removeprefix("hcpinn_")
    files = ("common.cu", f"{kind}.cu", f"{kind}_{way}.cu")
    bodies = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in files]
    return "\n".join([heads, functions, *bodies])


@cache
def _packed(plan: KernelPlan, name: str, arrays: int) -> bytes:
    """A kernel and how it is launched, as the launcher reads it."""
    from jaxlib import gpu_triton

    threads, shared = block(plan, name), shared_bytes(plan)[KERNELS.index(name)]
    kernel = gpu_triton.TritonKernel(name, threads.warps, 1, shared, _assembly(plan, name), "", capability())
    # What is kept is read and written sixteen bytes at a time; weights may be parts of a larger array.
    if name == "hcpinn_forward":
        aligned = {arrays - 1}
    else:
        aligned = {plan.streams + 2, *range(plan.streams + 5, arrays)}
    parameters = [
        gpu_triton.create_array_parameter(0, 16 if place in aligned else _bytes(plan))
        for place in range(arrays)
    ]
    count = plan.padded // threads.points
    call = gpu_triton.TritonKernelCall(kernel, count, max(plan.runs, 1), 1, parameters)
    return zlib.compress(call.to_proto(name, b""))


def _assembly(plan: KernelPlan, name: str) -> str:
    return _compiled(source(replace(plan, runs=0), name))


@cache
def _compiled(text: str) -> str:
    return nvrtc.compile_source(text, capability())
