"""A packed store is the same store in fewer files: readable, complete, and no more trusted than any other file."""

import io
import json
import os
import zipfile

import pytest

import hcpinn as hc
from hcpinn.cli.commands import run
from hcpinn.errors import FileError
from hcpinn.machine.files import LARGEST_TEXT
from hcpinn.study import Store
from small_studies import DECAY, method, record

KEYS = [f"{seed:040}" for seed in range(4)]


@pytest.fixture(scope="module")
def solution():
    return hc.solve(DECAY, method(stages=(hc.Adam(steps=5),)), progress=False).lean()


@pytest.fixture
def store(tmp_path, solution):
    store = Store.make(tmp_path / "store")
    for seed in (2, 0, 1):
        store.keep(record(key=KEYS[seed], seed=seed), solution if seed else None)
    return store


def content(store):
    plain = {r.key: r.to_plain() for r in store.records()}
    files = {}
    for key in plain:
        with store.file("solutions", key) as path:
            files[key] = None if path is None else path.read_bytes()
    return [r.key for r in store.records()], json.dumps(plain), files


def files(store):
    return {p.relative_to(store.folder).as_posix() for p in store.folder.rglob("*") if p.is_file()}


def packed(store):
    return [(store.folder / name).read_bytes() for name in ("runs.jsonl", "solutions.zip")]


def test_a_packed_store_has_few_files_and_the_same_content(store, solution):
    before = content(store)
    store.pack()
    assert files(store) == {"store.json", "runs.jsonl", "solutions.zip"}
    for again in (store, Store(store.folder)):
        assert content(again) == before
        assert again.keys() == set(KEYS[:3])
        assert again.get(KEYS[3]) is None
        assert again.solution(KEYS[0]) is None
        found = again.solution(KEYS[1], problem=DECAY)
        assert found.theta.tobytes() == solution.theta.tobytes()


def test_a_line_is_what_a_file_said_though_this_version_may_know_less_or_more(store):
    path = store.folder / "runs" / f"{KEYS[0]}.json"
    said = json.loads(path.read_text())
    del said["accuracy"]
    said["added later"] = [1.5, "ψ"]
    path.write_text(json.dumps(said))
    store.pack()
    lines = [json.loads(line) for line in (store.folder / "runs.jsonl").read_text("utf-8").splitlines()]
    assert lines[0] == said
    assert [line["seed"] for line in lines] == [0, 1, 2]


def test_equal_content_makes_equal_files(store, tmp_path):
    files = [(f"solutions/{p.name}", p.read_bytes()) for p in (store.folder / "solutions").iterdir()]
    files += [(f"runs/{p.name}", p.read_bytes()) for p in (store.folder / "runs").iterdir()]
    other = Store.make(tmp_path / "other")
    for name, text in reversed(files):
        path = other.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text)
        os.utime(path, (0, 1e9))
        other.pack()  # one by one
    store.pack()
    before = packed(store)
    assert packed(other) == before
    store.pack()
    assert packed(store) == before


def test_a_newer_run_in_a_file_of_its_own_counts_and_is_packed_next(store, solution):
    store.pack()
    later = record(key=KEYS[1], seed=1, commit="later")
    store.keep(later, b"another file")
    store.keep(record(key=KEYS[3], seed=3))
    for _ in range(2):
        assert store.keys() == set(KEYS)
        assert store.get(KEYS[1]).commit == "later"
        assert [r.commit for r in store.records()] == ["abc", "later", "abc", "abc"]
        with store.file("solutions", KEYS[1]) as path:
            assert path.read_bytes() == b"another file"
        assert store.solution(KEYS[2], problem=DECAY) is not None
        store.pack()
    assert files(store) == {"store.json", "runs.jsonl", "solutions.zip"}


def test_another_process_that_packs_is_noticed_and_waited_for(store):
    reader = Store(store.folder)
    before = content(reader)
    store.pack()
    assert content(reader) == before
    store.keep(record(key=KEYS[3], seed=3))
    Store(store.folder).pack()
    assert reader.keys() == set(KEYS)
    claim = store.lock("pack")
    with pytest.raises(FileError, match="Another process is packing"):
        store.pack()
    claim.release()


