"""A store keeps runs whole, tells what is wrong with itself, and gives each run to one process."""

import json
import signal
import subprocess
import sys

import pytest

from hcpinn.errors import FileError
from hcpinn.machine.locks import Lock
from hcpinn.study import Store
from small_studies import record


@pytest.fixture
def store(tmp_path):
    return Store.make(tmp_path / "deep" / "store")


def test_what_is_kept_is_found_again(store):
    given = [record(key=f"{seed:040}", seed=seed) for seed in (2, 0, 1)]
    for item in given:
        store.keep(item)
    again = Store(store.folder)
    assert [r.seed for r in again.records()] == [0, 1, 2]
    assert again.keys() == {r.key for r in given}
    assert again.get(given[0].key).summary == given[0].summary
    assert again.get("0" * 39 + "9") is None
    assert again.solution(given[0].key) is None  # a compact store
    (store.folder / "runs" / f"{given[0].key}.json").unlink()
    assert store.get(given[0].key) is None


def test_a_problem_may_be_there_with_and_without_a_parameter(store):
    short = record(key="1" * 40, parameters={"c": 60.0, "horizon": 0.5})
    whole = record(key="2" * 40, parameters={"c": 60.0})
    for item in (short, whole):
        store.keep(item)
    assert {r.key for r in store.records()} == {short.key, whole.key}


def test_records_in_files_are_small_and_readable(store):
    store.keep(record())
    (path,) = (store.folder / "runs").iterdir()
    lines = path.read_text().splitlines()
    assert any(line.strip().startswith('"loss": [') and line.rstrip().endswith("]") for line in lines)
    assert "method_settings" not in path.read_text()
    assert json.loads(path.read_text())["history"]["step"] == [1, 2, 9]


def test_folders_that_are_no_stores_are_refused(tmp_path):
    with pytest.raises(FileError, match="There is no folder"):
        Store(tmp_path / "none")
    with pytest.raises(FileError, match=r"is not a study's folder: it has no store\.json"):
        Store(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_store_of_another_version_is_refused_and_left_alone(store):
    (store.folder / "store.json").write_text(json.dumps({"kind": "study store", "version": 7}))
    for opening in (Store, Store.make):
        with pytest.raises(FileError, match="of version 7; this hcpinn reads and writes version 1"):
            opening(store.folder)
    assert json.loads((store.folder / "store.json").read_text())["version"] == 7


def test_damaged_and_misplaced_records_are_named(store):
    store.keep(record())
    path = store.folder / "runs" / f"{record().key}.json"
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    with pytest.raises(FileError, match=f"{path.name} is damaged"):
        store.records()
    path.write_text(whole)
    other = path.with_name(f"{'0' * 40}.json")
    path.rename(other)
    with pytest.raises(FileError, match=f"{other.name} holds the record of another run"):
        store.get("0" * 40)


def test_a_run_is_claimed_by_one_at_a_time(tmp_path):
    mine = Lock.take(tmp_path / "a.lock")
    assert mine is not None
    assert Lock.take(tmp_path / "a.lock") is None
    other = Lock.take(tmp_path / "b.lock")
    assert other is not None
    mine.release()
    again = Lock.take(tmp_path / "a.lock")
    assert again is not None
    again.release()
    other.release()
    assert list(tmp_path.iterdir()) == []


def test_a_claim_ends_with_its_process(tmp_path):
    script = (
        "import fcntl, os, sys, time\n"
        "fcntl.flock(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT), fcntl.LOCK_EX)\n"
        "print('mine', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", script, tmp_path / "a.lock"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "mine\n"
        assert Lock.take(tmp_path / "a.lock") is None
        child.send_signal(signal.SIGKILL)
        child.wait()
        after = Lock.take(tmp_path / "a.lock")
        assert after is not None
        after.release()
    finally:
        child.kill()
