"""A study trains what is missing, together, keeps what came of it, and goes on after anything."""

import dataclasses
import resource
import threading
import time

import numpy as np
import pytest

import hcpinn as hc
from hcpinn.descent import Stop
from hcpinn.errors import FileError
from hcpinn.solving import solve_batch
from hcpinn.study import Store, Watch, run_study
from hcpinn.study.groups import grouped
from small_studies import DECAY, method, same, soft, study

HARD = [hc.Run(DECAY, method(lift=hc.Decay(rate)), seed) for seed, rate in enumerate((0.3, 0.5))]
RUNS = [*HARD, hc.Run(DECAY, soft())]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The store of a study that ran in one go, and its report."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HCPINN_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        report = run_study(study(*RUNS), folder)
    return Store(folder), report


def test_every_run_is_kept_with_all_that_belongs_to_it(whole):
    store, report = whole
    assert (report.done, report.failed, report.left, report.stop) == (3, 0, 0, None)
    assert report.complete
    (section,) = study(*RUNS).sections
    for key, run, together in zip(section.keys, RUNS, (2, 2, 1), strict=True):
        record = store.get(key)
        assert (record.problem, record.method, record.seed) == ("decay", run.method.name, run.seed)
        assert record.parameters == dict(run.problem.parameters)
        assert record.status == "done"
        assert record.trained_together == len(record.group) == together
        assert key.startswith(record.group[run.seed])
        assert record.accuracy == 1e-2
        assert record.summary["rel_l2"]["u"] > 0
        assert set(record.summary["rel_l2_at"]) == {"t=0.5", "t=1"}
        assert record.summary["stages"] == [["Adam", 300]]
        assert {"jax", "hcpinn"} <= set(record.summary["versions"])
        assert record.finished.startswith("20")
        solution = store.solution(key, problem=run.problem)
        assert solution.summary()["rel_l2"] == record.summary["rel_l2"]
        np.testing.assert_array_equal(record.history["step"], solution.history.numbers)
        np.testing.assert_allclose(record.history["loss"], solution.history.loss, rtol=1e-4)
    assert set(store.get(section.keys[-1]).history) == {"step", "loss", "residual", "initial"}
    assert not any(store.work.iterdir())
    assert not any(store.claims.iterdir())


def test_the_time_of_the_device_is_shared_out_among_the_runs(tmp_path):
    stages = (hc.Adam(steps=20, rate=1e-2),)
    wanted = study(
        *(hc.Run(DECAY, make(stages=stages), seed) for make in (method, soft) for seed in range(2))
    )
    began = time.monotonic()
    while not run_study(wanted, tmp_path, max_seconds=1e-3).complete:  # also over several sittings
        pass
    took, records = time.monotonic() - began, Store(tmp_path).records()
    assert len({(record.group, record.device_s) for record in records}) == 2
    for record in records:
        assert record.device_s > record.summary["wall_s"] / 2
    assert sum(record.device_s for record in records) < took + 0.01


def test_runs_together_give_what_each_gives_alone(whole, tmp_path):
    store, _ = whole
    (section,) = study(HARD[1]).sections
    alone = hc.solve(HARD[1].problem, HARD[1].method, seed=HARD[1].seed)
    together = store.solution(section.keys[0], problem=DECAY)
    kept = together.history.numbers
    np.testing.assert_allclose(together.history.loss, alone.history.loss[kept - 1], rtol=1e-9)
    np.testing.assert_allclose(together.theta, alone.theta, rtol=1e-7, atol=1e-9)
    assert together.rel_l2["u"] == pytest.approx(alone.rel_l2["u"], rel=1e-7)


def test_groups_that_are_given_train_as_they_are(tmp_path):
    stages = (hc.Adam(steps=20, rate=1e-2),)
    wanted = study(*(hc.Run(DECAY, method(stages=stages), seed) for seed in range(4)))
    zero, one, two, three = wanted.sections[0].keys
    run_study(wanted, tmp_path, groups=[(two, zero)])
    store = Store(tmp_path)
    assert store.get(zero).group == store.get(two).group == (two[:12], zero[:12])
    assert store.get(one).group == store.get(three).group == (one[:12], three[:12])


def test_nothing_is_trained_twice_and_new_seeds_are_added(whole, tmp_path):
    store, _ = whole
    before = {path: path.stat().st_mtime_ns for path in (store.folder / "runs").iterdir()}
    larger = study(*RUNS, hc.Run(DECAY, method(), seed=7))
    report = run_study(larger, store.folder, solutions=False)
    assert (report.done, report.complete) == (4, True)
    after = {path: path.stat().st_mtime_ns for path in (store.folder / "runs").iterdir()}
    assert {path: after[path] for path in before} == before
    (new,) = set(after) - set(before)
    assert store.get(new.stem).seed == 7
    assert store.solution(new.stem) is None
    new.unlink()


def test_time_that_is_up_leaves_checkpoints_from_which_the_next_call_goes_on(whole, tmp_path):
    store, _ = whole
    sittings = 0
    while not (report := run_study(study(*RUNS), tmp_path, max_seconds=1e-3)).complete:
        assert report.stop is Stop.TIME
        assert report.left > 0
        sittings += 1
        assert sittings < 20
    assert sittings >= 3
    again = Store(tmp_path)
    for record in store.records():
        assert same(again.get(record.key), record)


