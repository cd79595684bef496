"""Groups hold runs of one shape, and the model of cost agrees with what was measured."""

import dataclasses
from pathlib import Path

import pytest

import hcpinn as hc
from hcpinn.descent.runs import check_alike
from hcpinn.study import Store, find_study
from hcpinn.study.cost import H200, cost, forecast, largest_group, this_machine
from hcpinn.study.groups import grouped
from small_studies import DECAY, method, soft, study

MEASURED = Path(__file__).parents[2] / "results" / "paper"


def test_groups_hold_every_run_once_and_only_runs_that_train_together():
    wanted = find_study("ablation").wanted
    groups = grouped(wanted, wanted, size=lambda runs: 4)
    assert sorted(key for group in groups for key in group.keys) == sorted(wanted)
    for group in groups:
        assert len(group) <= 4
        check_alike(group.runs)
        assert [wanted[key][0] for key in group.keys] == list(group.runs)
    assert any(len({run.problem.name for run in group.runs}) > 1 for group in groups)


def test_groups_are_split_evenly_and_known_by_what_they_hold():
    wanted = {str(seed): (hc.Run(DECAY, method(), seed), 1e-2) for seed in range(7)}
    parts = grouped(wanted, wanted, size=lambda runs: 5)
    assert [len(part) for part in parts] == [4, 3]
    assert parts[0].name == grouped(wanted, wanted, size=lambda runs: 5)[0].name != parts[1].name


def test_runs_of_different_accuracy_are_kept_apart():
    wanted = {str(a): (hc.Run(DECAY, method()), a) for a in (1e-2, 1e-3)}
    assert [group.accuracy for group in grouped(wanted, wanted, size=len)] == [1e-2, 1e-3]


def test_cost_grows_with_runs_steps_and_points():
    runs = [hc.Run(DECAY, method(), seed) for seed in range(4)]
    for machine in (H200, this_machine()):
        one, four = cost(runs[:1], machine), cost(runs, machine)
        assert one.seconds < four.seconds < 4 * one.seconds
        assert 3 * one.bytes < four.bytes
        larger = [hc.Run(DECAY, method(points=6400))]
        assert cost(larger, machine).seconds > one.seconds
        assert cost(larger, machine).bytes > 10 * one.bytes
        second = [hc.Run(DECAY, method(network=hc.MLP(64, 4), stages=(hc.Broyden(steps=10),)))]
        assert cost(second, machine).bytes > 8 * 12_000**2


def test_groups_shrink_to_what_memory_allows(monkeypatch):
    runs = [hc.Run(DECAY, method(), seed) for seed in range(8)]
    assert largest_group(runs, this_machine()) == 8
    assert largest_group(runs, this_machine(), most=3) == 3
    monkeypatch.setattr(
        "hcpinn.study.cost.available_bytes", lambda: int(cost(runs[:5], this_machine()).bytes / 0.59)
    )
    assert largest_group(runs, this_machine()) == 5
    assert largest_group(runs, this_machine(), abreast=2) == 2
    monkeypatch.setattr("hcpinn.study.cost.available_bytes", lambda: 1)
    assert largest_group(runs, this_machine()) == 1


@pytest.mark.skipif(not MEASURED.exists(), reason="the measured results are not part of this copy")
def test_the_model_agrees_with_what_was_measured_on_an_h200(monkeypatch):
    """Whole groups of the study, side by side, from their start to their judgement."""
    monkeypatch.syspath_prepend(MEASURED.parents[1] / "benchmarks")
    from foreseen import foreseen

    records = [r for r in Store(MEASURED).records() if r.summary["device"] == "gpu: NVIDIA H200"]
    pairs = foreseen(records, H200)
    assert len(pairs) == len({r.group for r in records}) > 0
    assert all(expected / measured > 0.4 for expected, measured in pairs), pairs
    through = [r for r in records if not r.summary["method_settings"].get("early")]
    pairs = foreseen(through, H200)
    ratios = sorted(expected / measured for expected, measured in pairs)
    assert 0.4 < ratios[0] < ratios[-1] < 2.5
    assert sum(0.5 < ratio < 2 for ratio in ratios) > 0.85 * len(ratios)  # noisy: groups share the device
    for problem in {record.problem for record in through}:
        own = foreseen([record for record in through if record.problem == problem], H200)
        expected, measured = map(sum, zip(*own, strict=True))
        assert 0.6 < expected / measured < 1.6, problem
    expected, measured = map(sum, zip(*pairs, strict=True))
    assert 0.75 < expected / measured < 1.33


@pytest.mark.parametrize(
    ("stage", "runs", "measured"),
    [
        (hc.Adam, 1, 1.02e-4),
        (hc.Adam, 12, 9.5e-4),
        (hc.Adam, 64, 4.8e-3),
        (hc.LBFGS, 1, 4.4e-4),
        (hc.LBFGS, 12, 3.4e-3),
    ],
)
def test_the_model_agrees_with_steps_measured_on_an_h200_with_fused_kernels(stage, runs, measured):
    problem = hc.find_problem("allen-cahn-1")
    run = hc.Run(
        problem, dataclasses.replace(hc.find_method("pbc+ic1", problem), stages=(stage(steps=1000),))
    )
    step = (cost([run] * runs, H200).seconds - H200.compiling) / 1000
    assert step == pytest.approx(measured, rel=0.2)


def test_a_forecast_counts_what_is_shared_and_what_is_kept_once(tmp_path):
    runs = [hc.Run(DECAY, chosen, seed) for chosen in (method(), soft()) for seed in (0, 1)]
    one = study(*runs).sections[0]
    twice = dataclasses.replace(study(*runs), sections=(one, dataclasses.replace(one, name="again")))
    lines, whole = forecast(twice, tmp_path / "none")
    assert (whole.runs, whole.kept, whole.groups, whole.largest) == (4, 0, 2, 2)
    assert [line.groups for line in lines] == [2, 0]
    assert whole.seconds[0] > 0
