"""The folder where hcpinn keeps references, compiled programs and kernels for later runs."""

from __future__ import annotations

import atexit
import functools
import os
import sys
import tempfile
import warnings
from pathlib import Path


def cache_folder() -> Path:
    """`$HCPINN_CACHE` if set, else `hcpinn` inside the user's cache folder."""
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


def writable_cache_folder() -> Path:
    """The cache folder or, if nothing can be written there, a temporary one with a warning."""
    return _writable(cache_folder())


@functools.cache
def _writable(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        warnings.warn(
            f"hcpinn cannot write to its cache folder {folder} ({error.strerror or error}), so later runs "
            "will compile and compute references again. Set HCPINN_CACHE to a writable folder.",
            stacklevel=3,
        )
        temporary = tempfile.TemporaryDirectory(prefix="hcpinn-")
        atexit.register(temporary.cleanup)
        return Path(temporary.name)
