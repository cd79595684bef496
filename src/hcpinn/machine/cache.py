"""The folder where hcpinn keeps references, compiled programs and kernels for later runs.

What lies there is run and believed, so it is used only where nobody else can have put it there.
"""

from __future__ import annotations

import atexit
import errno
import functools
import hashlib
import os
import stat
import sys
import tempfile
import warnings
from pathlib import Path

from .files import write_bytes


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
    """The cache folder or, if it cannot be written or trusted, a temporary one with a warning."""
    return _writable(cache_folder())


@functools.cache
def _writable(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not is_private(folder.resolve()):
            if os.environ.get("HCPINN_CACHE"):  # it may be of use to others
                raise PermissionError(errno.EPERM, "other users can write there; chmod 700 ends that")
            folder.chmod(0o700)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        warnings.warn(
            f"hcpinn cannot write to its cache folder {folder} ({error.strerror or error}), so later runs "
            "will compile and compute references again. Set HCPINN_CACHE to a folder of your own.",
            stacklevel=3,
        )
        temporary = tempfile.TemporaryDirectory(prefix="hcpinn-")
        atexit.register(temporary.cleanup)
        return Path(temporary.name)


def keep(path: Path, content: bytes) -> None:
    """Write a file of the cache that nobody else may change, and its digest beside it."""
    write_bytes(path, content, private=True)
    write_bytes(_digest(path), _digest_of(content), private=True)


def is_kept(path: Path) -> bool:
    """Whether a file of the cache is there as `keep` wrote it: whole, and by nobody else."""
    try:
        return (
            is_private(path)
            and is_private(_digest(path))
            and _digest(path).read_bytes() == _digest_of(path.read_bytes())
        )
    except OSError:
        return False


def _digest(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _digest_of(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def is_private(path: Path) -> bool:
    """Whether only this user, or the administrator, can have written what is there."""
    facts = path.lstat()
    if sys.platform == "win32":
        return True
    return not stat.S_ISLNK(facts.st_mode) and facts.st_uid in (os.geteuid(), 0) and not facts.st_mode & 0o022
