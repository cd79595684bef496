"""Kernels for the CPU: C++, compiled at first use by the compiler of the system, and kept."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import jax

from ...machine.background import BackgroundTask
from ...machine.cache import cache_folder, is_kept, keep, writable_cache_folder
from ...machine.programs import machine
from . import arithmetic
from .plan import CompilerError, KernelPlan

TILES = {"float32": 128, "float64": 64}
"""Points at a time, by precision: what belongs to them fits into a core's own cache."""

_CACHE_BYTES = 8 << 20
"""What is kept of points that are taken forward, and then back, at once: it should stay in the last cache."""

_CHUNKS = 2048, 1 << 16
"""The fewest and the most points at once."""

_FEWEST_POINTS = _CHUNKS[0] // 2
"""Below, compiling the kernels takes longer than they save."""

_MOST_STREAMS = 10

_SECONDS = 120.0
"""How long a compiler may take."""

_compiling: dict[str, BackgroundTask[Path]] = {}
"""Libraries being compiled, by name."""


def threads() -> int:
    """How many threads this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def possible() -> bool:
    """Whether there is a compiler."""
    try:
        return bool(_compiler())
    except CompilerError:
        return False


def chunk(numbers: int, itemsize: int) -> int:
    """How many points to take forward and back at once, if so many numbers are kept of each."""
    fitting = _CACHE_BYTES // (numbers * itemsize)
    return min(max(1 << max(fitting, 1).bit_length() - 1, _CHUNKS[0]), _CHUNKS[1])


def filled(width: int) -> int:
    """The width with the neurons that fill it up."""
    return -(-width // 4) * 4


def suits(plan: KernelPlan) -> bool:
    """Whether the kernels can do it, and are worth it."""
    fits = plan.precision in TILES and plan.streams <= _MOST_STREAMS
    return fits and plan.points >= _FEWEST_POINTS and possible()


def begin(plan: KernelPlan) -> None:
    """Start compiling in the background; errors surface when the kernels are first needed."""
    text, compiler = source(plan), _compiler()
    name = _name(text, compiler)
    if name not in _compiling:
        _compiling[name] = BackgroundTask(lambda: _library(name, text, compiler))
        _compiling[name].start()


def prepare(plan: KernelPlan) -> None:
    """Compile, or raise an error that says why not."""
    _registered(source(plan))


def target(plan: KernelPlan, name: str) -> str:
    """The name under which XLA knows a kernel."""
    return f"{name}_{_registered(source(plan))}"


def source(plan: KernelPlan) -> str:
    """The C++ source for a plan; the number of points and of runs is not part of it."""
    heads = [f"#define {name} {value}" for name, value in plan.constants().items()]
    double = plan.precision == "float64"
    heads += [f"#define real {'double' if double else 'float'}", f"#define DOUBLE {int(double)}"]
    body = Path(__file__).with_name("host.cpp").read_text(encoding="utf-8")
    functions = arithmetic.functions(
        plan.activation,
        plan.indices,
        number="V",
        precision=plan.precision,
        kind="static inline",
        mixed=plan.mixed,
    )
    start, end = body.split("\nARITHMETIC\n")
    # The headers come first: they have names of one letter of their own.
    includes, code = start.split("\n#if defined(__AVX512F__)\n", 1)
    return "\n".join([includes, *heads, "#if defined(__AVX512F__)", code, functions, end])


@cache
def _registered(text: str) -> str:
    """The name of a compiled source, whose kernels XLA knows."""
    compiler = _compiler()
    name = _name(text, compiler)
    if name in _compiling:
        _compiling.pop(name).wait()
    library = ctypes.CDLL(str(_library(name, text, compiler)))
    for kernel in ("hcpinn_forward", "hcpinn_backward"):
        jax.ffi.register_ffi_target(
            f"{kernel}_{name}", jax.ffi.pycapsule(getattr(library, kernel)), platform="cpu"
        )
    return name


def _name(text: str, compiler: str) -> str:
    """The name of a source, compiled by this compiler for this machine."""
    return hashlib.sha256("\n".join([text, compiler, *_flags(), machine()]).encode()).hexdigest()[:16]


def _library(name: str, text: str, compiler: str) -> Path:
    """The compiled library: kept in the cache folder, made if it is not there."""
    place = Path("kernels", f"{name}.so")
    library = cache_folder() / place
    if is_kept(library):
        return library
    library = writable_cache_folder() / place
    folder = library.parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        path, made = Path(scratch) / "kernels.cpp", Path(scratch) / "kernels.so"
        path.write_text(text, encoding="utf-8")
        command = [compiler, *_flags(), f"-I{jax.ffi.include_dir()}", str(path), "-o", str(made)]
        try:
            # In a session of its own it does not hear a Ctrl-C, which training answers in its own time.
            ended = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
                start_new_session=True,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CompilerError(f"{compiler} could not be run: {error}") from None
        if ended.returncode:
            said = [line.split("error:")[1] for line in ended.stderr.splitlines() if "error:" in line]
            raise CompilerError(f"{compiler} refuses them:{(said or [' no reason given'])[0]}")
        keep(library, made.read_bytes())
    return library


def _flags() -> tuple[str, ...]:
    return ("-std=c++17", "-O3", "-march=native", "-fPIC", "-shared", "-w")


@cache
def _compiler() -> str:
    for name in (os.environ.get("CXX"), "g++", "clang++", "c++"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise CompilerError("there is no C++ compiler")
