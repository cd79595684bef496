"""Disks that do not answer, damaged checkpoints and file systems without locks cost a study nothing it had."""

import errno
import io
import os
import shutil

import pytest

import hcpinn as hc
from hcpinn.errors import FileError
from hcpinn.study import Store, run_study
from hcpinn.study.watch import Watch
from small_studies import DECAY, method, same, study

ONE = study(hc.Run(DECAY, method(stages=(hc.Adam(steps=3000, rate=1e-2, precision="float64"),)), 0))
PASSING = [errno.ESTALE, errno.ETIMEDOUT, errno.EMFILE, errno.ENFILE, errno.EIO, errno.EACCES, errno.ENOMEM]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    run_study(ONE, folder, solutions=False)
    return Store(folder).records()[0]


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A study that was broken off twice, so that it has two checkpoints."""
    folder = tmp_path_factory.mktemp("begun")
    for _ in range(2):
        assert run_study(ONE, folder, max_seconds=1e-3).left == 1
    assert len(list(folder.glob("work/*/checkpoint*.npz"))) == 2
    return folder


@pytest.fixture
def folder(begun, tmp_path):
    return shutil.copytree(begun, tmp_path / "store")


def checkpoints(folder):
    return {path: path.read_bytes() for path in folder.glob("work/*/checkpoint*.npz")}


def broken(code, wanted, then):
    def fail(path, *others, **options):
        if isinstance(path, str | os.PathLike) and wanted(os.fspath(path)):
            raise OSError(code, os.strerror(code))
        return then(path, *others, **options)

    return fail


def test_a_checkpoint_that_cannot_be_read_for_now_stays(folder, whole, monkeypatch):
    before = checkpoints(folder)
    for code in PASSING:
        with monkeypatch.context() as patch:
            patch.setattr(os, "open", broken(code, lambda path: path.endswith("checkpoint.npz"), os.open))
            with pytest.raises(FileError, match=rf"Cannot read .*checkpoint\.npz: {os.strerror(code)}"):
                run_study(ONE, folder)
        assert checkpoints(folder) == before
        assert not Store(folder).keys()
    assert run_study(ONE, folder, solutions=False).complete
    assert same(Store(folder).records()[0], whole)


@pytest.mark.parametrize(
    ("call", "code"),
    [("replace", errno.ENOSPC), ("replace", errno.ESTALE), ("link", errno.EMFILE)],
    ids=["replace-ENOSPC", "replace-ESTALE", "link-EMFILE"],
)
def test_a_checkpoint_that_cannot_be_written_costs_no_earlier_one(folder, whole, monkeypatch, code, call):
    before = checkpoints(folder)
    newest = max(before, key=lambda path: path.stat().st_mtime_ns)
    fail = broken(code, lambda path: "checkpoint.npz" in path, getattr(os, call))
    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        if call == "link":  # then it is copied
            patch.setattr(shutil, "copyfile", fail)
        with pytest.raises(FileError, match=rf"Cannot .*checkpoint.*{os.strerror(code)}.*untouched"):
            run_study(ONE, folder, checkpoint_every=0.0)
    assert newest.read_bytes() == before[newest]
    assert not Store(folder).keys()
    assert run_study(ONE, folder, solutions=False).complete
    assert same(Store(folder).records()[0], whole)


class Listening(Watch):
    def __init__(self):
        super().__init__()
        self.notes = []

    def note(self, text):
        self.notes.append(text)


@pytest.mark.parametrize("damaged", [1, 2])
def test_damaged_checkpoints_are_kept_aside_and_the_one_before_goes_on(folder, whole, damaged):
    names = ["checkpoint.npz", "checkpoint.previous.npz"][:damaged]
    for path in checkpoints(folder):
        if path.name in names:
            path.write_bytes(path.read_bytes()[:1000])
    watch = Listening()
    assert run_study(ONE, folder, solutions=False, watch=watch).complete
    assert same(Store(folder).records()[0], whole)
    aside = sorted(folder.glob("work/*unusable*"))
    assert [path.stat().st_size for path in aside] == [1000] * damaged
    (note,) = watch.notes
    assert "cannot be read as an hcpinn checkpoint" in note
    assert all(str(path) in note for path in aside)


def test_a_checkpoint_of_a_newer_version_is_left_alone(folder, monkeypatch):
    from hcpinn.descent import checkpoint

    before = checkpoints(folder)
    monkeypatch.setattr(checkpoint, "_VERSION", checkpoint._VERSION - 1)
    with pytest.raises(FileError, match="Update hcpinn to open it"):
        run_study(ONE, folder)
    assert checkpoints(folder) == before
    assert not Store(folder).keys()


@pytest.mark.parametrize("place", ["statement", "run"])
def test_a_lock_that_could_not_be_looked_at_is_free_for_the_next_try(folder, whole, monkeypatch, place):
    """Else the next try would wait for it without end."""
    wanted = {"statement": "study", "run": ONE.sections[0].keys[0]}[place]
    fail = broken(errno.EDQUOT, lambda path: path.endswith(f"{wanted}.lock"), os.lstat)
    with monkeypatch.context() as patch:
        patch.setattr(os, "lstat", fail)
        with pytest.raises(FileError, match=r"Cannot lock .*Disk quota exceeded"):
            run_study(ONE, folder)
    assert run_study(ONE, folder, solutions=False, max_seconds=300.0).complete
    assert same(Store(folder).records()[0], whole)


@pytest.mark.parametrize("call", ["open", "keys"])
def test_of_a_group_that_cannot_be_locked_no_run_stays_locked(tmp_path, monkeypatch, call):
    """Be it the last lock that cannot be made, or the look at what others have finished meanwhile."""
    stages = (hc.Adam(steps=20, rate=1e-2),)
    three = study(*(hc.Run(DECAY, method(stages=stages), seed) for seed in range(3)))
    last = tmp_path / "claims" / f"{max(three.sections[0].keys)}.lock"
    keys = Store.keys
    with monkeypatch.context() as patch:
        if call == "open":
            patch.setattr(os, "open", broken(errno.EMFILE, lambda path: path == str(last), os.open))
        else:
            fail = broken(errno.EMFILE, lambda _: last.exists(), lambda _, store: keys(store))
            patch.setattr(Store, "keys", lambda store: fail("", store))
        with pytest.raises((FileError, OSError), match=os.strerror(errno.EMFILE)) as said:
            run_study(three, tmp_path)
    assert said.traceback  # which holds on to what failed
    store = Store(tmp_path)
    for key in three.sections[0].keys:
        lock = store.lock(key)
        assert lock is not None
        lock.release()


def test_a_link_in_the_place_of_the_look_at_a_folder_is_not_followed(tmp_path):
    from hcpinn.cli.app import check_folder

    precious = tmp_path / "precious"
    precious.write_text("not to be lost")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".writable").symlink_to(precious)
    check_folder(tmp_path / "out")
    assert precious.read_text() == "not to be lost"


def test_pictures_that_are_not_png_are_not_decoded():
    from PIL import Image, UnidentifiedImageError

    from hcpinn.study.picture import small_png

    for kind in ("GIF", "BMP", "EPS"):
        stream = io.BytesIO()
        Image.new("RGB", (4, 4)).save(stream, kind)
        with pytest.raises(UnidentifiedImageError):
            small_png(stream.getvalue())
