"""Compiled programs: kept on disk for later runs, and compiled the same way every time."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import warnings
from importlib.metadata import version
from pathlib import Path

from .cache import writable_cache_folder

BY_RULE, BY_TIMING = "by rule", "by timing"
"""How XLA chooses among GPU kernels that do the same but round differently."""

_DETERMINISTIC, _LEVEL = "--xla_gpu_deterministic_ops", "--xla_gpu_autotune_level"
_TRUE = ("", "true", "True", "1")
"""What XLA reads as yes."""

_ROOM = 1 << 26
"""Bytes for the programs of a run."""


def keep_programs() -> None:
    """Let JAX keep compiled programs in hcpinn's cache folder, and compile them the same way every time.

    A cache folder already set in JAX stays. On a GPU, XLA by default times several kernels and takes the
    fastest, so the next compilation may round differently. This call makes it choose by rule, unless
    `XLA_FLAGS` already decides or JAX has already started, after which XLA ignores its flags.

    It changes settings of this process and of those it starts, so only a program's main function should call
    it, as the command line does. Importing hcpinn changes nothing.
    """
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    from .processes import has_started

    flags = os.environ.get("XLA_FLAGS", "").strip()
    in_a_file = flags and not flags.startswith("-")  # then XLA_FLAGS is the name of a file
    if not (in_a_file or {_DETERMINISTIC, _LEVEL} & _flags().keys() or has_started()):
        os.environ["XLA_FLAGS"] = f"{flags} {_DETERMINISTIC}=true".strip()
    if jax.config.jax_compilation_cache_dir is not None:  # type: ignore[attr-defined]
        return
    folder = writable_cache_folder()
    if shutil.disk_usage(folder).free < _ROOM:
        warnings.warn(
            f"The disk of hcpinn's cache folder {folder} is nearly full, so later runs may have to compile "
            "again. Free some space, or name another folder in HCPINN_CACHE.",
            stacklevel=2,
        )
    # JAX has a warning for every program that it cannot keep, or compiles anew since what it kept is damaged.
    warnings.filterwarnings("ignore", "Error (writing|reading) persistent compilation cache entry")
    jax.config.update("jax_compilation_cache_dir", str(folder / "programs" / f"{machine()}-{_cores()}"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    compilation_cache.reset_cache()  # JAX may have found no folder before


def choice_of_kernels(platform: str) -> str:
    """How kernels are chosen on this platform, `BY_RULE` or `BY_TIMING`; on a CPU always by rule."""
    flags = _flags()
    fixed = flags.get(_DETERMINISTIC) in _TRUE or flags.get(_LEVEL) == "0"
    return BY_RULE if platform == "cpu" or fixed else BY_TIMING


def _flags() -> dict[str, str]:
    """The flags in `XLA_FLAGS` with their values; the last of several with one name counts."""
    given = (flag.partition("=") for flag in os.environ.get("XLA_FLAGS", "").split())
    return {name: value for name, _, value in given}


def _cores() -> int:
    """How many cores this process may use: XLA shares sums out among them, so rounding depends on it."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine() -> str:
    """A name for this kind of machine, since programs for one CPU may not run on another."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        features = sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))})
    except OSError:
        features = [platform.processor()]
    text = "\n".join([platform.machine(), version("jaxlib"), *features])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
