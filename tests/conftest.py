"""What all tests share: double precision, their own cache, Ctrl-C as in a foreground job."""

import gc
import os
import signal
from importlib.metadata import version
from pathlib import Path

# Shells start background jobs with Ctrl-C ignored. Processes that tests start and interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests compile far more than they compute: compile lightly, and leave the other core to the other worker.
OLD = tuple(map(int, version("jaxlib").split(".")[:2])) < (0, 11)
LIGHTLY = (
    "--xla_backend_optimization_level=0",
    *(["--xla_cpu_use_fusion_emitters=false"] if OLD else []),  # which makes compiling three times as fast
    "--xla_cpu_parallel_codegen_split_count=1",
    "--xla_cpu_multi_thread_eigen=false",
    "--xla_gpu_deterministic_ops=true",  # as in the command line: programs for other flags are others
)
os.environ.setdefault("XLA_FLAGS", " ".join(LIGHTLY))
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of processes that tests start; of this one below
# What one test has compiled serves the others, in this process, in those beside it and in those it starts.
PROGRAMS = {
    "jax_compilation_cache_dir": str(Path(__file__).parents[1] / ".cache" / "programs"),
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
    "jax_traceback_in_locations_limit": 0,  # else each operation of a program looks up where it was called
}
os.environ.update({name.upper(): str(value) for name, value in PROGRAMS.items()})

import jax
import pytest
import threadpoolctl
from jax.experimental.compilation_cache import compilation_cache

from hcpinn.machine.precision import double

for setting, value in PROGRAMS.items():
    jax.config.update(setting, value)
compilation_cache.reset_cache()  # a plugin may have looked for it before it was set
threadpoolctl.threadpool_limits(1, user_api="blas")


def keep_out_of_collections():
    """Let no further garbage collection look at what exists now: the caches of JAX hold millions of objects."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish():
    keep_out_of_collections()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    yield
    if nextitem is None or nextitem.path != item.path:
        keep_out_of_collections()


@pytest.fixture(autouse=True)
def in_double():
    with double():
        yield


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """One reference cache for the whole test run, apart from the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HCPINN_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


@pytest.fixture
def no_programs_kept(monkeypatch):
    """Processes that a test kills use what is compiled, but add nothing: it could be half a program."""
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "1e9")
