"""Compiled programs are kept in hcpinn's cache and compiled alike, unless the user has decided otherwise."""

import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import jax
import pytest

from hcpinn.machine.programs import BY_RULE, BY_TIMING, choice_of_kernels, keep_programs


@pytest.fixture
def folder():
    """Sets JAX's folder, and puts back what was there."""
    before = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    yield lambda path: jax.config.update("jax_compilation_cache_dir", path)
    jax.config.update("jax_compilation_cache_dir", before)


def test_programs_go_to_the_cache_of_hcpinn(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("HCPINN_CACHE", str(tmp_path))
    folder(None)
    keep_programs()
    assert Path(jax.config.jax_compilation_cache_dir).parent == tmp_path / "programs"  # type: ignore[attr-defined]
    jax.jit(lambda x: 3 * x + 17)(jax.numpy.ones(11)).block_until_ready()
    assert any(path.is_file() for path in tmp_path.rglob("*"))


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not say")
def test_programs_for_another_number_of_cores_are_kept_apart(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("HCPINN_CACHE", str(tmp_path))
    places = set()
    for cores in ({0}, {0, 1}):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, own=cores: own)
        folder(None)
        keep_programs()
        places.add(jax.config.jax_compilation_cache_dir)  # type: ignore[attr-defined]
    assert len(places) == 2


def test_a_full_disk_is_said_once_and_not_for_every_program(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("HCPINN_CACHE", str(tmp_path))
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    folder(None)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        keep_programs()
        for name in "ab":
            warnings.warn(f"Error writing persistent compilation cache entry for '{name}'", stacklevel=1)
    (one,) = said
    assert "is nearly full" in str(one.message)


SOLVED = """
import jax, jax.numpy as jnp
from hcpinn import keep_programs
keep_programs()
print(jax.jit(lambda x: jnp.linalg.solve(3 * jnp.eye(5) + 1, x))(jnp.arange(5.0)))
"""


def test_programs_that_a_killed_process_left_half_written_are_compiled_anew(tmp_path):
    def run():
        done = subprocess.run(
            [sys.executable, "-c", SOLVED],
            env={**own, "HCPINN_CACHE": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout, done.stderr

    own = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}

    first = run()
    kept = list(tmp_path.rglob("*-cache"))
    assert kept
    for path in kept:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert run() == first


def test_a_folder_of_the_users_own_stays(folder, tmp_path):
    folder(str(tmp_path / "mine"))
    keep_programs()
    assert jax.config.jax_compilation_cache_dir == str(tmp_path / "mine")  # type: ignore[attr-defined]


FLAGS = "import os, jax; from hcpinn import keep_programs; {}; print(os.environ.get('XLA_FLAGS', 'none'))"


@pytest.mark.parametrize(
    ("before", "does", "after"),
    [
        (None, "keep_programs()", "--xla_gpu_deterministic_ops=true"),
        (
            "--xla_dump_hlo_as_text",
            "keep_programs()",
            "--xla_dump_hlo_as_text --xla_gpu_deterministic_ops=true",
        ),
        (None, "keep_programs(); keep_programs()", "--xla_gpu_deterministic_ops=true"),
        ("--xla_gpu_autotune_level=4", "keep_programs()", "--xla_gpu_autotune_level=4"),
        ("--xla_gpu_deterministic_ops=false", "keep_programs()", "--xla_gpu_deterministic_ops=false"),
        ("flags.txt", "keep_programs()", "flags.txt"),  # the name of a file with flags
        (None, "jax.devices(); keep_programs()", "none"),  # too late: the flag would say what is not so
        (None, "pass", "none"),
    ],
)
def test_kernels_are_chosen_by_rule_unless_the_user_or_jax_was_first(before, does, after, tmp_path):
    others = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    found = subprocess.run(
        [sys.executable, "-c", FLAGS.format(does)],
        env={**others, "HCPINN_CACHE": str(tmp_path), **({"XLA_FLAGS": before} if before else {})},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == after


@pytest.mark.parametrize(
    ("flags", "on_a_gpu"),
    [
        ("", BY_TIMING),
        ("--xla_gpu_deterministic_ops=true", BY_RULE),
        ("--xla_dump_hlo_as_text --xla_gpu_deterministic_ops", BY_RULE),
        ("--xla_gpu_deterministic_ops=1", BY_RULE),
        ("--xla_gpu_deterministic_ops=true --xla_gpu_deterministic_ops=false", BY_TIMING),
        ("--xla_gpu_autotune_level=0", BY_RULE),
        ("flags.txt", BY_TIMING),
        ("--xla_gpu_autotune_level=4", BY_TIMING),
        ("--xla_gpu_deterministic_ops=false", BY_TIMING),
    ],
)
def test_how_kernels_are_chosen(flags, on_a_gpu, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", flags)
    assert choice_of_kernels("gpu") == on_a_gpu
    assert choice_of_kernels("cpu") == BY_RULE
