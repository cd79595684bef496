"""Compiling for a short life: with few optimisations, and each program only once for all tests.

A module of tests imports the fixture, and every test in it profits.
"""

import os

import jax
import pytest
from jax.experimental.compilation_cache import compilation_cache

SETTINGS = {
    "jax_disable_most_optimizations": True,
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
}


@pytest.fixture(autouse=True, scope="module")
def compiled_once(tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # all workers share what they compile
        folder = folder.parent
    wanted = {"jax_compilation_cache_dir": str(folder / "compiled"), **SETTINGS}
    before = {name: jax.config.values[name] for name in wanted}
    for name, value in wanted.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()  # JAX looks for one only once
    yield
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()
