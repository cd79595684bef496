"""Where measurements come from: device, versions, commit, and how busy the machine was."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from typing import Any

from ..solving import provenance
from ..study.commit import source_commit


def origin(command: str) -> dict[str, Any]:
    """What belongs beside measurements that start now."""
    where = provenance()
    return {
        "command": command,
        "device": where.device,
        "versions": dict(where.versions),
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
