"""A study from a file, killed twice without warning, ends as one that ran in one go; so does one on a cluster."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hcpinn as hc
from hcpinn.study import Section, Store, Study, load_study, run_study
from hcpinn.study.cluster import ray_workers
from hcpinn.study.workers import WORKER
from small_studies import same, wait_for

pytestmark = pytest.mark.usefixtures("no_programs_kept")

FILE = """
problems = ["allen-cahn-2"]
methods = ["still.toml", "slow.toml", "fast.toml", "soft.toml"]
seeds = 2
"""
COMMON = """
network = {kind = "MLP", width = 6, depth = 1}
embedding = {kind = "Fourier", modes = 1}
points = 64
stages = [{kind = "Adam", steps = 600, rate = 0.01, precision = "float64"}]
"""
METHODS = {
    "still": "lift = {kind = 'Decay', rate = 0.0}",
    "slow": "lift = {kind = 'Decay', rate = 0.1}",
    "fast": "lift = {kind = 'Decay', rate = 1.0}",
    "soft": "lift = {kind = 'NoLift'}\ngate = {kind = 'NoGate'}\npenalties = [{kind = 'InitialPenalty', points = 16}]",
}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A study of 4 methods and 2 seeds: 8 runs in 2 groups."""
    folder = tmp_path_factory.mktemp("study")
    for name, text in METHODS.items():
        (folder / f"{name}.toml").write_text(text + COMMON)
    (folder / "grid.toml").write_text(FILE)
    return folder / "grid.toml"


@pytest.fixture(scope="module")
def whole(file, tmp_path_factory):
    """The store of the study that ran in one go."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HCPINN_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        report = run_study(load_study(file), folder, solutions=False)
    assert (report.done, report.complete) == (8, True)
    return Store(folder)


def test_killed_twice_and_resumed_it_ends_the_same(file, whole, tmp_path):
    command = [sys.executable, "-m", "hcpinn.cli", "study", file, "--out", tmp_path, "--no-solutions"]
    command += ["--checkpoint-every", "0", "--tensorboard", tmp_path / "logs"]

    def start():
        return subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True)

    def records():
        return list(tmp_path.glob("runs/*.json"))

    for happened in (lambda: list(tmp_path.glob("work/*/checkpoint.npz")), records):
        child = start()
        wait_for(happened, child)
        child.send_signal(signal.SIGKILL)
        child.communicate()
    assert 0 < len(records()) < 8
    child = start()
    said, _ = child.communicate(timeout=120)
    assert child.returncode == 0, said
    assert "8 runs done" in said
    store = Store(tmp_path)
    assert store.keys() == whole.keys()
    for record in whole.records():
        assert same(store.get(record.key), record), (record.problem, record.method, record.seed)
    assert not any(store.work.iterdir())
    assert len(list(tmp_path.glob("logs/*"))) == 8


def heard_by_others():
    """Where this process and those it started listen for other machines: lines of /proc/net."""
    parents = {int(p.parent.name): int(text.rpartition(")")[2].split()[1]) for p, text in stats()}
    own, more = set(), {os.getpid()}
    while more:
        own |= more
        more = {child for child, parent in parents.items() if parent in more}
    sockets = set()
    for process in own:
        for handle in Path(f"/proc/{process}/fd").glob("*"):
            with contextlib.suppress(OSError):
                sockets.add(os.readlink(handle))
    lines = [
        line.split()
        for kind in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{kind}").read_text().splitlines()
    ]
    listening = [line for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets]
    assert listening
    return {line[1] for line in listening if not line[1].partition(":")[0].endswith("0100007F")}


def stats():
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            yield path, path.read_text()


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
def test_a_cluster_finishes_the_study_though_a_worker_is_killed(file, whole, tmp_path):
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    soft = [run for run in load_study(file).runs if run.method.name == "soft"]
    other = [replace(run, problem=hc.find_problem("gray-scott")) for run in soft]
    part = Study("part", "", (Section("soft", "Soft", (*soft, *other)),)).with_budget(steps=[6_000])
    store, victims = Store.make(tmp_path), []

    def kill_one():
        checkpoint = wait_for(lambda: list(tmp_path.glob("work/*/checkpoint.npz")))[0]
        victim = json.loads((checkpoint.parent / WORKER).read_text())["process"]
        os.kill(victim, signal.SIGKILL)
        victims.append(victim)
        # Its group is begun again, by another process.
        again = wait_for(
            lambda: (w := json.loads((checkpoint.parent / WORKER).read_text())["process"]) != victim and w
        )
        victims.append(again)

    with ray_workers("ray"):
        assert ray.is_initialized()
        if sys.platform == "linux":
            assert heard_by_others() == set()
        assassin = threading.Thread(target=kill_one)
        assassin.start()
        report = run_study(part, tmp_path, cluster="ray", checkpoint_every=0.0)
        assassin.join()
    assert not ray.is_initialized()
    assert len(victims) == 2
    assert (report.done, report.complete) == (4, True)
    for key in part.sections[0].keys:
        record = store.get(key)
        assert record.trained_together in (1, 2)
        assert store.solution(key).rel_l2 == record.summary["rel_l2"]
    for run in soft:  # their first steps are those of the same runs with fewer
        record, shorter = (
            next(
                r
                for r in kept.records()
                if (r.problem, r.method, r.seed) == (run.problem.name, "soft", run.seed)
            )
            for kept in (store, whole)
        )
        _, here, there = np.intersect1d(record.history["step"], shorter.history["step"], return_indices=True)
        assert len(here) > 5
        for name in ("loss", "residual", "initial"):
            np.testing.assert_allclose(record.history[name][here], shorter.history[name][there], rtol=1e-4)