def test_a_checkpoint_that_cannot_be_read_costs_only_its_own_training(whole, tmp_path):
    first = study(RUNS[2])
    assert not run_study(first, tmp_path, max_seconds=1e-3).complete
    (checkpoint,) = tmp_path.glob("work/*/checkpoint.npz")
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    assert run_study(first, tmp_path).complete
    (record,) = Store(tmp_path).records()
    assert same(record, whole[0].get(record.key))


# What goes wrong

LESSONS = method(curriculum=hc.Curriculum("k", (2.0, 1.0)), stages=(hc.Adam(steps=20, rate=1e-2),))
BOUNDED = dataclasses.replace(DECAY, ranges={"k": (0.0, 5.0)})


def test_a_run_that_fails_is_kept_with_its_reason_and_the_others_go_on(tmp_path):
    runs = [hc.Run(BOUNDED.with_parameters(k=k), LESSONS) for k in (1.0, 3.0)]  # 2 × 3 is out of bounds
    unknown = method(curriculum=hc.Curriculum("speed", (0.5, 1.0)), stages=LESSONS.stages)
    wanted = study(*runs, hc.Run(BOUNDED, unknown))
    report = run_study(wanted, tmp_path)
    assert (report.done, report.failed, report.left) == (1, 2, 0)
    store = Store(tmp_path)
    good, bad, worse = (store.get(key) for key in wanted.sections[0].keys)
    assert good.done
    assert bad.status == "failed"
    assert "6" in bad.reason
    assert "k" in bad.reason
    assert "'speed'" in worse.reason
    assert worse.summary == {}

    def ended():
        return {record.key: path_time(store, record.key) for record in store.records()}

    before = ended()
    assert run_study(wanted, tmp_path).failed == 2
    assert ended() == before
    assert run_study(wanted, tmp_path, retry_failed=True).failed == 2
    after = ended()
    assert after[good.key] == before[good.key]
    assert after[bad.key] > before[bad.key]
    assert after[worse.key] > before[worse.key]


def path_time(store, key):
    return (store.folder / "runs" / f"{key}.json").stat().st_mtime_ns


def test_a_group_that_does_not_fit_into_memory_is_halved(tmp_path, monkeypatch):
    tried = []

    def short_of_memory(runs, **options):
        tried.append(len(runs))
        if len(runs) > 1:
            raise RuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes.")
        return solve_batch(runs, **options)

    monkeypatch.setattr("hcpinn.study.workers.solve_batch", short_of_memory)
    stages = (hc.Adam(steps=20, rate=1e-2),)
    report = run_study(study(*(hc.Run(DECAY, method(stages=stages), seed) for seed in range(3))), tmp_path)
    assert (report.done, report.complete) == (3, True)
    assert sorted(tried) == [1, 1, 1, 2, 3]
    assert {record.trained_together for record in Store(tmp_path).records()} == {1}


def test_a_disk_without_room_stops_the_study_and_loses_nothing(tmp_path):
    """The limit on the size of files stands for a full disk: writing fails in the same way."""
    large = soft(network=hc.MLP(64, 3), stages=(hc.Adam(steps=10),))
    wanted = study(RUNS[2], hc.Run(DECAY, large))
    run_study(study(hc.Run(DECAY, large, seed=1)), tmp_path / "compiles")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    run_study(study(RUNS[2]), tmp_path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, before[1]))
    try:
        with pytest.raises(FileError, match="Cannot write .*Free some space"):
            run_study(wanted, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [record.done for record in Store(tmp_path).records()] == [True]
    report = run_study(wanted, tmp_path)
    assert (report.done, report.complete) == (2, True)


def test_a_run_in_other_hands_is_waited_for_and_taken_over(whole, tmp_path):
    wanted = study(RUNS[2])
    (key,) = wanted.sections[0].keys
    store = Store.make(tmp_path)
    claim = store.lock(key)
    limited = run_study(wanted, tmp_path, max_seconds=0.1)  # as long as someone has it, nobody else does
    assert (limited.left, limited.stop) == (1, Stop.TIME)
    said = []

    class Listening(Watch):
        def note(self, text):
            said.append(text)

    threading.Thread(target=lambda: (time.sleep(0.5), claim.release())).start()
    report = run_study(wanted, tmp_path, watch=Listening())
    assert report.complete
    assert said == ["Waiting for runs that another process is training."]
    assert same(store.get(key), whole[0].get(key))


def test_a_group_is_trained_whole_or_not_at_all(tmp_path):
    """What trains together decides a run's last bits, so another process on the folder takes no part of it."""
    stages = (hc.Adam(steps=20, rate=1e-2),)
    wanted = study(*(hc.Run(DECAY, method(stages=stages), seed) for seed in range(3)))
    store = Store.make(tmp_path)
    claim = store.lock(wanted.sections[0].keys[1])
    limited = run_study(wanted, tmp_path, max_seconds=0.0)
    assert (limited.done, limited.left) == (0, 3)
    claim.release()
    assert run_study(wanted, tmp_path).complete
    assert {record.trained_together for record in store.records()} == {3}


def test_groups_do_not_depend_on_what_is_done_already():
    runs = [hc.Run(DECAY, method(), seed) for seed in range(35)]
    wanted = study(*runs).wanted
    whole = grouped(wanted, wanted, size=lambda runs: 16)
    assert [len(group) for group in whole] == [12, 11, 12]
    assert grouped(wanted, wanted.keys() - set(whole[0].keys), size=lambda runs: 16) == whole[1:]
