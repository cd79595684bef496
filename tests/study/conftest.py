"""What tests of studies share: they compile more than they compute."""

import jax
import pytest

from compiling import SETTINGS, compiled_once  # noqa: F401  (a fixture)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """What other processes are told, so that they compile as this one does, and only once."""
    told = {name.upper(): str(value) for name, value in SETTINGS.items()}
    told["JAX_COMPILATION_CACHE_DIR"] = jax.config.values["jax_compilation_cache_dir"]
    told["HCPINN_CACHE"] = str(tmp_path_factory.getbasetemp() / "cache")
    return told
