"""Several processes train a study side by side, and nothing that befalls them is lost or left behind."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.descent import Progress, Stop
from hcpinn.errors import HcpinnError, MethodError
from hcpinn.study import Store, Watch, load_study, run_study
from hcpinn.study.workers import WORKER
from small_studies import DECAY, method, same, soft, study, wait_for

pytestmark = pytest.mark.usefixtures("no_programs_kept")

RUNS = [*(hc.Run(DECAY, method(), seed) for seed in (0, 1)), hc.Run(DECAY, soft())]
LONG = study(*RUNS).with_budget(steps=[10_000])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The stores of a short and of a long study that one process trained."""
    stores = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HCPINN_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        for wanted in (study(*RUNS), LONG):
            folder = tmp_path_factory.mktemp("whole")
            assert run_study(wanted, folder).complete
            stores.append(Store(folder))
    return stores


def assert_same(one, other):
    assert one.keys() == other.keys()
    for record in other.records():
        assert same(one.get(record.key), record), (record.method, record.seed)


class Listening(Watch):
    """Keeps what it is told of each group."""

    def __init__(self):
        super().__init__()
        self.heard = {}

    def began(self, group):
        super().began(group)
        heard = self.heard[len(group)] = []

        class Ear(Progress):
            def __exit__(self, *_):
                heard.append(("end",))

            def stage(self, label, steps, done):
                heard.append(("stage", label, steps, done))

            def update(self, step, loss, terms=None):
                heard.append(("update", step, loss))

            def losses(self, first, names, values):
                heard.append(("losses", first + len(values), tuple(names), values.shape))

        return Ear(visible=False)


def test_records_solutions_and_progress_are_those_of_one_process(whole, tmp_path):
    watch, began = Listening(), time.monotonic()
    report = run_study(study(*RUNS), tmp_path, processes=2, watch=watch)
    took = time.monotonic() - began
    assert (report.done, report.complete, report.stop) == (3, True, None)
    store = Store(tmp_path)
    assert 0.3 * took < sum(record.device_s for record in store.records()) <= took
    assert_same(store, whole[0])
    for record in store.records():
        one, other = (s.solution(record.key, problem=DECAY) for s in (store, whole[0]))
        np.testing.assert_array_equal(one.theta, other.theta)
    assert not any(store.work.iterdir())
    assert not any(store.claims.iterdir())
    for count, terms in ((2, ("residual",)), (1, ("residual", "initial"))):  # groups are not split
        heard = watch.heard[count]
        assert heard[0] == ("stage", "Adam", 300, 0)
        assert heard[-1] == ("end",)
        losses, updates = ([told for told in heard if told[0] == kind] for kind in ("losses", "update"))
        assert losses[-1] == ("losses", 300, terms, (1, count, 1 + len(terms)))
        assert 0 < updates[0][1] <= 300
        assert np.isfinite(updates[0][2])


def test_time_that_is_up_leaves_checkpoints(whole, tmp_path):
    report = run_study(study(*RUNS), tmp_path, processes=2, max_seconds=1e-3)
    assert (report.done, report.left, report.stop) == (0, 3, Stop.TIME)
    assert list(tmp_path.glob("work/*/checkpoint.npz"))
    assert run_study(study(*RUNS), tmp_path).complete
    assert_same(Store(tmp_path), whole[0])


# Processes that die


def trainer(folder):
    return json.loads((folder / WORKER).read_text())["process"]


def test_a_process_that_is_killed_is_replaced_and_its_group_goes_on(whole, tmp_path):
    trained_by = []

    def kill_one():
        folder = wait_for(lambda: list(tmp_path.glob("work/*/checkpoint.npz")))[0].parent
        trained_by.append(trainer(folder))
        os.kill(trained_by[0], signal.SIGKILL)
        trained_by.append(wait_for(lambda: (now := trainer(folder)) != trained_by[0] and now))

    assassin = threading.Thread(target=kill_one)
    assassin.start()
    report = run_study(LONG, tmp_path, processes=2, checkpoint_every=0.0)
    assassin.join()
    assert len(trained_by) == 2
    assert (report.done, report.complete) == (3, True)
    assert_same(Store(tmp_path), whole[1])


