"""What all tests share: double precision, and a cache of their own."""

import os

# Tests compile far more than they compute: compile lightly, and leave the other core to the other worker.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_cpu_multi_thread_eigen=false")

import pytest

from hcpinn.precision import double


@pytest.fixture(autouse=True)
def in_double():
    with double():
        yield


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """One reference cache for the whole test run, apart from the user's own."""
    monkeypatch.setenv("HCPINN_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
