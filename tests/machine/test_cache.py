"""The cache folder, and what stands in for it when nothing can be written there."""

import os

import numpy as np
import pytest

from declarations import declare
from hcpinn import solve_reference
from hcpinn.machine.cache import cache_folder, is_kept, keep, writable_cache_folder


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


def test_a_folder_that_others_can_write_to_is_not_used(monkeypatch, tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("HCPINN_CACHE", str(folder))
    with pytest.warns(UserWarning, match="other users can write there; chmod 700 ends that"):
        used = writable_cache_folder()
    assert used != folder
    assert folder.stat().st_mode & 0o777 == 0o777
    assert used.stat().st_mode & 0o077 == 0


def test_a_folder_that_hcpinn_makes_is_for_its_user_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("HCPINN_CACHE", str(tmp_path / "new"))
    before = os.umask(0)
    try:
        assert writable_cache_folder().stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


@pytest.mark.parametrize(
    "planted",
    [
        lambda path: path.write_bytes(b"other code"),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.chmod(0o666),
        lambda path: (path.rename(path.with_name("x")), path.symlink_to(path.with_name("x"))),
        lambda path: path.with_name(f"{path.name}.sha256").unlink(),
    ],
    ids=["another content", "cut", "writable by others", "link", "without a digest"],
)
def test_what_was_not_kept_as_it_is_does_not_count(tmp_path, planted):
    path = tmp_path / "kernel.so"
    assert not is_kept(path)
    keep(path, b"machine code")
    assert is_kept(path)
    planted(path)
    assert not is_kept(path)
    keep(path, b"machine code")
    assert is_kept(path)


def test_what_another_user_wrote_does_not_count(tmp_path, monkeypatch):
    path = tmp_path / "kernel.so"
    keep(path, b"machine code")
    if os.geteuid() == 0:
        os.chown(path, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert not is_kept(path)


def test_a_forged_reference_is_not_believed(monkeypatch, tmp_path):
    monkeypatch.setenv("HCPINN_CACHE", str(tmp_path / "cache"))
    first, second = (solve_reference(declare(rhs=rhs), times=5, points=17) for rhs in (_decay, _growth))
    one, two = (tmp_path / "cache").iterdir()
    content = one.read_bytes()
    two.write_bytes(content)
    one.chmod(0o666)
    with pytest.warns(UserWarning, match="it is of another problem|another user may have written it") as said:
        again = [solve_reference(declare(rhs=rhs), times=5, points=17) for rhs in (_decay, _growth)]
    assert len(said) == 2
    for before, after in zip((first, second), again, strict=True):
        np.testing.assert_array_equal(before.values["u"], after.values["u"])


def _decay(u):
    return 0.1 * u.xx - u


def _growth(u):
    return 0.1 * u.xx + u
