"""Compiled programs: kept on disk, so that a second run starts sooner, and the same whenever compiled."""

from __future__ import annotations

import hashlib
import os
import platform
from importlib.metadata import version
from pathlib import Path

from .cache import cache_folder

BY_RULE, BY_TIMING = "by rule", "by timing"
"""How XLA chooses among kernels for a GPU that do the same and round differently."""

_DETERMINISTIC, _LEVEL = "--xla_gpu_deterministic_ops", "--xla_gpu_autotune_level"
_TRUE = ("", "true", "True", "1")
"""How XLA writes yes."""


def keep_programs() -> None:
    """Let JAX keep what it compiles in hcpinn's cache folder, and compile it alike every time.

    A folder that was chosen already stays. For a GPU XLA otherwise times several kernels when it compiles and
    takes the fastest, so that the next compilation may round differently; now it takes them by rule, unless
    `XLA_FLAGS` says something on it or JAX has been used before: the flag counts from its start.

    It changes settings of the whole process and of those it starts, so only programs that own it call it, as
    the command line does; importing hcpinn does not.
    """
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    flags = os.environ.get("XLA_FLAGS", "").strip()
    in_a_file = flags and not flags.startswith("-")  # whose name it is then
    if not (in_a_file or {_DETERMINISTIC, _LEVEL} & _flags().keys() or _started()):
        os.environ["XLA_FLAGS"] = f"{flags} {_DETERMINISTIC}=true".strip()
    if jax.config.jax_compilation_cache_dir is not None:  # type: ignore[attr-defined]
        return
    jax.config.update("jax_compilation_cache_dir", str(cache_folder() / "programs" / machine()))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    compilation_cache.reset_cache()  # it may have been found missing before


def _started() -> bool:
    """Whether JAX has found its devices, after which `XLA_FLAGS` is not read again."""
    from jax._src import xla_bridge  # nothing public says so without finding them

    return getattr(xla_bridge, "backends_are_initialized", bool)()


def choice_of_kernels(platform: str) -> str:
    """How kernels are chosen on this kind of device, `BY_RULE` or `BY_TIMING`: always by rule on a CPU."""
    flags = _flags()
    fixed = flags.get(_DETERMINISTIC) in _TRUE or flags.get(_LEVEL) == "0"
    return BY_RULE if platform == "cpu" or fixed else BY_TIMING


def _flags() -> dict[str, str]:
    """The flags for XLA with their values; of several of one name the last one counts."""
    given = (flag.partition("=") for flag in os.environ.get("XLA_FLAGS", "").split())
    return {name: value for name, _, value in given}


def machine() -> str:
    """A name for this kind of machine: programs for one CPU may not run on another."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        features = sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))})
    except OSError:
        features = [platform.processor()]
    text = "\n".join([platform.machine(), version("jaxlib"), *features])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
