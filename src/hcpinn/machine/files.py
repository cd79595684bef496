"""Single-file archives: named arrays and a JSON header, written whole or not at all.

An archive is a ZIP of NumPy arrays without pickled objects, so reading one from elsewhere
never runs code. Its header names what it holds and the version of its layout.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError

_HEADER = "hcpinn.json"


def write_archive(
    path: str | os.PathLike[str],
    *,
    kind: str,
    version: int,
    header: Mapping[str, Any],
    arrays: Mapping[str, Any],
) -> Path:
    """Write an archive. A reader sees the old file or the new one, never a part of it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_HEADER, json.dumps({"kind": kind, "version": version, **header}))
        for name, value in arrays.items():
            member = io.BytesIO()
            np.save(member, np.asarray(value), allow_pickle=False)
            archive.writestr(f"{name}.npy", member.getvalue())
    return write_bytes(path, buffer.getvalue())


def write_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file atomically and durably."""
    target = Path(path)
    temporary = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise FileError(
            f"Cannot write {target}: {error.strerror or error}. Whatever was there before is untouched. "
            "Free some space or choose another folder."
        ) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
    return target


def _umask() -> int:
    """The permissions new files are not to have; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_archive(
    path: str | os.PathLike[str], *, kind: str, version: int
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of an archive, after checking that it is what it should be."""
    source = Path(path)
    try:
        with zipfile.ZipFile(source) as archive:
            damaged = archive.testzip()
            if damaged is not None:
                raise FileError(f"{source} is damaged: its part '{damaged}' fails its checksum.")
            names = archive.namelist()
            if _HEADER not in names:
                raise FileError(f"{source} is not a file of hcpinn: it has no hcpinn header.")
            header = json.loads(archive.read(_HEADER))
            _check_header(source, header, kind, version)
            arrays = {
                name.removesuffix(".npy"): np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
                for name in names
                if name != _HEADER
            }
    except FileNotFoundError as error:
        raise FileError(f"There is no file {source}.") from error
    except OSError as error:
        raise FileError(f"Cannot read {source}: {error.strerror or error}.") from error
    except (
        zipfile.BadZipFile,
        EOFError,
        KeyError,
        ValueError,
        NotImplementedError,
        RuntimeError,
        zlib.error,
    ) as error:
        raise FileError(
            f"{source} cannot be read as an hcpinn {kind}: it is cut short, damaged, or of another program "
            f"({error})."
        ) from error
    return header, arrays


def _check_header(source: Path, header: Any, kind: str, version: int) -> None:
    if not isinstance(header, dict) or header.get("kind") != kind:
        found = header.get("kind") if isinstance(header, dict) else None
        raise FileError(f"{source} holds a {found or 'thing without a name'}, not a {kind}.")
    if not isinstance(header.get("version"), int) or header["version"] < 1:
        raise FileError(f"{source} does not say which version of the {kind} format it uses.")
    if header["version"] > version:
        raise FileError(
            f"{source} uses version {header['version']} of the {kind} format; this hcpinn reads up to "
            f"version {version}. Update hcpinn to open it."
        )