def test_what_is_trained_while_a_store_is_packed_is_kept(store, monkeypatch):
    from hcpinn.study import packed as module

    write, later = module.Packed.write_lines, record(key=KEYS[1], seed=1, commit="later")

    def in_between(self, lines):
        write(self, lines)
        store.keep(later)
        store.keep(record(key=KEYS[3], seed=3))

    monkeypatch.setattr(module.Packed, "write_lines", in_between)
    store.pack()
    assert store.get(KEYS[1]).commit == "later"
    assert store.keys() == set(KEYS)


def test_only_some_solutions_may_be_kept(store):
    store.pack(solutions={KEYS[2]})
    with store.file("solutions", KEYS[1]) as one, store.file("solutions", KEYS[2]) as two:
        assert one is None
        assert two is not None
    store.pack(solutions=())
    assert files(store) == {"store.json", "runs.jsonl"}


def test_the_command_packs(store, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["hcpinn", "pack", str(store.folder)])
    with pytest.raises(SystemExit) as end:
        run()
    assert end.value.code == 0
    assert "3 runs packed in" in capsys.readouterr().out
    assert files(store) == {"store.json", "runs.jsonl", "solutions.zip"}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:-40], r"Line 3 of .*runs\.jsonl is damaged: it is not JSON"),
        (lambda text: text + text[: text.index(b"\n") + 1], "Line 4 of .* a second time"),
        (lambda text: b"\n" + text, "Line 1 of .* is damaged"),
        (lambda text: b"[" * 10**5 + b"\n" + text, "Line 1 of .* is damaged"),
        (lambda text: b'"' + b"a" * LARGEST_TEXT + b'"\n' + text, "Line 1 of .* longer than"),
        (lambda text: text.replace(b"0.1", b"NaN", 1), r"Line 1 of .* \(NaN is no number"),
        (lambda text: text.replace(b'"seed": 0', b'"seed": "0"', 1), "Line 1 of .* has no valid 'seed'"),
        (lambda text: text.replace(b'{"k": 1.0}', b'{"k": []}', 1), "Line 1 of .* has no valid 'parameters'"),
        (lambda text: text.replace(b'"version": 1', b'"version": 9', 1), "Line 1 of .* of version 9"),
        (lambda text: b"\xff\xfe" + text, "Line 1 of .* is damaged"),
    ],
)
def test_damaged_lines_are_named(store, damage, message):
    store.pack()
    path = store.folder / "runs.jsonl"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(FileError, match=message):
        Store(store.folder).records()


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", members.pop("how", zipfile.ZIP_STORED)) as archive:
        for name, text in members.items():
            archive.writestr(f"{name}.npz", text)
    return stream.getvalue()


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"not a ZIP",
        zipped(**{KEYS[1]: b"a"})[:-5],
        zipped(**{KEYS[1]: bytes(10**6)}, how=zipfile.ZIP_DEFLATED),
    ],
    ids=["empty", "text", "cut", "compressed"],
)
def test_damaged_archives_of_solutions_are_named(store, damaged):
    store.pack()
    (store.folder / "solutions.zip").write_bytes(damaged)
    with pytest.raises(FileError, match=r"solutions\.zip is damaged"):
        store.solution(KEYS[1])


def test_a_damaged_solution_in_an_archive_is_named(store):
    store.pack()
    (store.folder / "solutions.zip").write_bytes(zipped(**{KEYS[1]: b"damaged"}))
    with pytest.raises(
        FileError, match=rf"solutions\.zip.{KEYS[1]}\.npz cannot be read as an hcpinn solution"
    ):
        store.solution(KEYS[1])


LINKABLE = ["store.json", "runs.jsonl", "solutions.zip", "runs", f"runs/{KEYS[3]}.json", "claims", "work"]


@pytest.mark.parametrize("name", LINKABLE)
def test_links_in_a_store_are_not_followed(store, tmp_path, name):
    store.pack()
    path, elsewhere = store.folder / name, tmp_path / "elsewhere"
    if path.exists():
        path.rename(elsewhere)
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(elsewhere)
    with pytest.raises(FileError, match="is a link, and links inside a study's folder are not followed"):
        read_all(store.folder)


def read_all(folder):
    store = Store(folder)
    for found in store.records():
        store.solution(found.key, problem=DECAY)


def test_a_pipe_in_the_place_of_a_record_does_not_hang(store):
    path = store.folder / "runs" / f"{KEYS[3]}.json"
    os.mkfifo(path)
    with pytest.raises(FileError, match="not a file with content"):
        store.get(KEYS[3])
