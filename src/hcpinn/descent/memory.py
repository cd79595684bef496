"""How much memory second-order stages take, known before they start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jax

from ..errors import MethodError
from ..objective import Objective, jacobian_chunk
from .optimisers.broyden import Broyden
from .optimisers.levenberg_marquardt import LevenbergMarquardt
from .optimisers.stage import Stage

_COPIES = {LevenbergMarquardt: 4, Broyden: 4}
"""Square matrices of the number of parameters that a stage holds at once."""


def needed_bytes(stage: Stage, size: int, outputs: int, *, runs: int = 1) -> int:
    """What a stage's matrices take, for networks with `size` parameters and runs that train together."""
    item = stage.dtype.itemsize
    squares = _COPIES.get(type(stage), 0) * size**2
    rows = 2 * jacobian_chunk(size, outputs, item) * outputs * size
    return runs * item * (squares + (rows if isinstance(stage, LevenbergMarquardt) else 0))


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


def check_memory(stages: Sequence[Stage], objective: Objective, runs: int) -> None:
    """Refuse a stage whose matrices do not fit, before any time is spent on it."""
    free = available_bytes()
    for stage in stages:
        needed = needed_bytes(stage, objective.size, objective.trial.outputs, runs=runs)
        if free is not None and needed > 0.9 * free:
            raise MethodError(
                f"{stage.label} with {objective.size:,} parameters and {runs} run(s) needs about "
                f"{needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free. Take a smaller network, "
                "fewer runs at once, or LBFGS."
            )
