"""A lock is held by one, is free again once it is released, and stays taken by nobody where a system call fails."""

import errno
import os
import warnings

import pytest

from hcpinn.errors import FileError
from hcpinn.machine import locks
from hcpinn.machine.locks import Lock

CODES = [errno.EDQUOT, errno.ENOSPC, errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EMFILE, errno.ENOMEM,
         errno.EACCES, errno.EROFS, errno.ENOLCK]  # fmt: skip

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has one answer for both")


def failing(error):
    def fail(*_, **__):
        raise error

    return fail


def assert_free(path):
    lock = Lock.take(path)
    assert lock is not None
    lock.release()


def test_one_holds_a_lock_at_a_time(tmp_path):
    path = tmp_path / "claims" / "a.lock"
    first = Lock.take(path)
    assert Lock.take(path) is None
    first.release()
    assert not path.exists()
    second = Lock.take(path)
    first.release()  # again, which is not that of the second
    assert Lock.take(path) is None
    second.release()
    assert_free(path)


@pytest.mark.parametrize("call", ["open", "lstat", "fstat", "ftruncate", "write"])
@pytest.mark.parametrize("code", CODES, ids=errno.errorcode.get)
def test_what_fails_while_a_lock_is_taken_leaves_it_free(tmp_path, monkeypatch, call, code):
    path = tmp_path / "a.lock"
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing(OSError(code, os.strerror(code))))
        with pytest.raises(FileError, match=rf"Cannot lock .*a\.lock: {os.strerror(code)}") as said:
            Lock.take(path)
    assert said.traceback  # though someone still looks at where it came from
    assert_free(path)


@pytest.mark.parametrize("call", ["lstat", "write"])
def test_an_interrupt_while_a_lock_is_taken_leaves_it_free(tmp_path, monkeypatch, call):
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            Lock.take(tmp_path / "a.lock")
    assert_free(tmp_path / "a.lock")


@pytest.mark.parametrize("call", ["unlink", "close"])
@pytest.mark.parametrize("code", CODES, ids=errno.errorcode.get)
def test_what_fails_while_a_lock_is_released_leaves_it_free(tmp_path, monkeypatch, call, code):
    path, close = tmp_path / "a.lock", os.close
    lock = Lock.take(path)

    def closed(handle):  # as Linux does, which reports what went wrong, and closes nevertheless
        close(handle)
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        error = OSError(code, os.strerror(code))
        patch.setattr(os, call, closed if call == "close" else failing(error))
        lock.release()
    assert_free(path)


def test_a_lock_whose_file_was_removed_meanwhile_is_taken_on_a_new_one(tmp_path, monkeypatch):
    path, lock, tries = tmp_path / "a.lock", locks._lock, []

    def late(handle):
        if not tries:
            path.unlink()
        tries.append(handle)
        lock(handle)

    with monkeypatch.context() as patch:
        patch.setattr(locks, "_lock", late)
        own = Lock.take(path)
    assert len(tries) == 2
    assert Lock.take(path) is None
    own.release()


@posix
@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EACCES, errno.EINVAL])
def test_a_folder_without_locks_is_said_once_and_used(tmp_path, monkeypatch, code):
    monkeypatch.setattr(locks, "_lock", failing(OSError(code, os.strerror(code))))
    with warnings.catch_warnings(record=True) as said:
        taken = [Lock.take(tmp_path / "claims" / key) for key in "ab"]
    assert [type(lock) for lock in taken] == [Lock, Lock]
    for lock in taken:
        lock.release()
    (warning,) = said
    assert f"cannot be locked ({os.strerror(code)})" in str(warning.message)


def test_a_link_in_the_place_of_a_lock_is_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("not to be lost")
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "a.lock").symlink_to(precious)
    with pytest.raises(FileError, match="Cannot lock"):
        Lock.take(tmp_path / "claims" / "a.lock")
    assert precious.read_text() == "not to be lost"
