"""The command line: what it leaves behind, how it exits, and what it says when asked for nonsense."""

import dataclasses
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image
from typer.core import TyperGroup

import hcpinn as hc
from command_line import assert_refused, hcpinn
from hcpinn.catalog import ENTRIES, METHODS
from hcpinn.cli.commands import app
from hcpinn.descent import Stop
from hcpinn.machine import supervision
from hcpinn.machine.interrupt import patient_interrupt
from hcpinn.papers.hao2026.ablation import SWITCHES
from hcpinn.solving import CHECKPOINT

RESULTS = {"summary.json", "solution.npz", "method.toml", "fields.png", "slices.png", "history.png"}

MINE = """
points = 64
batches = {kind = "Batches", count = 2, size = 32}
weights = {kind = "SelfAdaptive"}
network = {kind = "MLP", width = 6, depth = 1}
embedding = {kind = "Fourier", modes = 1}
stages = [{kind = "Adam", steps = 20}]
"""


def solve(folder, *arguments):
    settings = ["--set", "c=2", "--seed", "2", "--method", "quick", "--points", "128", "--out", folder]
    return hcpinn("solve", "advection", *settings, *arguments)


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A folder of results, with the exit code and what was said."""
    folder = tmp_path_factory.mktemp("solved") / "deep" / "er"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HCPINN_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        return folder, *solve(folder, "--steps", "20,0", "--accuracy", "10")


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """A folder of results of a method in a file, with the file."""
    folder = tmp_path_factory.mktemp("mine")
    file = folder / "my own.toml"
    file.write_text(MINE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HCPINN_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        settings = ["--set", "c=2", "--method", file, "--points", "39", "--out", folder / "out"]
        code, said, complaints = hcpinn("solve", "advection", "--animation", *settings)
    assert (code, complaints) == (1, ""), said
    return folder / "out", file


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


def test_a_method_in_a_file_is_used_and_named_after_it(mine):
    folder, file = mine
    solution = hc.load(folder / "solution.npz")
    given = hc.load_method(file)
    assert given.name == "my own"
    assert solution.method == dataclasses.replace(given, points=39, batches=hc.Batches(2, 20))
    assert json.loads((folder / "summary.json").read_text())["method"] == "my own"
    assert solution.history.stages == (("Adam", 20),)


def test_adaptive_weights_and_the_animation_are_drawn(mine):
    folder, _ = mine
    assert set(os.listdir(folder)) == RESULTS | {"weights.png", "solution.gif"}
    assert (folder / "weights.png").read_bytes().startswith(b"\x89PNG")
    with Image.open(folder / "solution.gif") as film:
        assert film.format == "GIF"
        assert getattr(film, "n_frames", 1) == 51


def test_the_method_that_was_used_is_left_for_another_run(mine, solved):
    for folder in (mine[0], solved[0]):
        used = hc.load(folder / "solution.npz").method
        assert hc.load_method(folder / "method.toml") == used
    assert used.points == 128  # as the command line had it
    assert used.stages == (hc.Adam(steps=20, rate=3e-3),)


# What it tells


def test_a_signal_while_figures_are_drawn_leaves_the_results(tmp_path, monkeypatch):
    monkeypatch.setattr(supervision, "ANSWER", 0.1)
    held = threading.Event()

    def drawn_for_long(*_):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        held.wait(60)

    monkeypatch.setattr("hcpinn.cli.solve._draw", drawn_for_long)
    code, said, complaints = solve(tmp_path, "--steps", "20,0", "--accuracy", "10")
    held.set()
    assert code == 130
    assert "verdict" in said
    assert "Interrupted. What was found is kept; figures may be missing." in complaints
    assert hc.load(tmp_path / "solution.npz").stop is not Stop.INTERRUPTED
    assert json.loads((tmp_path / "summary.json").read_text())["seed"] == 2


def test_a_signal_to_a_solve_that_ends_just_then_is_answered(tmp_path, monkeypatch):
    """What is solved in time is kept, but nothing more is begun."""
    solved = hc.solving.solve

    def interrupted(*given, **options):
        solution = solved(*given, **options)
        with patient_interrupt():  # as `solve` has
            signal.raise_signal(signal.SIGTERM)
        return solution

    monkeypatch.setattr("hcpinn.solving.solve", interrupted)
    code, _, complaints = solve(tmp_path, "--steps", "20,0", "--accuracy", "10")
    assert code == 130
    assert "Interrupted." in complaints
    assert {"solution.npz", "summary.json"} <= set(os.listdir(tmp_path))
    assert not list(tmp_path.glob("*.png"))


def test_every_command_that_is_interrupted_says_so(monkeypatch):
    monkeypatch.setattr(
        "hcpinn.cli.catalogue.make_table", lambda *_, **__: signal.raise_signal(signal.SIGINT)
    )
    assert hcpinn("list") == (130, "", "Interrupted.\n")


def test_list_names_every_problem_and_method():
    code, said, _ = hcpinn("list")
    assert code == 0
    for name in (*ENTRIES, *METHODS):
        assert name in said
    assert "(default)" in said


def test_methods_explains_every_method_and_every_switch():
    code, said, _ = hcpinn("methods")
    assert code == 0
    words = " ".join(said.split())
    for name, method in METHODS.items():
        assert f"{name} {' '.join(method.__doc__.splitlines()[0].split())}" in words
    assert f"{METHODS['evolve'].__doc__.splitlines()[0]} (default)" in words
    for switch in SWITCHES:
        assert switch in said
    assert "pbc+ic1+sa" in said


@pytest.mark.parametrize("name", [*METHODS, "pbc+ic1+sa+mb"])
def test_methods_prints_toml_that_loads_back(name, tmp_path):
    for problem in ("gray-scott", "allen-cahn-dirichlet", "advection"):
        if "pbc" in name and problem == "allen-cahn-dirichlet":
            continue
        code, said, complaint = hcpinn("methods", name, "--problem", problem)
        assert (code, complaint) == (0, "")
        (tmp_path / "printed.toml").write_text(said)
        again = hc.load_method(tmp_path / "printed.toml")
        assert again == hc.find_method(name, hc.find_problem(problem))


def test_help_teaches_by_example():
    code, said, _ = hcpinn("--help")
    assert code == 0
    for word in ("list", "methods", "solve", "hcpinn solve allen-cahn-2"):
        assert word in said
    code, said, _ = hcpinn("solve", "--help")
    assert code == 0
    for word in ("Examples", "hcpinn solve allen-cahn-2", "--set", "--seed", "--out", "--resume", "--steps"):
        assert word in said
    for word in ("--method", "--animation", "method.toml", "weights.png"):
        assert word in said
    assert "Exit code" in said
    code, said, _ = hcpinn("methods", "--help")
    assert code == 0
    assert "hcpinn methods quick --problem gray-scott > mine.toml" in said


@pytest.mark.parametrize(
    "command",
    [
        "bench",
        "export",
        "fit",
        "gallery",
        "list",
        "methods",
        "new",
        "pack",
        "recheck",
        "report",
        "show",
        "solve",
        "study",
        "theory",
    ],
)
def test_help_is_whole_at_80_columns_and_breaks_no_example(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, said, _ = hcpinn(command, "--help")
    assert code == 0
    assert max(map(len, said.splitlines())) <= 80
    commands = typer.main.get_command(app)
    assert isinstance(commands, TyperGroup)
    for option in commands.commands[command].params:
        assert all(f" {name} " in said for name in option.opts if name.startswith("-"))
    lines = [line.rstrip() for line in said.split("╭")[0].splitlines()]
    for line, after in itertools.pairwise(lines):
        if line.startswith("     ") or not after:
            continue
        if after.startswith("     hcpinn "):
            assert line == " Examples:"
        elif line:
            assert len(f"{line} {after.split()[0]}") > 79
    assert not [line for line in lines if line.startswith("     ") and "hcpinn" not in line]


# What it refuses


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["allen-chan-2"], ["There is no problem 'allen-chan-2'. Did you mean 'allen-cahn-2'?"]),
        (["zzz"], ["There is no problem 'zzz'.", "Known:", "allen-cahn-dirichlet"]),
        (["allen-cahn-2", "--method", "papper"], ["no method 'papper'. Did you mean 'paper'?"]),
        (["allen-cahn-2", "--method", "pbc+ic4"], ["no method 'pbc+ic4'"]),
        (["allen-cahn-2", "--method", "ic1+ic2"], ["ic1 and ic2 exclude each other"]),
        (["allen-cahn-dirichlet", "--method", "pbc"], ["pbc has no meaning", "not periodic"]),
        (["allen-cahn-2", "--method", "none.toml"], ["There is no file none.toml"]),
        (["allen-cahn-2", "-m", "pbc+ic1+sa", "--steps", "0,9"], ["weights need a first-order stage"]),
        (["allen-cahn-2", "--set", "gama2=4"], ["'gama2'", "Did you mean 'gamma2'?"]),
        (["allen-cahn-2", "--set", "gamma2"], ["--set takes NAME=VALUE", "'gamma2'"]),
        (["allen-cahn-2", "--set", "gamma2=four"], ["--set takes NAME=VALUE", "'gamma2=four'"]),
        (["allen-cahn-2", "--set", "gamma2="], ["--set takes NAME=VALUE", "'gamma2='"]),
        (["allen-cahn-2", "--set", "=4"], ["''"]),
        (["allen-cahn-2", "--set", "gamma2=nan"], ["'gamma2' must be a finite number"]),
        (["allen-cahn-2", "--set", "[bold]=4"], ["'[bold]'"]),
        (["advection", "--set", "c=1e9"], ["c", "1e+09"]),
        (
            ["allen-cahn-2", "-m", "quick", "--steps", "10"],
            ["steps takes 2 whole numbers", "Adam, L-BFGS", "'10'"],
        ),
        (["allen-cahn-2", "-m", "quick", "--steps", "10,many"], ["steps takes 2 whole numbers", "'10,many'"]),
        (["allen-cahn-2", "-m", "quick", "--steps", "10,-1"], ["steps takes 2 whole numbers", "'10,-1'"]),
        (["allen-cahn-2", "-m", "quick", "--steps", "0,0"], ["at least one stage"]),
        (["allen-cahn-2", "--points", str(2**63)], ["at most 2,147,483,647", str(2**63)]),
        (["a" * 5_000], ["aaaa", "File name too long"]),
        (["allen-cahn-2", "--method", "a" * 5_000 + ".toml"], ["aaaa", "File name too long"]),
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


def test_a_method_that_does_not_suit_the_problem_is_refused_before_training(tmp_path):
    code, said, complaint = hcpinn("solve", "allen-cahn-2", "--method", "cinn", "--out", tmp_path)
    assert_refused(code, complaint, "There is no parameter 'c' of allen-cahn-2")
    assert said == ""
    assert os.listdir(tmp_path) == []


def test_a_file_that_is_no_method_is_named(tmp_path):
    (tmp_path / "bad.toml").write_text("points = many")
    code, said, complaint = hcpinn("solve", "advection", "-m", tmp_path / "bad.toml", "-o", tmp_path / "out")
    assert_refused(code, complaint, "bad.toml: This is not TOML")
    assert said == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["papper"], ["There is no method 'papper'. Did you mean 'paper'?"]),
        (
            ["paper", "--problem", "gray-scot"],
            ["There is no problem 'gray-scot'. Did you mean 'gray-scott'?"],
        ),
        (["none.toml"], ["There is no file none.toml."]),
    ],
)
def test_methods_answers_nonsense_in_one_sentence(arguments, words):
    code, said, complaint = hcpinn("methods", *arguments)
    assert_refused(code, complaint, *words)
    assert said == ""


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


def test_a_terminal_without_unicode_gets_question_marks_rather_than_a_traceback():
    ended = subprocess.run(
        [sys.executable, "-m", "hcpinn.cli", "list"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "allen-cahn-1" in ended.stdout


@pytest.mark.parametrize("command", ["bench", "gallery"])
def test_a_folder_in_place_of_a_file_is_refused_before_anything_is_computed(command, tmp_path):
    code, said, complaint = hcpinn(command, "--out", tmp_path)
    assert_refused(code, complaint, "Cannot write", "it is a folder. Name a file")
    assert said == ""


def test_a_file_in_place_of_a_folder_is_refused_before_anything_is_computed(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for command in ("solve", "theory"):
        code, said, complaint = hcpinn(command, "advection", "--out", tmp_path / "file")
        assert_refused(code, complaint, "it is a file. Choose another with --out")
        assert said == ""


# Problems as text, and in Python files


TEXT = """
equation = "u_t = 0.1 u_xx"
domain = [0, 1]
horizon = 0.1
initial = "cos(pi x)"
boundary = "u_n = 0"
"""


def test_a_problem_as_text_is_solved_and_results_of_another_run_are_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rod.toml").write_text(TEXT)
    assert hcpinn("solve", "rod.toml", "--quiet")[0] == 0
    first = Path("out/rod/summary.json").read_text()
    assert json.loads(first)["problem"] == "rod"
    code, _, said = hcpinn("solve", "rod.toml", "--quiet")  # the same once more
    assert (code, said) == (0, "")
    code, _, said = hcpinn("solve", "rod.toml", "--quiet", "--seed", 1)
    assert code == 0
    assert "Results of another run were in out/rod; they are now in out/rod/earlier-1." in said
    kept = json.loads(Path("out/rod/earlier-1/summary.json").read_text())
    assert (kept["seed"], kept["rel_l2"]) == (0, json.loads(first)["rel_l2"])


def test_a_python_file_is_run_where_the_user_names_it_so(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import hcpinn as hc\n"
        "rod = hc.Problem(domain=hc.Interval(0, 1), horizon=0.1, rhs=lambda u: 0.1 * u.xx, initial=0.0)\n"
    )
    code, said, _ = hcpinn("show", f"{file}:rod")
    assert code == 0
    assert "u" in said
    assert_refused(*hcpinn("show", f"{file}:rot")[::2], "There is no problem 'rot'", "Did you mean 'rod'?")
    assert_refused(*hcpinn("show", file)[::2], f"{file}:problem")
    assert_refused(*hcpinn("show", f"{tmp_path / 'no.py'}:rod")[::2], "There is no file")


def test_new_writes_a_text_that_show_explains_and_to_text_repeats(tmp_path):
    file = tmp_path / "mine.toml"
    assert hcpinn("new", file)[0] == 0
    assert_refused(*hcpinn("new", file)[::2], "exists already")
    assert_refused(*hcpinn("new", tmp_path / "mine")[::2], "ends in .toml")
    code, said, _ = hcpinn("show", file)
    assert code == 0
    for line in ("uₜ = γ uₓₓ − 5 (u³ − u)", "-1 ≤ x ≤ 1", "periodic", "evolve", "a Fourier method", "⠉"):
        assert line in said
    code, again, _ = hcpinn("show", file, "--text")
    assert hc.parse_problem(again).parameters == hc.read_problem(file).parameters


def test_a_fault_in_a_text_is_shown_with_its_place(tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text(TEXT.replace("0.1 u_xx", "0.1 u_xx + w"))
    code, _, complaint = hcpinn("solve", file)
    assert_refused(code, complaint, f"{file}, line 2, column 30: 'w' means nothing")


def test_a_terminal_without_unicode_gets_formulas_in_ascii():
    ended = subprocess.run(
        [sys.executable, "-m", "hcpinn.cli", "show", "allen-cahn-2"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    for line in ("u_t = gamma1 u_xx - gamma2 (u^3 - u)", "-1 <= x <= 1", "*"):
        assert line in ended.stdout
    assert "?" not in ended.stdout


def test_commands_are_listed_in_the_order_of_use():
    said = hcpinn("--help")[1]
    places = [said.index(f"│ {name} ") for name in ("new", "show", "solve", "list", "study", "bench")]
    assert places == sorted(places)


def test_a_solution_is_exported_and_a_text_needs_not_be_given_again(tmp_path):
    (tmp_path / "rod.toml").write_text(TEXT)
    out = tmp_path / "out"
    assert hcpinn("solve", tmp_path / "rod.toml", "--quiet", "--set", "horizon=0.2", "--out", out)[0] == 0
    code, said, _ = hcpinn("export", out, tmp_path / "s.csv", "--times", 3, "--points", 5)
    assert (code, said) == (0, f"Wrote {tmp_path / 's.csv'}.\n")
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 16
    assert hc.load(out / "solution.npz").problem.horizon == 0.2
    assert_refused(*hcpinn("export", tmp_path, "s.csv")[::2], "There is no solution in")
    assert_refused(*hcpinn("export", out, tmp_path / "s.xls")[::2], "no format '.xls'")
