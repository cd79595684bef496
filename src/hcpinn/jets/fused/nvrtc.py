"""CUDA source to PTX with NVIDIA's run-time compiler, which comes with JAX for CUDA."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .plan import CompilerError

_ISA = "8.0"
"""The version of PTX that is claimed: all that the kernels need, and old enough for every assembler."""
_HINT = '.pragma "used_bytes_mask'
"""How a hint begins that came with PTX 8.3."""


def compile_source(source: str, capability: int) -> str:
    """The PTX of a CUDA source for devices of a compute capability (90 for 9.0) and later."""
    library = _library()
    program = ctypes.c_void_p()
    _check(library, library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"", 0, None, None))
    try:
        flags = [f"--gpu-architecture=compute_{capability}", "--std=c++17"]
        given = (ctypes.c_char_p * len(flags))(*[flag.encode() for flag in flags])
        if library.nvrtcCompileProgram(program, len(flags), given):
            log = _text(library, program, "ProgramLog")
            raise CompilerError(f"NVRTC refuses the fused kernels:\n{log}")
        return portable(_text(library, program, "PTX"))
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def portable(ptx: str) -> str:
    """PTX for older assemblers than the compiler's own.

    Left out are hints on which bytes of a load are used, which change nothing in what is computed.
    """
    lines = [line for line in ptx.splitlines() if not line.strip().startswith(_HINT)]
    return "\n".join(f".version {_ISA}" if line.startswith(".version") else line for line in lines)


def _text(library: ctypes.CDLL, program: ctypes.c_void_p, kind: str) -> str:
    size = ctypes.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{kind}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(library, getattr(library, f"nvrtcGet{kind}")(program, buffer))
    return buffer.value.decode()


def _check(library: ctypes.CDLL, code: int) -> None:
    if code:
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise CompilerError(f"NVRTC: {library.nvrtcGetErrorString(code).decode()}")


@cache
def _library() -> ctypes.CDLL:
    for candidate in _candidates():
        try:
            return ctypes.CDLL(candidate)
        except OSError:
            continue
    raise CompilerError("NVIDIA's run-time compiler (libnvrtc) is not installed.")


def _candidates() -> Iterator[str]:
    """Where NVRTC may be: in NVIDIA's Python packages, where the linker looks, and in the usual place."""
    found = importlib.util.find_spec("nvidia")
    for folder in found.submodule_search_locations or [] if found else []:
        yield from sorted(
            str(path) for path in Path(folder).glob("*/lib/libnvrtc.so*") if ".alt" not in path.name
        )
    for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", ctypes.util.find_library("nvrtc")):
        if name:
            yield name
    yield "/usr/local/cuda/lib64/libnvrtc.so"
