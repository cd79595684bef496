"""Reference solutions kept on disk, by the content of what they solve.

One entry is one archive, written atomically, since processes may share the folder.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from functools import cache
from pathlib import Path

from ..errors import FileError
from ..machine.cache import cache_folder, is_private, writable_cache_folder
from ..machine.files import read_archive, write_archive
from .result import Reference

_KIND, _VERSION = "reference", 5
"""The version is raised whenever the solvers or the format change, so that older entries are not found."""


def entry_key(content: str, settings: dict[str, object]) -> str:
    """The name of the entry for a problem's fingerprint and the solver's settings."""
    text = json.dumps({"version": _VERSION, "content": content, **settings}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def load(key: str, problem_name: str) -> Reference | None:
    """The entry, or None if there is none. One that cannot be used is reported and counts as none."""
    path = cache_folder() / _name(key)
    try:
        if not is_private(path):
            raise ValueError("another user may have written it")
        header, arrays = read_archive(path, kind=_KIND, version=_VERSION)
        if header["key"] != key:
            raise ValueError("it is of another problem")
        return Reference.from_plain({**header["facts"], "problem_name": problem_name}, arrays)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (FileError, OSError, ValueError, KeyError, TypeError) as error:
        warnings.warn(
            f"The cached reference {path} cannot be used ({error}), so it is computed again.",
            stacklevel=3,
        )
        return None


def store(key: str, reference: Reference) -> None:
    """Keep a reference; if it cannot be written, warn and continue."""
    facts, arrays = reference.to_plain()
    header = {"key": key, "facts": facts}
    folder = writable_cache_folder()
    try:
        write_archive(
            folder / _name(key), kind=_KIND, version=_VERSION, header=header, arrays=arrays, private=True
        )
    except FileError as error:
        _warn_once(folder, getattr(error.__cause__, "strerror", None) or str(error))


@cache
def _warn_once(folder: Path, reason: str) -> None:
    warnings.warn(
        f"References cannot be kept in {folder} ({reason}), so later runs will compute them again. Free some "
        "space, or name another folder in HCPINN_CACHE.",
        stacklevel=4,
    )


def _name(key: str) -> str:
    return f"reference-{key}.npz"
