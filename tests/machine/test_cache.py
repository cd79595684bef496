"""The cache folder, and what stands in for it when nothing can be written there."""

import os

import numpy as np
import pytest

from declarations import declare
from hcpinn import solve_reference
from hcpinn.machine.cache import cache_folder, writable_cache_folder


def test_the_folder_of_the_environment_is_used(monkeypatch, tmp_path):
    monkeypatch.setenv("HCPINN_CACHE", str(tmp_path / "deep" / "cache"))
    assert writable_cache_folder() == cache_folder() == tmp_path / "deep" / "cache"


def test_an_unwritable_folder_is_replaced_with_one_warning(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HCPINN_CACHE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="cannot write to its cache folder .*file") as found:
        reference = solve_reference(declare(), times=5, points=17)
    folder = writable_cache_folder()  # without a second warning
    assert len(found) == 1
    assert [name for name in os.listdir(folder) if name.startswith("reference-")]
    assert np.isfinite(reference.values["u"]).all()
