"""Reference solutions kept on disk, by the content of what they solve.

One entry is one `.npz` file without pickle, written beside its place and moved into it, so
that processes which share the folder see whole entries or none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np

from ..machine.cache import cache_folder
from .result import Reference

_VERSION = 2
"""Raised whenever the solvers or the format change, so that older entries are not found."""

_complained: set[Path] = set()
"""Folders that could not be written to and were reported."""


def entry_key(content: str, settings: dict[str, object]) -> str:
    """The name of the entry for a problem's fingerprint and the solver's settings."""
    text = json.dumps({"version": _VERSION, "content": content, **settings}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def load(key: str, problem_name: str) -> Reference | None:
    """The entry, or None if there is none. One that cannot be read is reported and counts as none."""
    path = _path(key)
    try:
        with np.load(path, allow_pickle=False) as entry:
            facts = json.loads(str(entry["facts"]))
            return Reference.from_plain({**facts, "problem_name": problem_name}, entry)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        warnings.warn(
            f"The cached reference {path} cannot be read ({type(error).__name__}: {error}), "
            "so it is computed again.",
            stacklevel=3,
        )
        return None


def store(key: str, reference: Reference) -> None:
    """Keep a reference. A folder that cannot be written to is reported once and otherwise ignored."""
    path = _path(key)
    facts, arrays = reference.to_plain()
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, facts=np.array(json.dumps(facts)), **arrays)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if path.parent not in _complained:
            _complained.add(path.parent)
            warnings.warn(
                f"References cannot be kept in {path.parent} ({error.strerror or error}), so each is "
                "computed anew. Set HCPINN_CACHE to a folder that can be written to.",
                stacklevel=3,
            )


def _path(key: str) -> Path:
    return cache_folder() / f"reference-{key}.npz"