def test_a_run_that_kills_every_process_fails_alone(whole, tmp_path, monkeypatch):
    monkeypatch.setattr("hcpinn.study.local_workers.RETRIES", 1)
    here = os.getpid()

    def deadly(x):
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0.0 * x

    wanted = study(RUNS[2], hc.Run(declare(name="deadly", initial=deadly), soft()))
    report = run_study(wanted, tmp_path, processes=2)
    assert (report.done, report.failed, report.left) == (1, 1, 0)
    good, bad = (Store(tmp_path).get(key) for key in wanted.sections[0].keys)
    assert same(good, whole[0].get(good.key))
    assert (
        bad.reason
        == "Its process died 2 times, at last by signal 9 (Killed), as happens when memory runs out."
    )


def test_processes_that_cannot_start_end_the_study_and_fail_no_run(tmp_path, monkeypatch):
    monkeypatch.setattr("hcpinn.study.local_workers.START", "raise SystemExit(3)")
    with pytest.raises(HcpinnError, match="could not start; it ended with code 3"):
        run_study(study(*RUNS), tmp_path, processes=2)
    assert not Store(tmp_path).keys()


@pytest.mark.parametrize("number", [0, -1, 1.5])
def test_a_number_of_processes_that_makes_no_sense_is_refused(number, tmp_path):
    with pytest.raises(MethodError, match="whole number of at least 1"):
        run_study(study(*RUNS), tmp_path / "out", processes=number)
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_given_to_another_process_is_refused(tmp_path):
    lock = threading.Lock()
    held = declare(name="held", initial=lambda x: 0.0 * x if lock else x)
    with pytest.raises(MethodError, match=r"held by small .*lock.* Train with one process"):
        run_study(study(hc.Run(held, method())), tmp_path, processes=2)


# The process that started them

FILE = """
problems = ["advection"]
methods = ["hard.toml", "soft.toml"]
"""
HARD = """
network = {kind = "MLP", width = 6, depth = 1}
embedding = {kind = "Fourier", modes = 1}
points = 64
stages = [{kind = "Adam", steps = 20000, rate = 0.01, precision = "float64"}]
"""
SOFT = """
lift = {kind = "NoLift"}
gate = {kind = "NoGate"}
penalties = [{kind = "InitialPenalty", points = 16}]
"""


def running(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_a_study_that_is_killed_and_then_interrupted_leaves_nothing_running_and_goes_on(tmp_path):
    for name, text in (("grid", FILE), ("hard", HARD), ("soft", SOFT + HARD)):
        (tmp_path / f"{name}.toml").write_text(text)
    file, out = tmp_path / "grid.toml", tmp_path / "out"
    assert run_study(load_study(file), tmp_path / "whole", solutions=False).complete
    command = [sys.executable, "-m", "hcpinn.cli", "study", file, "--out", out, "--no-solutions"]
    command += ["--processes", "2", "--checkpoint-every", "0"]

    def start():
        return subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True)

    def times():
        return {path: path.stat().st_mtime_ns for path in out.glob("work/*/checkpoint.npz")}

    before = {}
    for number, code in ((signal.SIGKILL, -9), (signal.SIGTERM, 130)):
        parent = start()
        wait_for(lambda: len(now := times()) == 2 and not now.items() & before.items(), parent)  # noqa: B023
        children = [trainer(path.parent) for path in times()]
        assert all(map(running, children))
        parent.send_signal(number)
        said, _ = parent.communicate()
        assert parent.returncode == code, said
        wait_for(lambda: not any(map(running, children)))  # noqa: B023
        before = times()
        assert len(before) == 2
    assert "0 runs done, 2 left" in said
    assert run_study(load_study(file), out, solutions=False).complete
    assert_same(Store(out), Store(tmp_path / "whole"))
