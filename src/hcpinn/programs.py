"""Compiled programs kept on disk, so that a second run of the same shape starts sooner."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import version
from pathlib import Path

from .cache import cache_folder


def keep_programs() -> None:
    """Let JAX keep what it compiles in hcpinn's cache folder, unless a folder was chosen already.

    It changes settings of the whole process, so only programs that own it call it, as the
    command line does; importing hcpinn does not.
    """
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    if jax.config.jax_compilation_cache_dir is not None:  # type: ignore[attr-defined]
        return
    jax.config.update("jax_compilation_cache_dir", str(cache_folder() / "programs" / machine()))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    compilation_cache.reset_cache()  # it may have been found missing before


def machine() -> str:
    """A name for this kind of machine: programs for one CPU may not run on another."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        features = sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))})
    except OSError:
        features = [platform.processor()]
    text = "\n".join([platform.machine(), version("jaxlib"), *features])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
