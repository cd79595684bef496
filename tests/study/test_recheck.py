"""A sample of a store is trained again, in the same groups, and what does not come out the same is found."""

import dataclasses
import json
import shutil

import pytest

import hcpinn as hc
from command_line import assert_refused, hcpinn
from hcpinn.errors import HcpinnError
from hcpinn.study import Agreement, Pair, Store, compare, recheck, run_study
from hcpinn.study.compare import other_seeds
from hcpinn.study.recheck import select
from hcpinn.study.trained_groups import run_of, spread_out, trained_groups
from recorded import record
from small_studies import DECAY, method, soft, study

SLOW = hc.find_problem("advection").with_parameters(c=2.0)
STAGES = (hc.Adam(steps=150, rate=1e-2, precision="float64"),)
HARD = [
    hc.Run(SLOW, method(stages=STAGES, lift=hc.Decay(rate)), seed) for rate in (0.3, 0.5) for seed in (0, 1)
]
SOFT = [hc.Run(SLOW, soft(stages=STAGES), seed) for seed in (0, 1)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A store of four runs that trained together and two others that did."""
    folder = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HCPINN_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        assert run_study(study(*HARD, *SOFT), folder, solutions=False).complete
    return folder


@pytest.fixture(scope="module")
def rechecked(trained, tmp_path_factory):
    """What the command says where everything of it is trained again, and the folder it leaves."""
    out = tmp_path_factory.mktemp("rechecked") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HCPINN_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        return hcpinn("recheck", trained, "--groups", 2, "--out", out, "--quiet"), out


@pytest.fixture
def again(rechecked, tmp_path):
    """A copy of that folder, to be changed."""
    return shutil.copytree(rechecked[1], tmp_path / "again")


@pytest.fixture
def folder(trained, tmp_path):
    """A copy of it, to be changed."""
    return shutil.copytree(trained, tmp_path / "store")


def keys(runs):
    return study(*runs).sections[0].keys


def change(folder, key, **changes):
    """Write something else into a record; what is in `summary` is added to its summary."""
    store = Store(folder)
    known = store.get(key)
    summary = {**known.summary, **changes.pop("summary", {})}
    store.keep(dataclasses.replace(known, summary=summary, **changes))


def scaled(folder, key, factor):
    known = Store(folder).get(key)
    change(folder, key, summary={"rel_l2": {k: factor * v for k, v in known.summary["rel_l2"].items()}})


# The command


def test_on_the_same_machine_everything_comes_out_to_the_bit(trained, rechecked):
    (code, said, complaint), out = rechecked
    assert (code, complaint) == (0, "")
    assert said.count("same bits") == 6 + 1
    assert "6 runs: 6 same bits." in said
    told = json.loads((out / "recheck.json").read_text())
    assert told["agreement"] == {"same bits": 6}
    assert told["asked"] == {"groups": 2}
    assert told["before"]["versions"] == told["now"]["versions"]
    assert told["before"]["kernels"] == told["now"]["kernels"] == {"by rule": len(told["runs"])}
    assert list(told["now"]["devices"].values()) == list(told["now"]["commits"].values()) == [6]
    for row in told["runs"]:
        before, now = Store(trained).get(row["key"]), Store(out).get(row["key"])
        assert (row["problem"], row["parameters"], row["seed"]) == ("advection", {"c": 2.0}, before.seed)
        assert row["before"]["rel_l2 of u"] == row["now"]["rel_l2 of u"] == now.summary["rel_l2"]["u"]
        assert (row["difference"], row["changed"]) == (0.0, [])
        assert before.group == now.group
    assert not (out / "solutions").exists()


def test_a_record_that_was_tampered_with_is_found(folder, tmp_path):
    key = keys(SOFT)[0]
    scaled(folder, key, 1.05)
    code, said, _ = hcpinn("recheck", folder, "--key", key, "--out", tmp_path / "out", "--quiet")
    assert code == 1
    assert "2 runs: 1 same bits, 1 differs." in said
    (line,) = [line for line in said.splitlines() if line.rstrip().endswith("differs")]
    assert line.split()[:3] == ["advection", "soft", "0"]
    assert "4.8e-02" in line


def test_time_that_is_up_shows_in_the_exit_code_and_the_same_command_goes_on(folder, tmp_path):
    command = ("recheck", folder, "--key", keys(SOFT)[0], "--out", tmp_path / "out", "--quiet")
    code, said, _ = hcpinn(*command, "--max-seconds", 0)
    assert code == 3
    assert "not yet run" in said
    assert "The same command resumes from here." in said
    code, said, _ = hcpinn(*command)
    assert code == 0
    assert "2 runs: 2 same bits." in said


def test_a_dry_run_tells_what_would_be_trained_and_does_nothing(folder, tmp_path):
    code, said, complaint = hcpinn("recheck", folder, "--dry-run", "--out", tmp_path / "out")
    assert (code, complaint) == (0, "")
    assert "6 runs in 2 groups" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Name a folder for the new results"),
        (["--out", "{store}"], "is the folder of a study"),
        (["--out", "{out}", "--sample", 3, "--groups", 2], "one of these"),
        (["--out", "{out}", "--groups", 2, "--key", "0"], "one of these"),
        (["--out", "{out}", "--key", "nothing"], "'nothing' is the beginning of 0 keys"),
        (["--out", "{out}", "--sample", 0], "Invalid value for '--sample'"),
    ],
)
def test_nonsense_is_answered_in_one_sentence(trained, tmp_path, arguments, words):
    places = {"store": trained, "out": tmp_path / "out"}
    code, said, complaint = hcpinn("recheck", trained, *(str(a).format(**places) for a in arguments))
    assert_refused(code, complaint, words)
    assert said == ""
    assert not (tmp_path / "out").exists()


def test_folders_without_finished_runs_are_refused(tmp_path):
    code, _, complaint = hcpinn("recheck", tmp_path / "none", "--out", tmp_path / "out")
    assert_refused(code, complaint, "There is no folder")
    Store.make(tmp_path / "empty").keep(record("advection", "paper", reason="It broke."))
    code, _, complaint = hcpinn("recheck", tmp_path / "empty", "--out", tmp_path / "out")
    assert_refused(code, complaint, "has no finished run")


# Two stores


def test_a_study_that_was_trained_anew_is_compared_without_training(folder, again, tmp_path):
    code, said, _ = hcpinn("recheck", folder, "--against", again)
    assert (code, said.count("same bits")) == (0, 6 + 1)
    assert "not yet run" not in said
    scaled(again, keys(SOFT)[0], 10.0)
    change(again, keys(SOFT)[0], commit="later")
    (again / "runs" / f"{keys(SOFT)[1]}.json").unlink()
    code, said, _ = hcpinn("recheck", folder, "--against", again, "--out", tmp_path / "out")
    assert code == 1
    assert "6 runs: 4 same bits, 1 differs, 1 not yet run. All figures are in" in said
    assert said.count("not yet run") == 1
    told = json.loads((tmp_path / "out" / "recheck.json").read_text())
    assert (told["kind"], told["agreement"]) == (
        "comparison",
        {"same bits": 4, "differs": 1, "not yet run": 1},
    )
    assert {row["key"]: row["changed"] for row in told["runs"]}[keys(SOFT)[0]] == ["code"]
    assert told["now"]["commits"]["later"] == 1


def test_a_run_that_failed_in_the_other_study_differs(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "other")
    change(tmp_path / "other", keys(SOFT)[0], status="failed", reason="No memory.", commit="later")
    (pair,) = compare(folder, tmp_path / "other").pairs
    assert (pair.before.key, pair.agreement) == (keys(SOFT)[0], Agreement.DIFFERS)


def test_a_comparison_is_not_written_into_a_study(folder, again):
    told = (again / "recheck.json").read_text()
    for place in (folder, again):
        assert_refused(*command("--against", again, "--out", place, folder=folder), "of its own")
    assert (again / "recheck.json").read_text() == told
    assert not (folder / "recheck.json").exists()


def test_the_same_training_twice_is_no_comparison(folder):
    assert_refused(*command("--against", folder, folder=folder), "nothing to compare")


@pytest.mark.parametrize("option", [("--sample", 3), ("--alone",), ("--dry-run",), ("--max-seconds", 5)])
def test_what_chooses_runs_to_train_is_refused_where_nothing_is_trained(folder, option):
    assert_refused(*command("--against", folder, *option, folder=folder), "nothing is trained")


def command(*arguments, folder):
    code, _, complaint = hcpinn("recheck", folder, *arguments)
    return code, complaint


# Groups


def test_a_run_is_trained_with_its_companions_in_their_order(folder, tmp_path):
    (key,) = keys(HARD[2:3])
    found = recheck(folder, tmp_path, keys=[key[:8]])
    assert {pair.before.key for pair in found.pairs} == set(keys(HARD))
    assert Store(tmp_path).get(key).group == tuple(k[:12] for k in keys(HARD))
    assert found.counts == {Agreement.BITS: 4}


def test_alone_a_run_is_trained_without_its_companions(folder, tmp_path):
    (key,) = keys(HARD[2:3])
    assert hcpinn("recheck", folder, "--key", key, "--alone", "--out", tmp_path, "--quiet")[0] == 0
    told = json.loads((tmp_path / "recheck.json").read_text())
    (row,) = told["runs"]
    assert (row["key"], row["changed"]) == (key, ["group"])
    assert row["difference"] < 1e-7
    assert told["asked"] == {"keys": [key], "alone": True}
    assert Store(tmp_path).get(key).trained_together == 1
    chosen = select(folder, sample=6, alone=True)
    assert {group.keys for group in chosen.groups} == {(k,) for k in keys(HARD + SOFT)}
    assert chosen.seconds == pytest.approx(select(folder, sample=6).seconds)  # each has its share


def test_a_folder_has_runs_in_their_groups_or_alone(folder, again):
    (key,) = keys(HARD[:1])
    refused = command("--key", key, "--alone", "--out", again, folder=folder)
    assert_refused(*refused, "trained again in their groups. Name another folder.")
    (again / "recheck.json").write_text("[]")
    assert_refused(*command("--key", key, "--out", again, folder=folder), "cannot be read")


def test_a_record_that_names_no_group_is_trained_alone(folder, tmp_path):
    for key in keys(SOFT):
        change(folder, key, group=(), accuracy=None)
    found = recheck(folder, tmp_path, keys=keys(SOFT)[:1])
    (pair,) = found.pairs
    assert pair.now.trained_together == 1
    assert pair.changed == ("group",)
    assert pair.agreement in (Agreement.BITS, Agreement.ROUNDING)
    assert pair.difference < 1e-7


def test_a_record_whose_companion_is_gone_is_trained_alone(folder):
    (folder / "runs" / f"{keys(SOFT)[1]}.json").unlink()
    chosen = select(folder, keys=keys(SOFT)[:1])
    assert [group.keys for group in chosen.groups] == [keys(SOFT)[:1]]


def test_a_run_that_fails_now_differs(folder, tmp_path, monkeypatch):
    def broken(runs, **options):
        raise RuntimeError("The device is on fire.")

    monkeypatch.setattr("hcpinn.study.workers.solve_batch", broken)
    found = recheck(folder, tmp_path, keys=keys(SOFT)[:1])
    assert not found.agrees
    assert found.tally.failed == 2
    assert found.pairs[0].now.reason == "RuntimeError: The device is on fire."


# From records to runs


def test_what_a_record_says_has_to_lead_to_its_key(folder):
    known = Store(folder).get(keys(SOFT)[0])
    run, accuracy = run_of(known)
    assert (run.seed, accuracy, dict(run.problem.parameters)) == (0, 1e-2, {"c": 2.0})
    assert run_of(dataclasses.replace(known, accuracy=None))[1] == 1e-2
    with pytest.raises(HcpinnError, match="does not match its key"):
        run_of(dataclasses.replace(known, seed=7))


def test_problems_of_ones_own_need_their_study(tmp_path):
    own = study(hc.Run(DECAY, method(stages=STAGES)))
    run_study(own, tmp_path / "store", solutions=False)
    with pytest.raises(HcpinnError, match="No run of .* can be trained again.*There is no problem 'decay'"):
        recheck(tmp_path / "store", tmp_path / "out")
    found = recheck(tmp_path / "store", tmp_path / "out", study=own)
    assert found.counts == {Agreement.BITS: 1}


def test_what_cannot_be_trained_again_is_left_out_and_named(folder, tmp_path):
    own = study(hc.Run(DECAY, method(stages=STAGES)))
    run_study(own, folder, solutions=False)
    chosen = select(folder, sample=100)
    assert len(chosen.records) == 6
    (reason,) = chosen.left_out
    assert reason.startswith("decay, small, seed 0 cannot be trained again from its record")


# The sample


def made_up():
    """Trainings of three problems by soft and hard methods, three seeds each."""
    found = []
    for number, problem in enumerate(("allen-cahn-1", "cahn-hilliard", "advection")):
        for place, name in enumerate(("baseline", "sa", "pbc+ic1", "pbc+ic1+sa")):
            own = [record(problem, name, 0.1, seed=seed) for seed in range(3)]
            short = tuple(r.key[:12] for r in own)
            for r in own:
                summary = {**r.summary, "wall_s": 10.0 + number + 3 * place}
                found.append(dataclasses.replace(r, group=short, trained_together=3, summary=summary))
    return found


def test_samples_are_spread_over_problems_and_kinds_of_methods_and_cheap():
    order = list(spread_out(trained_groups(made_up())))
    assert len(order) == 12
    assert all(len(group.records) == len(group.keys) == 3 for group in order)
    assert len({group.problems for group in order[:3]}) == 3
    assert order[0].methods == ("baseline",)  # the cheapest
    assert {group.exact for group in order[:2]} == {True, False}
    assert len({group.methods for group in order[:4]}) == 4
    again = list(spread_out(list(reversed(trained_groups(made_up())))))
    assert [g.keys for g in again] == [g.keys for g in order]


def test_a_seed_draws_another_sample_and_the_same_one_each_time():
    groups = trained_groups(made_up())
    drawn = {seed: [group.keys for group in spread_out(groups, seed)] for seed in range(4)}
    assert drawn[1] == [group.keys for group in spread_out(groups, 1)]
    assert len({tuple(order[:3]) for order in drawn.values()}) > 1


def test_a_sample_ends_with_the_group_that_makes_it_large_enough(trained):
    sizes = {wanted: len(select(trained, sample=wanted).records) for wanted in (1, 2, 3, 6, 50)}
    assert sizes[1] in (2, 4)
    assert sizes[6] == sizes[50] == 6
    assert len(select(trained, groups=1).groups) == 1


# When two trainings agree


def pair(error, *, seeds=(), **changes):
    """A run with the error 1e-3 that came out with another, in a row with these other seeds."""
    before = record("allen-cahn-1", "pbc", 1e-3, l1=1e-3)
    others = [record("allen-cahn-1", "pbc", e, l1=e, seed=1 + n) for n, e in enumerate(seeds)]
    now = record("allen-cahn-1", "pbc", error, l1=error)
    summary = {**now.summary, **changes.pop("summary", {})}
    now = dataclasses.replace(now, summary=summary, **changes)
    return Pair(
        before, now, other_seeds(before, [before, *others, record("allen-cahn-1", "sa", 9.0, seed=9)])
    )


@pytest.mark.parametrize(
    ("error", "seeds", "changes", "agreement"),
    [
        (1e-3, (), {}, Agreement.BITS),
        (1e-3, (), {"summary": {"final_loss": 1.0}}, Agreement.ROUNDING),
        (1.0009e-3, (), {}, Agreement.ROUNDING),
        (1.0011e-3, (), {}, Agreement.DIFFERS),
        (1.9e-3, (1e-3, 9e-3), {}, Agreement.DIFFERS),  # nothing changed: no excuse
        (1.9e-3, (), {"commit": "another"}, Agreement.SPREAD),
        (0.6e-3, (), {"summary": {"device": "gpu: test"}}, Agreement.SPREAD),
        (0.4e-3, (), {"summary": {"device": "gpu: test"}}, Agreement.DIFFERS),
        (2.1e-3, (1e-3, 1.5e-3), {"commit": "another"}, Agreement.DIFFERS),
        (2.1e-3, (1e-3, 3e-3), {"commit": "another"}, Agreement.SPREAD),
        (None, (1e-3, 3e-3), {"commit": "another"}, Agreement.DIFFERS),
        (None, (1e-3, None), {"commit": "another"}, Agreement.SPREAD),
        (1.5e-3, (), {"trained_together": 3, "group": ("a", "b", "c")}, Agreement.SPREAD),
        (1.5e-3, (), {"summary": {"versions": {"jax": "0.11.2"}}}, Agreement.SPREAD),
        (1e-3, (), {"summary": {"rel_l1": {}}}, Agreement.DIFFERS),
    ],
)
def test_how_far_two_trainings_agree(error, seeds, changes, agreement):
    assert pair(error, seeds=seeds, **changes).agreement is agreement


@pytest.mark.parametrize(
    ("before", "now", "agreement"),
    [
        ("by rule", "by rule", Agreement.DIFFERS),
        ("by timing", "by rule", Agreement.SPREAD),
        ("by rule", "by timing", Agreement.SPREAD),
        ("by timing", "by timing", Agreement.SPREAD),  # other kernels may have been the fastest
        (None, "by rule", Agreement.SPREAD),
    ],
)
def test_kernels_chosen_by_timing_are_an_excuse_on_a_gpu(before, now, agreement):
    first, second = (
        dataclasses.replace(found, summary={**found.summary, "device": "gpu: test", "kernels": kernels})
        for found, kernels in (
            (record("allen-cahn-1", "pbc", 1e-3), before),
            (record("allen-cahn-1", "pbc", 1.5e-3), now),
        )
    )
    found = Pair(first, second)
    assert found.agreement is agreement
    assert found.changed == (() if agreement is Agreement.DIFFERS else ("kernels",))


def test_the_run_itself_does_not_widen_the_spread_it_is_judged_by():
    tampered = pair(1e-1, seeds=(1.1e-1, 1.2e-1), commit="another")
    assert tampered.agreement is Agreement.DIFFERS
    assert tampered.factors["rel_l2 of u"] == (pytest.approx(100.0), 2.0)
