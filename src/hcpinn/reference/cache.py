"""Reference solutions kept on disk, by the content of what they solve."""

from __future__ import annotations

import hashlib
import json
import warnings

from ..errors import FileError
from ..machine.cache import cache_folder, writable_cache_folder
from ..machine.files import read_archive, write_archive
from .result import Reference

_KIND = "reference"
_VERSION = 3
"""Raised whenever the solvers or the format change, so that older entries are not found."""


def entry_key(content: str, settings: dict[str, object]) -> str:
    """The name of the entry for a problem's fingerprint and the solver's settings."""
    text = json.dumps({"version": _VERSION, "content": content, **settings}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def load(key: str, problem_name: str) -> Reference | None:
    """The entry, or None if there is none. One that cannot be read is reported and counts as none."""
    path = cache_folder() / _name(key)
    if not path.is_file():
        return None
    try:
        facts, arrays = read_archive(path, kind=_KIND, version=_VERSION)
        return Reference.from_plain({**facts, "problem_name": problem_name}, arrays)
    except (FileError, ValueError, KeyError, TypeError) as error:
        warnings.warn(
            f"A cached reference cannot be read, so it is computed again. {type(error).__name__}: {error}",
            stacklevel=3,
        )
        return None


def store(key: str, reference: Reference) -> None:
    """Keep a reference; if it cannot be written, warn and go on."""
    facts, arrays = reference.to_plain()
    try:
        path = writable_cache_folder() / _name(key)
        write_archive(path, kind=_KIND, version=_VERSION, header=facts, arrays=arrays)
    except FileError as error:
        warnings.warn(
            f"The reference is not kept, so later runs will compute it again. {error}", stacklevel=3
        )


def _name(key: str) -> str:
    return f"reference-{key}.npz"
