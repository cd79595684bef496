"""Archives are written whole or not at all, and what is not one of ours is refused in a sentence."""

import errno
import io
import json
import os
import tracemalloc
import zipfile

import numpy as np
import pytest

from hcpinn.errors import FileError, UnusableFileError
from hcpinn.machine.files import (
    answering,
    read_archive,
    read_toml,
    remove_folder,
    write_archive,
    write_bytes,
)

ARRAYS = {
    "theta": np.linspace(-1, 1, 7),
    "empty": np.zeros((0, 3)),
    "single": np.float32(2.5),
    "wave": np.exp(1j * np.arange(4)).reshape(2, 2),
    "odd.name": np.array([np.nan, np.inf, -0.0]),
    "steps": np.arange(5, dtype=np.int32),
}
HEADER = {"name": "ψ(0, x) = u₀", "numbers": [1, 2.5, None], "nested": {"a": True}}


def write(path, **changes):
    settings = {"kind": "thing", "version": 1, "header": HEADER, "arrays": ARRAYS}
    return write_archive(path, **{**settings, **changes})


def read(path, **changes):
    return read_archive(path, **{"kind": "thing", "version": 1, **changes})


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def archive(path, members):
    with zipfile.ZipFile(path, "w") as target:
        for name, content in members.items():
            target.writestr(name, content)
    return path


def test_what_is_written_is_read_back_bit_for_bit(tmp_path):
    path = write(tmp_path / "a.npz")
    header, arrays = read(path)
    assert {name: header[name] for name in HEADER} == HEADER
    assert set(arrays) == set(ARRAYS)
    for name, wanted in ARRAYS.items():
        assert arrays[name].dtype == np.asarray(wanted).dtype
        assert arrays[name].shape == np.shape(wanted)
        assert arrays[name].tobytes() == np.asarray(wanted).tobytes()


def test_folders_on_the_way_are_made(tmp_path):
    assert read(write(tmp_path / "deep" / "er" / "a.npz"))[0]["kind"] == "thing"


def test_writing_again_replaces_the_old_file_and_leaves_nothing_else(tmp_path):
    path = write(tmp_path / "a.npz")
    write(path, arrays={"theta": np.ones(3)})
    assert set(read(path)[1]) == {"theta"}
    assert os.listdir(tmp_path) == ["a.npz"]


def test_a_file_and_then_its_name_are_made_to_last(tmp_path, monkeypatch):
    synced, sync, rename = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (synced.append(os.fstat(handle).st_ino), sync(handle)))
    monkeypatch.setattr(os, "replace", lambda *names: (synced.append("renamed"), rename(*names)))
    path = write(tmp_path / "a.npz")
    assert synced == [path.stat().st_ino, "renamed", tmp_path.stat().st_ino]


def test_new_files_have_the_permissions_the_user_chose(tmp_path):
    before = os.umask(0o027)
    try:
        path = write_bytes(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    path = write(tmp_path / "a.npz")
    before = path.read_bytes()

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(FileError, match=r"Cannot write .*a\.npz: No space left on device.* Free some space"):
        write(path, arrays={"theta": np.ones(3)})
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.npz"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_breaking_off_a_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    path = write(tmp_path / "a.npz")
    before = path.read_bytes()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(path, arrays={"theta": np.ones(3)})
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.npz"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(FileError, match=r"Cannot write .*a\.npz: .*choose another folder"):
        write(tmp_path / "file" / "a.npz")
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path):
    (tmp_path / "a.npz").mkdir()
    with pytest.raises(FileError, match="Cannot write"):
        write(tmp_path / "a.npz")
    assert os.listdir(tmp_path) == ["a.npz"]
    with pytest.raises(FileError, match=r"Cannot read .*a\.npz: Is a directory"):
        read(tmp_path / "a.npz")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileError, match=r"There is no file .*missing\.npz"):
        read(tmp_path / "missing.npz")


def test_a_truncated_file_is_refused_wherever_it_is_cut(tmp_path):
    content = write(tmp_path / "a.npz").read_bytes()
    cut = tmp_path / "cut.npz"
    for length in [*range(0, len(content), 37), *range(len(content) - 60, len(content))]:
        cut.write_bytes(content[:length])
        with pytest.raises(FileError, match=r"cut\.npz"):
            read(cut)


def test_a_damaged_byte_is_refused_or_harmless_wherever_it_is(tmp_path):
    content = write(tmp_path / "a.npz").read_bytes()
    damaged = tmp_path / "damaged.npz"
    rng = np.random.default_rng(0)
    for place in rng.choice(len(content), 300, replace=False):
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        damaged.write_bytes(flipped)
        try:
            _, arrays = read(damaged)
        except FileError as error:
            assert "damaged.npz" in str(error)  # noqa: PT017  (either outcome is right)
        else:
            same = [arrays[n].tobytes() == np.asarray(v).tobytes() for n, v in ARRAYS.items() if n in arrays]
            assert all(same)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, 99])
