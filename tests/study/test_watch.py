"""Who watches a study sees how far it is, and TensorBoard can read its logs."""

import re
import struct

import numpy as np
import pytest

import hcpinn as hc
from hcpinn.study import Watch
from hcpinn.study.cost import this_machine
from hcpinn.study.groups import Group
from small_studies import DECAY, method, record

RUNS = tuple(hc.Run(DECAY, method(), seed) for seed in (0, 1))
GROUP = Group(("a" * 40, "b" * 40), RUNS, 1e-2)
DONE = record(
    key="a" * 40,
    seed=0,
    summary={"rel_l2": {"u": 0.5}, "rel_l1": {"u": 0.25}, "verdict": "suspect", "steps": 9},
)
FAILED = record(key="b" * 40, seed=1, status="failed", reason="It broke.", summary={}, history={})


def watched(watch):
    with watch:
        watch.begin(5, 2, 1, [GROUP], this_machine())
        progress = watch.began(GROUP)
        with progress:
            progress.stage("Adam", 300, 0)
            progress.update(200, 1e-3)
            progress.waiting("the classical reference")
            progress.losses(0, ["residual"], np.arange(8.0).reshape(2, 2, 2) + 1)
        watch.ended(GROUP, [DONE, FAILED])


def test_lines_tell_what_is_ahead_and_what_each_run_came_to(capsys):
    watched(Watch(lines=True))
    first, *told = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"5 runs: 2 in the store, 1 failed before, 2 to do, about \d+ s", first)
    assert told == [
        "4/5  decay, k = 1, small, seed 0: suspect, relative L2 error u 5.00e-01",
        "5/5  decay, k = 1, small, seed 1: failed. It broke.",
    ]


def test_lines_tell_now_and_then_how_far_a_long_training_is(capsys, monkeypatch):
    monkeypatch.setattr("hcpinn.study.watch.time.monotonic", iter(range(0, 10_000, 200)).__next__)
    with Watch(lines=True) as watch:
        progress = watch.began(GROUP)
        progress.stage("Adam", 300, 0)
        for step in (50, 100, 150, 200):
            progress.update(step, 1e-3)
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "decay small and 1 more: Adam, step 100 of 300, loss 1.00e-03"
    assert 1 <= len(told) < 4


def test_the_bar_counts_all_runs(capsys):
    watched(Watch(bar=True))
    told = " ".join(capsys.readouterr().err.split())
    assert "all runs" in told
    assert "3 done, 0 running, 2 failed" in told


def test_silence_is_the_default(capsys):
    watched(Watch())
    assert capsys.readouterr() == ("", "")


def scalars(file):
    """The numbers in a log, as TensorBoard reads them: tag → [(step, value)]."""
    from tensorboardX.proto.event_pb2 import Event  # type: ignore[attr-defined]

    content, found = file.read_bytes(), {}
    while content:
        (length,) = struct.unpack("<Q", content[:8])
        event = Event.FromString(content[12 : 12 + length])
        content = content[16 + length :]
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def test_logs_hold_losses_while_training_and_errors_at_the_end(tmp_path):
    pytest.importorskip("tensorboardX")
    watched(Watch(tensorboard=tmp_path))
    logs = {path.name.rpartition("-")[2]: path for path in tmp_path.iterdir()}
    assert set(logs) == {"a" * 8, "b" * 8}
    (file,) = logs["a" * 8].iterdir()
    found = scalars(file)
    assert found["loss"] == [(2, 5.0)]
    assert found["terms/residual"] == [(2, 6.0)]
    assert found["rel_l2/u"] == [(9, 0.5)]
    assert found["rel_l1/u"] == [(9, 0.25)]


def test_runs_that_trained_elsewhere_are_logged_from_their_history(tmp_path):
    pytest.importorskip("tensorboardX")
    with Watch(tensorboard=tmp_path) as watch:
        watch.begin(2, 0, 0, [GROUP], this_machine())
        watch.began(GROUP)
        watch.ended(GROUP, [DONE])
    (file,) = tmp_path.glob("*/*")
    losses = scalars(file)["loss"]
    assert [step for step, _ in losses] == [1, 9]  # where it is a number
