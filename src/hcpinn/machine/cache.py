"""The folder in which hcpinn keeps what it need not compute twice: references, programs, kernels."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """$HCPINN_CACHE or, without it, the user's cache folder."""
    given = os.environ.get("HCPINN_CACHE")
    if given:
        return Path(given).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "hcpinn"
