"""The circumstances of a measurement: device, versions, commit, and the load of the machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..machine.commit import source_commit
from ..machine.provenance import provenance


def circumstances(program: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Those of measurements that start now; of paths among the arguments only the last part is kept."""
    where = provenance()
    return {
        "command": " ".join([program, *(Path(argument).name for argument in arguments)]),
        "device": where.device,
        "versions": dict(where.versions),
        "kernels": where.kernels,
        "platform": platform.platform(),
        "commit": source_commit(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "load_average": load_average(),
    }


def load_average() -> list[float] | None:
    """Average numbers of running processes over the last 1, 5 and 15 minutes; None where unknown.

    They should be near zero before a measurement starts.
    """
    try:
        return [round(load, 2) for load in os.getloadavg()]
    except (OSError, AttributeError):
        return None
