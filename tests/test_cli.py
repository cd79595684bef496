"""The command line: what it leaves behind, how it exits, and what it says when asked for nonsense."""

import contextlib
import io
import json
import os
import sys

import numpy as np
import pytest

import hcpinn as hc
from hcpinn.catalog import ENTRIES, METHODS
from hcpinn.cli import main
from hcpinn.solving import CHECKPOINT
from hcpinn.training import Stop

RESULTS = {"summary.json", "solution.npz", "fields.png", "slices.png", "history.png"}


def hcpinn(*arguments):
    """Exit code, output and errors of a command."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr(sys, "argv", ["hcpinn", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
    return end.value.code or 0, out.getvalue(), err.getvalue()


def solve(folder, *arguments):
    settings = ["--set", "c=2", "--seed", "2", "--points", "128", "--out", folder]
    return hcpinn("solve", "advection", *settings, *arguments)


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A folder of results, with the exit code and what was said."""
    folder = tmp_path_factory.mktemp("solved") / "deep" / "er"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HCPINN_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        return folder, *solve(folder, "--steps", "20,0", "--accuracy", "10")


# What it leaves behind


def test_a_solution_within_the_accuracy_exits_with_zero(solved):
    _, code, said, complaints = solved
    assert code == 0
    assert complaints == ""
    assert "converged" in said
    assert "relative L2 error" in said
    assert "--resume" not in said


def test_the_results_are_all_there_and_nothing_else(solved):
    folder, *_ = solved
    assert set(os.listdir(folder)) == RESULTS
    for name in RESULTS:
        assert (folder / name).stat().st_size > 100
        if name.endswith(".png"):
            assert (folder / name).read_bytes().startswith(b"\x89PNG")


def test_the_summary_keeps_its_promises(solved):
    folder, *_ = solved

    def refuse(text):
        raise ValueError(text)

    summary = json.loads((folder / "summary.json").read_text(), parse_constant=refuse)
    assert summary["problem"] == "advection"
    assert summary["parameters"] == {"c": 2.0}
    assert summary["method"] == "quick"
    assert summary["seed"] == 2
    assert summary["verdict"] == "converged"
    assert summary["steps"] == 20
    assert summary["stop_reason"] == Stop.BUDGET.value
    assert summary["wall_s"] > 0
    assert isinstance(summary["device"], str)
    assert {"hcpinn", "jax", "python"} <= set(summary["versions"])
    for errors in (summary["rel_l2"], summary["rel_l1"]):
        assert set(errors) == {"u"}
        assert 0 < errors["u"] < 10


def test_the_solution_file_opens_and_agrees_with_the_summary(solved):
    folder, *_ = solved
    solution = hc.load(folder / "solution.npz")
    assert solution.summary() == json.loads((folder / "summary.json").read_text())
    assert solution.problem.parameters["c"] == 2.0
    x = np.linspace(0, 2 * np.pi, 5)
    np.testing.assert_allclose(solution(0.0, x), np.sin(x), atol=1e-14)


# What it tells


def test_list_names_every_problem_and_method():
    code, said, _ = hcpinn("list")
    assert code == 0
    for name in (*ENTRIES, *METHODS):
        assert name in said
    assert "(default)" in said


def test_help_teaches_by_example():
    code, said, _ = hcpinn("--help")
    assert code == 0
    for word in ("list", "solve", "hcpinn solve allen-cahn-2"):
        assert word in said
    code, said, _ = hcpinn("solve", "--help")
    assert code == 0
    for word in ("Examples", "hcpinn solve allen-cahn-2", "--set", "--seed", "--out", "--resume", "--steps"):
        assert word in said
    assert "Exit code" in said


# What it refuses


def assert_refused(code, complaint, *words):
    assert code == 2
    assert "Traceback" not in complaint
    for word in words:
        assert word in " ".join(complaint.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["allen-chan-2"], ["There is no problem 'allen-chan-2'. Did you mean 'allen-cahn-2'?"]),
        (["zzz"], ["There is no problem 'zzz'.", "Known:", "allen-cahn-dirichlet"]),
        (["allen-cahn-2", "--method", "papper"], ["no method 'papper'. Did you mean 'paper'?"]),
        (["allen-cahn-2", "--set", "gama2=4"], ["'gama2'", "Did you mean 'gamma2'?"]),
        (["allen-cahn-2", "--set", "gamma2"], ["--set takes NAME=VALUE", "'gamma2'"]),
        (["allen-cahn-2", "--set", "gamma2=four"], ["--set takes NAME=VALUE", "'gamma2=four'"]),
        (["allen-cahn-2", "--set", "gamma2="], ["--set takes NAME=VALUE", "'gamma2='"]),
        (["allen-cahn-2", "--set", "=4"], ["''"]),
        (["allen-cahn-2", "--set", "gamma2=nan"], ["'gamma2' must be a finite number"]),
        (["allen-cahn-2", "--set", "[bold]=4"], ["'[bold]'"]),
        (["advection", "--set", "c=1e9"], ["c", "1e+09"]),
        (["allen-cahn-2", "--steps", "10"], ["--steps takes 2 whole numbers", "Adam, L-BFGS", "'10'"]),
        (["allen-cahn-2", "--steps", "10,many"], ["--steps takes 2 whole numbers", "'10,many'"]),
        (["allen-cahn-2", "--steps", "10,-1"], ["--steps takes 2 whole numbers", "'10,-1'"]),
        (["allen-cahn-2", "--steps", "0,0"], ["at least one stage"]),
    ],
)
def test_nonsense_is_answered_in_one_sentence(arguments, words, tmp_path):
    code, said, complaint = hcpinn("solve", *arguments, "--out", tmp_path / "results")
    assert_refused(code, complaint, *words)
    assert said == ""
    assert complaint.startswith("Error: ")
    assert complaint.strip().endswith((".", "?"))
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["solve", "allen-cahn-2", "--points", "0"], "--points"),
        (["solve", "allen-cahn-2", "--seed", "-1"], "--seed"),
        (["solve", "allen-cahn-2", "--seed", "one"], "--seed"),
        (["solve", "allen-cahn-2", "--colour", "red"], "--colour"),
        (["solve"], "Missing argument"),
        (["slove"], "slove"),
    ],
)
def test_options_that_do_not_exist_or_cannot_be_are_named(arguments, word):
    code, _, complaint = hcpinn(*arguments)
    assert_refused(code, complaint, word)


def test_a_folder_that_cannot_be_written_is_found_out_before_training(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        code, said, complaint = solve(folder)
        assert_refused(code, complaint, "Cannot write to the folder", "Choose another with --out")
        assert said == ""


def test_resuming_where_nothing_was_begun_is_refused(tmp_path):
    code, _, complaint = solve(tmp_path, "--resume")
    assert_refused(code, complaint, "nothing to resume")


def test_a_checkpoint_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / CHECKPOINT).write_bytes(b"not a checkpoint")
    code, _, complaint = solve(tmp_path, "--resume")
    assert_refused(code, complaint, CHECKPOINT, "cannot be read as an hcpinn checkpoint")
