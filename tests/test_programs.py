"""Compiled programs are kept in hcpinn's cache, unless the user has chosen a place for them."""

from pathlib import Path

import jax
import pytest

from hcpinn.programs import keep_programs


@pytest.fixture
def folder():
    """Sets JAX's folder, and puts back what was there."""
    before = jax.config.jax_compilation_cache_dir
    yield lambda path: jax.config.update("jax_compilation_cache_dir", path)
    jax.config.update("jax_compilation_cache_dir", before)


def test_programs_go_to_the_cache_of_hcpinn(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("HCPINN_CACHE", str(tmp_path))
    folder(None)
    keep_programs()
    assert Path(jax.config.jax_compilation_cache_dir).parent == tmp_path / "programs"
    jax.jit(lambda x: 3 * x + 17)(jax.numpy.ones(11)).block_until_ready()
    assert any(path.is_file() for path in tmp_path.rglob("*"))


def test_a_folder_of_the_users_own_stays(folder, tmp_path):
    folder(str(tmp_path / "mine"))
    keep_programs()
    assert jax.config.jax_compilation_cache_dir == str(tmp_path / "mine")