def test_parts_that_cannot_be_unpacked_are_refused(tmp_path, method):
    content = bytearray(write(tmp_path / "a.npz").read_bytes())
    entry = content.index(b"PK\x01\x02")  # the first entry of the list of contents
    content[entry + 10 : entry + 12] = method.to_bytes(2, "little")
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(FileError, match=r"a\.npz"):
        read(tmp_path / "a.npz")


@pytest.mark.parametrize(
    "content",
    [b"", b"u0 = 1\n", b"\x89PNG\r\n\x1a\n" + bytes(100), b"PK\x03\x04" + bytes(100), npy(np.ones(3))],
    ids=["empty", "text", "png", "zip head", "npy"],
)
def test_files_of_other_programs_are_refused(tmp_path, content):
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"other\.npz cannot be read as an hcpinn thing"):
        read(path)


def test_an_archive_of_another_program_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", theta=np.ones(3))
    with pytest.raises(FileError, match=r"other\.npz is not a file of hcpinn: it has no hcpinn header"):
        read(tmp_path / "other.npz")


def test_pickled_objects_are_neither_written_nor_opened(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    objects = np.array([Trap()], dtype=object)
    path = archive(
        tmp_path / "a.npz",
        {
            "hcpinn.json": json.dumps({"kind": "thing", "version": 1}),
            "theta.npy": npy(objects, allow_pickle=True),
        },
    )
    with pytest.raises(FileError, match="cannot be read as an hcpinn thing"):
        read(path)
    assert not (tmp_path / "sprung").exists()
    with pytest.raises(ValueError, match="allow_pickle"):
        write(tmp_path / "b.npz", arrays={"theta": objects})
    assert not (tmp_path / "b.npz").exists()


@pytest.mark.parametrize(
    "header", ["", "not json", "[1, 2]", "null", json.dumps({"kind": "thing"}), json.dumps({"version": 1})]
)
def test_headers_that_say_nothing_are_refused(tmp_path, header):
    path = archive(tmp_path / "a.npz", {"hcpinn.json": header, "theta.npy": npy(np.ones(3))})
    with pytest.raises(FileError, match=r"a\.npz"):
        read(path)


def test_a_newer_version_says_to_update(tmp_path):
    path = write(tmp_path / "a.npz", version=3)
    message = r"uses version 3 of the thing format; this hcpinn reads up to version 2\. Update hcpinn"
    with pytest.raises(FileError, match=message):
        read(path, version=2)
    assert read(path, version=4)[0]["version"] == 3


def test_the_wrong_kind_is_named(tmp_path):
    path = write(tmp_path / "a.npz", kind="checkpoint")
    with pytest.raises(FileError, match="holds a checkpoint, not a thing"):
        read(path)


def member(shape, content, kind="<f8"):
    """The text of an array whose first lines claim a shape."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": shape})
    return stream.getvalue() + content


HEAD = json.dumps({"kind": "thing", "version": 1})
HOSTILE = {
    "a claim of 8 GB": {"hcpinn.json": HEAD, "theta.npy": member((10**9,), bytes(80))},
    "a claim of more than there is": {"hcpinn.json": HEAD, "theta.npy": member((2**62, 2**62), bytes(80))},
    "a claim of less than there is": {"hcpinn.json": HEAD, "theta.npy": member((3,), bytes(80))},
    "a negative size": {"hcpinn.json": HEAD, "theta.npy": member((-10,), bytes(80))},
    "things without a size": {"hcpinn.json": HEAD, "theta.npy": member((10**9,), b"", "|V0")},
    "a deep header": {"hcpinn.json": "[" * 10**6, "theta.npy": npy(np.ones(3))},
    "a long header": {"hcpinn.json": HEAD + " " * 2**25, "theta.npy": npy(np.ones(3))},
    "a header with NaN": {"hcpinn.json": HEAD[:-1] + ', "seconds": NaN}', "theta.npy": npy(np.ones(3))},
    "a number without end": {"hcpinn.json": HEAD[:-1] + ', "seconds": 1' + "0" * 400 + "}"},
    "half a letter": {"hcpinn.json": HEAD[:-1] + ', "name": "\\ud800"}', "theta.npy": npy(np.ones(3))},
    "a deep shape": {"hcpinn.json": HEAD, "theta.npy": b"\x93NUMPY\x01\x00\x10\x27" + b"(" * 10000},
    "an open text": {"hcpinn.json": HEAD, "theta.npy": b"\x93NUMPY\x01\x00\x10\x00" + b'{"descr": """<f8'},
}


def peak_of(read):
    tracemalloc.start()
    try:
        read()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", HOSTILE)
