"""How much memory a training takes at its peak, estimated before it begins."""

from __future__ import annotations

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp

from ..errors import MethodError
from ..jets import closure
from ..machine.memory import free_bytes, held_bytes
from ..trial import JetNetwork, Trial
from .method import Method
from .optimisers.stage import Stage

LARGEST_PART = 1 << 18
"""Points at which the residual is looked at at once, where nothing is trained."""

_USABLE = 0.9
"""Share of the free memory that a training may take."""

_PROGRAMS = 300 << 20
"""What compiling and compiled programs take, however many points there are."""

_DRAWING = 6
"""Arrays of coordinates that a sampler holds at once."""

_VECTORS = 6
"""Arrays with one number for each point: mismatches, squares, weights."""


@dataclass(frozen=True)
class Extent:
    """What the arrays of a training are sized by."""

    points: int
    """Residual points of each run."""
    axes: int
    """Coordinates of a point."""
    indices: int
    """Derivatives that are carried along, the function itself among them."""
    features: int
    """What the network sees of a point; 0 where that is not kept."""
    outputs: int
    parameters: int
    """Of the network."""
    runs: int = 1
    """How many train together."""

    @staticmethod
    def of(trial: Trial, parameters: int, points: int, runs: int) -> Extent:
        """That of runs with such a trial function."""
        axes = len(trial.problem.axes)
        seen = jax.eval_shape(trial.embed, jnp.zeros((1, axes))).shape[1]
        features = seen if isinstance(trial.network, JetNetwork) else 0
        return Extent(points, axes, len(closure(trial.indices)), features, trial.outputs, parameters, runs)

    @property
    def block(self) -> int:
        """Bytes of the quantities computed once at all points: coordinates, features, lift and gate."""
        each = self.axes + 1 + self.indices * (self.features + 2 * self.outputs)
        return 8 * self.runs * self.points * each


def needed_bytes(stage: Stage, extent: Extent) -> int:
    """What a stage's matrices take."""
    return (
        extent.runs * stage.dtype.itemsize * stage.numbers(extent.points, extent.outputs, extent.parameters)
    )


def training_bytes(method: Method, extent: Extent) -> int:
    """What a training takes at its peak, beyond the process and its compiled programs."""
    points, block = extent.runs * extent.points, extent.block
    by_residual = method.resampling is not None and method.resampling.by == "residual"
    candidates = method.resampling.candidates if method.resampling and by_residual else 0
    drawing = 8 * extent.axes * extent.points * max(_DRAWING, candidates)
    # Arrays are laid out one after the other, from chunks.
    making = block + 8 * points * max(extent.features, 2 * extent.outputs)
    if method.resampling or len(method.stages) * method.lessons * method.windows * len(method.horizons) > 1:
        making += block + 8 * (extent.axes + 1) * candidates * extent.points  # beside those of before
    steps = 0
    for stage in method.stages:
        share = stage.dtype.itemsize / 8
        converted = 0.0 if share == 1.0 else share * block
        own = block + converted + share * (stage.copies * block + 8 * _VECTORS * points)
        steps = max(steps, int(own) + needed_bytes(stage, extent))
    return max(drawing, making, steps)


def process_bytes(needed: int) -> int:
    """What this process will hold at most, while a training takes so much."""
    return held_bytes() + _PROGRAMS + needed


def available_bytes() -> int | None:
    """The memory that is free on the device in use; None if unknown."""
    device = jax.local_devices()[0]
    if device.platform != "cpu":
        stats = device.memory_stats() or {}
        limit = stats.get("bytes_limit")
        return None if limit is None else int(limit) - int(stats.get("bytes_in_use", 0))
    return free_bytes()


def check_memory(method: Method, extent: Extent) -> int:
    """The bytes that a training takes; a `MethodError` where they are not free."""
    free, needed = available_bytes(), training_bytes(method, extent)
    if free is None or needed <= _USABLE * free:
        return needed
    matrices = {stage.label: needed_bytes(stage, extent) for stage in method.stages}
    label = max(matrices, key=lambda name: matrices[name])
    if matrices[label] > _USABLE * free:
        raise MethodError(
            f"{label} with {extent.parameters:,} parameters and {extent.runs} run(s) needs about "
            f"{matrices[label] / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free. Take a smaller "
            "network, fewer runs at once, or LBFGS."
        )
    raise MethodError(
        f"Training on {extent.points:,} points takes about {needed / 2**30:.1f} GiB of memory, and "
        f"{free / 2**30:.1f} GiB are free. {_fitting(method, extent, _USABLE * free):,} points would fit."
    )


def _fitting(method: Method, extent: Extent, room: float) -> int:
    """How many points fit, to two digits."""
    low, high = 0, extent.points
    while high - low > 1:
        middle = (low + high) // 2
        fits = training_bytes(method, replace(extent, points=middle)) <= room
        low, high = (middle, high) if fits else (low, middle)
    unit = 10 ** max(len(str(low)) - 2, 0)
    return low // unit * unit
