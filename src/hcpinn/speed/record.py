"""Where measurements come from: device, versions, commit, and how busy the machine was."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..machine.commit import source_commit
from ..machine.provenance import provenance


def origin(program: str, arguments: Sequence[str]) -> dict[str, Any]:
    """What belongs beside measurements that start now; of files among the arguments only the names."""
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
    """Processes that wanted to run over the last 1, 5 and 15 minutes; None where nobody says.

    Before a measurement starts it should be near zero: whatever else runs takes part of the machine.
    """
    try:
        return [round(load, 2) for load in os.getloadavg()]
    except (OSError, AttributeError):
        return None