def test_what_an_archive_claims_takes_no_memory(tmp_path, name):
    path = archive(tmp_path / "a.npz", HOSTILE[name])

    def refuse():
        with pytest.raises(UnusableFileError, match=r"a\.npz"):
            read(path)

    assert peak_of(refuse) < 2**26


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_bomb_is_not_unpacked(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", method) as target:
        target.writestr("hcpinn.json", HEAD)
        target.writestr("theta.npy", npy(np.zeros(10**7)))

    def refuse():
        with pytest.raises(UnusableFileError, match="its parts are compressed"):
            read(tmp_path / "a.npz")

    assert peak_of(refuse) < 2**22


def test_parts_that_share_their_bytes_are_refused(tmp_path):
    path = archive(tmp_path / "a.npz", {"hcpinn.json": HEAD, "theta.npy": npy(np.ones(10**4))})
    content = path.read_bytes()
    start, end = content.index(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    entries = content[start:end] + 99 * content[content.index(b"PK\x01\x02", start + 1) : end]
    counts = 2 * (101).to_bytes(2, "little") + len(entries).to_bytes(4, "little")
    path.write_bytes(content[:start] + entries + content[end : end + 8] + counts + content[end + 16 :])
    with pytest.raises(UnusableFileError, match=r"a\.npz.*its parts are larger than itself"):
        read(path)


def test_equal_content_makes_equal_files_at_any_time(tmp_path, monkeypatch):
    first = write(tmp_path / "a.npz").read_bytes()
    monkeypatch.setattr("time.time", lambda: 2e9)
    assert write(tmp_path / "b.npz").read_bytes() == first


@pytest.mark.parametrize(
    "code", [errno.ESTALE, errno.EIO, errno.EMFILE, errno.ENOMEM], ids=errno.errorcode.get
)
def test_trouble_that_may_pass_is_told_from_damage(tmp_path, monkeypatch, code):
    path = write(tmp_path / "a.npz")

    def fail(*_, **__):
        raise OSError(code, os.strerror(code))

    for room, call in ((os, "open"), (os, "fstat"), (zipfile.ZipFile, "open")):
        with monkeypatch.context() as patch:
            patch.setattr(room, call, fail)
            with pytest.raises(FileError, match=os.strerror(code)) as said:
                read(path)
        assert not isinstance(said.value, UnusableFileError)


def test_a_member_of_a_zip_is_read_like_a_file(tmp_path):
    content = write(tmp_path / "a.npz").read_bytes()
    path = archive(tmp_path / "outer.zip", {"a.npz": content, "cut.npz": content[:-9]})
    with zipfile.ZipFile(path) as outer:
        _, arrays = read(zipfile.Path(outer, "a.npz"))
        assert arrays["theta"].tobytes() == ARRAYS["theta"].tobytes()
        with pytest.raises(UnusableFileError, match=r"outer\.zip.cut\.npz cannot be read as an hcpinn thing"):
            read(zipfile.Path(outer, "cut.npz"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (".".join("a" * 40_000) + " = 1", "a name of more than 16 parts"),
        (".".join(['"\\"b"', "'c.d'"] * 20) + " = 1", "a name of more than 16 parts"),
        ("[" + " . ".join("a" * 40_000) + "]", "a name of more than 16 parts"),
        ("a = " + "[" * 40_000, "too many brackets"),
        ("a = " + "{b = " * 40_000, "too many brackets"),
        ("a = " + "9" * 5_000, "This is not TOML"),
        ("a = 1 # " + "x" * 300_000, "too long"),
        ("a = " + "\x00" * 10, "This is not TOML"),
    ],
    ids=lambda case: case[:12],
)
def test_hostile_toml_takes_little_memory_and_is_refused(tmp_path, text, words):
    path = tmp_path / "a.toml"
    path.write_text(text)

    def refuse():
        with pytest.raises(FileError, match=rf"a\.toml: This .*{words}|{words}"):
            read_toml(path)

    assert peak_of(refuse) < 2**25


def test_toml_of_people_is_read(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('title = "1.2.3.4 … γ"\n[a.b."c.d"]\ne.f = [' + "0.1, " * 5_000 + "]")
    read = read_toml(path)
    assert read["title"] == "1.2.3.4 … γ"
    assert len(read["a"]["b"]["c.d"]["e"]["f"]) == 5_000


def test_what_is_refused_anywhere_in_a_folder_is_a_sentence_and_elsewhere_what_it_is(tmp_path):
    inside, outside = tmp_path / "store" / "runs", tmp_path / "own.csv"
    told = pytest.raises(FileError, match=r"Cannot use .*runs: Stale file handle.*still there")
    with told, answering(tmp_path / "store"):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(inside))
    for folder in (tmp_path / "store", None):
        with pytest.raises(FileNotFoundError), answering(folder):
            outside.read_text()


@pytest.mark.parametrize("call", ["open", "lstat", "fstat", "scandir", "unlink", "rmdir"])
def test_a_folder_that_cannot_be_removed_stays_without_a_word(tmp_path, monkeypatch, call):
    folder = tmp_path / "work"
    write_bytes(folder / "a", b"")

    def fail(*_, **__):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        remove_folder(folder)
    remove_folder(folder)
    assert not folder.exists()
