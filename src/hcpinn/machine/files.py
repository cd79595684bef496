"""Files: written whole or not at all, read within bounds, and archives of named arrays with a JSON header.

An archive is a ZIP of NumPy arrays without pickled objects, so reading one from elsewhere
never runs code. Its members are stored as they are, so reading one never takes more memory than the
file has bytes. Its header names what it holds and the version of its layout.

Errors tell what may pass (`FileError`: no such file, no permission, a disk that does not answer) from
what is wrong with the content itself (`UnusableFileError`).
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import re
import shutil
import stat
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from ..errors import FileError, HcpinnError, UnusableFileError

_HEADER = "hcpinn.json"

LARGEST_TEXT = 2**24
"""Bytes of JSON that are read at once: a record has 1e4, the statement of a large study 1e6."""

LARGEST_TOML = 2**18
"""Bytes of TOML that are read: a method takes 1e3, a study 1e4."""

_LONG_KEY = re.compile(r"""(?:(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*\.[ \t]*){16}""")
"""A key of so many parts, whose reading takes memory with the square of their number."""

_HALF_LETTER = re.compile(rb"\\u[dD][89abAB]")
"""How JSON writes half of a letter outside of the basic plane, which should have its other half beside it."""

_MOST_DIGITS = 300
"""Of a whole number in JSON, so that it can be calculated with."""

_PIECE = 2**20
"""Bytes of an array that are read at once, so that it is in memory only once."""

_FIRST = (1980, 1, 1, 0, 0, 0)
"""The time of every member of an archive, so that equal content makes equal files."""

_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)
"""For opening a pipe, which would wait for someone to write to it."""


def write_archive(
    path: str | os.PathLike[str],
    *,
    kind: str,
    version: int,
    header: Mapping[str, Any],
    arrays: Mapping[str, Any],
    private: bool = False,
) -> Path:
    """Write an archive. A reader sees the old file or the new one, never a part of it."""
    with writing(path, private=private) as stream, zipfile.ZipFile(stream, "w") as archive:
        add_member(archive, _HEADER, json.dumps({"kind": kind, "version": version, **header}).encode())
        for name, value in arrays.items():
            member = io.BytesIO()
            np.save(member, np.asarray(value), allow_pickle=False)
            add_member(archive, f"{name}.npy", member.getvalue())
    return Path(path)


def add_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Store a member in a ZIP that is being written, with nothing in it that depends on the time."""
    archive.writestr(zipfile.ZipInfo(name, _FIRST), content, zipfile.ZIP_STORED)


def write_bytes(path: str | os.PathLike[str], content: bytes, *, private: bool = False) -> Path:
    """Write a file atomically and durably; a private one is for this user alone."""
    with writing(path, private=private) as stream:
        stream.write(content)
    return Path(path)


@contextlib.contextmanager
def writing(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[IO[bytes]]:
    """A stream that becomes the file, atomically and durably, when the block ends; not if it raises."""
    target = Path(path)
    temporary = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if not private:
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
            with contextlib.suppress(OSError):
                Path(temporary).unlink(missing_ok=True)
    _sync_folder(target.parent)


def check_folder(folder: Path, option: str) -> None:
    """Make a folder for results and raise a `FileError` if nothing can be written there.

    `option` is where the user named it, such as `--out`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        why = "it is a file" if isinstance(error, FileExistsError) else error.strerror
        raise FileError(
            f"Cannot write to the folder {folder}: {why}. Choose another with {option}."
        ) from error


def remove_folder(folder: Path) -> None:
    """Remove a folder and what is in it, as far as that is possible; what stays does no harm."""
    with contextlib.suppress(OSError):  # which `rmtree` raises even so
        shutil.rmtree(folder, ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder last through a power cut, where folders can be opened and synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    """The permissions new files are not to have; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def reading(path: str | os.PathLike[str], *, inside: Path | None = None) -> Iterator[IO[bytes]]:
    """A regular file, opened for reading.

    Args:
        path: the file.
        inside: a folder that others may have made, such as a store. From there on no link is followed, so
            that nothing outside of it is read.
    """
    source = Path(path)
    extra = _NO_WAITING
    if inside is not None:
        refuse_links(source, inside=inside)
        extra |= _NO_LINKS
    try:
        with open(source, "rb", opener=lambda name, flags: os.open(name, flags | extra)) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise FileError(f"Cannot read {source}: it is not a file with content.")
            yield stream
    except FileNotFoundError as error:
        raise FileError(f"There is no file {source}.") from error
    except OSError as error:
        raise FileError(f"Cannot read {source}: {error.strerror or error}.") from error


@contextlib.contextmanager
def answering(folder: str | os.PathLike[str] | None) -> Iterator[None]:
    """Within the block, operating-system errors on files in a folder become a `FileError`, since they may

    be temporary. Errors on other files, such as those of a user's own functions, are left alone.
    """
    try:
        yield
    except OSError as error:
        name = error.filename if isinstance(error.filename, str | os.PathLike) else None
        if (
            folder is None
            or name is None
            or Path(folder).absolute() not in (p := Path(name).absolute(), *p.parents)
        ):
            raise
        raise FileError(
            f"Cannot use {name}: {error.strerror or error}. What was kept in {folder} before is still there: "
            "try again, or choose another folder."
        ) from error


def written(path: Path) -> tuple[int, ...]:
    """What tells a file from one that replaces it; nothing where there is none."""
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror or error}.") from error
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def refuse_links(path: Path, *, inside: Path) -> None:
    """Refuse a path that is a link, or that goes through one, below a folder that others may have made."""
    for part in (path, *path.parents[: len(path.relative_to(inside).parts) - 1]):
        if part.is_symlink():
            raise FileError(
                f"{part} is a link, and links inside a study's folder are not followed. Put the file itself "
                "in its place."
            )


def read_json(path: str | os.PathLike[str], *, inside: Path | None = None) -> Any:
    """What a JSON file says; `inside` is as for `reading`."""
    with reading(path, inside=inside) as stream:
        return parse_json(stream.read(LARGEST_TEXT + 1), path)


def parse_json(text: bytes, source: object) -> Any:
    """What a text in JSON says, without NaN and infinities; `source` is where it is from, for messages."""
    if len(text) > LARGEST_TEXT:
        raise UnusableFileError(
            f"{source} is not a file of hcpinn: its text is longer than {LARGEST_TEXT:,} bytes."
        )
    try:
        found = json.loads(text.decode(), parse_constant=_no_number, parse_int=_whole)
        if _HALF_LETTER.search(text):  # which could not be written again
            json.dumps(found, ensure_ascii=False).encode()
        return found
    except (ValueError, RecursionError) as error:
        raise UnusableFileError(f"{source} is damaged: it is not JSON ({error}).") from error


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a TOML file says."""
    with reading(path) as stream:
        text = stream.read(LARGEST_TOML + 1)
    try:
        return parse_toml(text.decode())
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: This is not text.") from error
    except FileError as error:
        raise FileError(f"{path}: {error}") from error


def parse_toml(text: str) -> dict[str, Any]:
    """What a text in TOML says."""
    if len(text) > LARGEST_TOML:
        raise FileError(f"This is too long: more than {LARGEST_TOML:,} bytes.")
    if _LONG_KEY.search(text):
        raise FileError("This has a name of more than 16 parts.")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise FileError("This has too many brackets within brackets.") from error
    except ValueError as error:  # also of a number with too many digits
        raise FileError(f"This is not TOML: {error}.") from error


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number has more than {_MOST_DIGITS} digits")
    return int(digits)


def read_archive(
    path: str | os.PathLike[str] | zipfile.Path, *, kind: str | tuple[str, ...], version: int
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of an archive, after checking that it is what it should be.

    `path` may be a member of a ZIP. Of several kinds the first is what messages speak of.
    """
    kinds = (kind,) if isinstance(kind, str) else kind
    kind = kinds[0]
    with path.open("rb") if isinstance(path, zipfile.Path) else reading(path) as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                check_members(archive, stream)
                header = _header(archive, path, kinds, version)
                arrays = {
                    member.filename.removesuffix(".npy"): _array(archive, member)
                    for member in archive.infolist()
                    if member.filename != _HEADER
                }
        except HcpinnError:
            raise
        except MemoryError as error:
            raise FileError(f"Cannot read {path}: there is not enough memory for it.") from error
        except Exception as error:  # whatever ZIP's and NumPy's parsers make of a damaged file
            if isinstance(error, OSError) and error.errno != errno.EINVAL:  # EINVAL: a place before the start
                raise
            raise UnusableFileError(
                f"{path} cannot be read as an hcpinn {kind}: it is cut short, damaged, or of another program "
                f"({error})."
            ) from error
    return header, arrays


def check_members(archive: zipfile.ZipFile, stream: IO[bytes]) -> None:
    """Refuse a ZIP that unpacks to more than it is, whose members are compressed, share bytes or a name."""
    members = archive.infolist()
    if any(m.compress_type != zipfile.ZIP_STORED or m.file_size != m.compress_size for m in members):
        raise ValueError("its parts are compressed")
    if sum(m.file_size for m in members) > stream.seek(0, os.SEEK_END):
        raise ValueError("its parts are larger than itself")
    if len({m.filename for m in members}) < len(members):
        raise ValueError("two of its parts have one name")


def _header(archive: zipfile.ZipFile, source: object, kinds: tuple[str, ...], version: int) -> dict[str, Any]:
    if _HEADER not in archive.namelist():
        raise UnusableFileError(f"{source} is not a file of hcpinn: it has no hcpinn header.")
    with archive.open(_HEADER) as member:
        header = parse_json(member.read(LARGEST_TEXT + 1), f"The header of {source}")
    kind = kinds[0]
    if not isinstance(header, dict) or header.get("kind") not in kinds:
        found = header.get("kind") if isinstance(header, dict) else None
        raise UnusableFileError(f"{source} holds a {found or 'file without a kind'}, not a {kind}.")
    if not isinstance(header.get("version"), int) or header["version"] < 1:
        raise UnusableFileError(f"{source} does not say which version of the {kind} format it uses.")
    if header["version"] > version:
        raise FileError(
            f"{source} uses version {header['version']} of the {kind} format; this hcpinn reads up to "
            f"version {version}. Update hcpinn to open it."
        )
    return header


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """An array, of the size that its member has: what its first lines claim is not believed."""
    with archive.open(member) as stream:
        heads = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        shape, by_column, kind = heads[npy.read_magic(stream)](stream)
        size = math.prod(shape) * kind.itemsize
        if kind.hasobject or min(shape, default=0) < 0 or stream.tell() + size != member.file_size:
            raise ValueError(f"its part '{member.filename}' is not the array it says it is")
        content = bytearray(size)
        for place in range(0, size, _PIECE):  # to the end, where its checksum is looked at
            content[place : place + _PIECE] = stream.read(_PIECE)
    flat = np.frombuffer(content, kind) if size else np.zeros(0, kind)
    return flat.reshape(shape[::-1]).T if by_column else flat.reshape(shape)
