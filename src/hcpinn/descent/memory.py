"""How much memory second-order stages take, known before they start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jax

from ..errors import MethodError
from ..objective import Objective
from .optimisers.stage import Stage


def needed_bytes(stage: Stage, size: int, outputs: int, *, points: int, runs: int = 1) -> int:
    """What a stage's matrices take.

    Args:
        stage: the optimiser.
        size: parameters of the network.
        outputs: its outputs.
        points: residual points of each run.
        runs: how many train together.
    """
    return runs * stage.dtype.itemsize * stage.numbers(points, outputs, size)


def available_bytes() -> int | None:
    """The memory that is free on the device in use; None where nobody says."""
    device = jax.local_devices()[0]
    if device.platform != "cpu":
        stats = device.memory_stats() or {}
        limit = stats.get("bytes_limit")
        return None if limit is None else int(limit) - int(stats.get("bytes_in_use", 0))
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    return None


def check_memory(stages: Sequence[Stage], objective: Objective, *, points: int, runs: int) -> None:
    """Refuse a stage whose matrices do not fit, before any time is spent on it."""
    free = available_bytes()
    for stage in stages:
        needed = needed_bytes(stage, objective.size, objective.trial.outputs, points=points, runs=runs)
        if free is not None and needed > 0.9 * free:
            raise MethodError(
                f"{stage.label} with {objective.size:,} parameters and {runs} run(s) needs about "
                f"{needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free. Take a smaller network, "
                "fewer runs at once, or LBFGS."
            )
