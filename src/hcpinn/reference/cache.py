"""Reference solutions kept on disk, by the content of what they solve.

One entry is one `.npz` file without pickle, written beside its place and moved into it, so
that processes which share the folder see whole entries or none. The folder is $HCPINN_CACHE
or, without it, the user's cache folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np

from .result import Reference

_VERSION = 1
"""Raised whenever the solvers or the format change, so that older entries are not found."""

_complained: set[Path] = set()
"""Folders that could not be written to and were reported."""


def cache_folder() -> Path:
    """Where entries are kept."""
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


def entry_key(content: str, settings: dict[str, object]) -> str:
    """The name of the entry for a problem's fingerprint and the solver's settings."""
    text = json.dumps({"version": _VERSION, "content": content, **settings}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def load(key: str, problem_name: str) -> Reference | None:
    """The entry, or None if there is none. One that cannot be read is reported and counts as none."""
    path = _path(key)
    try:
        with np.load(path, allow_pickle=False) as entry:
            about = json.loads(str(entry["about"]))
            return Reference(
                problem_name=problem_name,
                times=entry["times"],
                coordinates=tuple(entry[f"coordinate_{n}"] for n in range(about["dimensions"])),
                values={name: entry[f"values_{name}"] for name in about["fields"]},
                error_estimate=float(about["error_estimate"]),
                solver=str(about["solver"]),
                notes=tuple(about["notes"]),
                wall_s=float(about["wall_s"]),
            )
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
    about = {
        "dimensions": len(reference.coordinates),
        "fields": list(reference.values),
        "error_estimate": reference.error_estimate,
        "solver": reference.solver,
        "notes": list(reference.notes),
        "wall_s": reference.wall_s,
    }
    arrays = {"about": np.array(json.dumps(about)), "times": reference.times}
    arrays |= {f"coordinate_{n}": c for n, c in enumerate(reference.coordinates)}
    arrays |= {f"values_{name}": v for name, v in reference.values.items()}
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
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
