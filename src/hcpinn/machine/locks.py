"""Locks, so that two processes never do the same work, or write to the same files.

The operating system holds the lock on a small file: when the process ends for any reason the lock is
released, so there are no stale ones.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import socket
import sys
import time
import warnings
from pathlib import Path

from ..errors import FileError

_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)

if sys.platform == "win32":
    import msvcrt

    _TAKEN = (errno.EACCES, errno.EDEADLK)

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    _TAKEN = (errno.EWOULDBLOCK,)
    """What the system says of a lock that someone holds; anything else says that there are no locks."""

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Lock:
    """An exclusive right, tied to a file, until it is released or the process ends."""

    def __init__(self, path: Path, handle: int):
        self.path = path
        self._handle: int | None = handle

    @classmethod
    def take(cls, path: Path) -> Lock | None:
        """The lock of a file, which is made; None if someone holds it, be it in this process.

        Whatever fails on the way, nothing stays locked.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            while True:
                handle = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINKS, 0o666)
                try:
                    # Whoever had it may have removed the file between our opening and our locking it.
                    free = _try_lock(handle, path.parent)
                    if free and _same(path, handle):
                        _sign(handle)
                        return cls(path, handle)
                except BaseException:
                    _close(handle)
                    raise
                _close(handle)
                if not free:
                    return None
        except OSError as error:
            raise FileError(
                f"Cannot lock {path}: {error.strerror or error}. Free some space or choose another folder."
            ) from error

    def release(self) -> None:
        """Let others have it; once it is released, this does nothing."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with contextlib.suppress(OSError):  # an empty file that stays does no harm
                self.path.unlink(missing_ok=True)
            _close(handle)


def _try_lock(handle: int, folder: Path) -> bool:
    """Lock an open file, where there are locks; False if someone else has it."""
    try:
        _lock(handle)
    except OSError as error:
        if error.errno in _TAKEN:
            return False
        _warn_once(folder, error.strerror or str(error))
    return True


def _sign(handle: int) -> None:
    """Write into the file of a lock who has it, for people to read."""
    who = {"host": socket.gethostname(), "process": os.getpid(), "since": time.strftime("%F %T")}
    os.ftruncate(handle, 0)
    os.write(handle, json.dumps(who).encode())


def _close(handle: int) -> None:
    """Close a file, which ends its lock, even where the system has trouble to report."""
    with contextlib.suppress(OSError):
        os.close(handle)


@functools.cache
def _warn_once(folder: Path, reason: str) -> None:
    warnings.warn(
        f"Files in {folder} cannot be locked ({reason}), so two processes could do the same work there. Let "
        "one process at a time work on this folder, or choose a folder on a local disk.",
        stacklevel=4,
    )


def _same(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False
