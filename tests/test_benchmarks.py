"""The race to a given accuracy: its tasks are those of the catalogue, and its table says who arrived."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import hcpinn as hc

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def race(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.syspath_prepend(str(FOLDER / "racers"))
    import time_to_accuracy

    return time_to_accuracy


@pytest.mark.parametrize("name", ["allen-cahn-1", "allen-cahn-2", "burgers", "kuramoto-sivashinsky"])
def test_a_classical_solution_of_a_task_agrees_with_the_reference_of_its_problem(name, race, tmp_path):
    problem, target = race.declared(name), race.TARGETS[name]
    short = dataclasses.replace(problem, horizon=0.2 * problem.horizon)
    trusted = hc.solve_reference(short, times=11, points=65, tolerance=1e-4)
    file = tmp_path / "reference.npz"
    np.savez(file, times=trusted.times, points=trusted.coordinates[0], values=trusted.values["u"])
    given = {"problem": name, "declaration": name, "reference": file, "accuracy": target, "limit": 60}
    sizes = {"width": 4, "depth": 1, "modes": 1, "points": 4, "adam-steps": 1, "way": "scipy"}
    facts = {**given, **sizes, "began": time.time()}
    command = [f"--{key}={value}" for key, value in facts.items()]
    done = subprocess.run(
        [sys.executable, str(FOLDER / "racers" / "classical.py"), *command],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["error"] < target


@pytest.mark.parametrize("name", ["allen-cahn-1", "burgers"])
def test_peers_have_exact_data_whatever_their_network_says(name, race):
    tasks = importlib.import_module("common").TASKS
    task, ends, output = tasks[name], np.array([[-1.0], [1.0]]), np.array([[7.0], [-3.0]])
    x = np.linspace(-1, 1, 9)[:, None]
    assert np.array_equal(task.trial(np, 0.0, x, 5.0), task.initial(np, x))
    if task.walls:
        np.testing.assert_allclose(task.trial(np, 0.5, ends, output), 0.0, atol=1e-15)
    else:
        left, right = task.inputs(np, np.full((2, 1), 0.5), ends, task.wave * np.arange(1, 4))
        np.testing.assert_allclose(left, right, atol=1e-14)


def test_the_table_says_who_arrived_who_did_not_and_who_was_left_out(race):
    fixed = {"problem": "allen-cahn-2", "target": 1e-3}
    arrived = race.row({**fixed, "contestant": "A"}, [(1.0, 0.5), (12.34, 9e-4)])
    further = race.row({**fixed, "contestant": "B"}, [(2.0, 9e-4), (3.0, 1e-9), (4.0, 1e-8)])
    late = race.row({**fixed, "contestant": "C"}, [(1.0, 0.2), (60.0, None)])
    out = {"problem": "allen-cahn-2", "contestant": "D", "why": "No module named 'd'"}
    table = race.as_table({"rows": [arrived, further, late], "left_out": [out]})
    assert table.splitlines()[2:] == [
        "| A | 12.3 s |",
        "| B | 2 s; 1e-9 in 3 s |",
        "| C | not reached: 2e-1 at best in 60 s |",
        "| D | left out: No module named 'd' |",
    ]


def test_a_race_goes_on_where_it_was_left_and_only_as_it_was_begun(race, tmp_path, monkeypatch, capsys):
    file = tmp_path / "race.json"
    run = ["time_to_accuracy.py", "run", "--problems", "burgers", "--out", str(file), "--limit", "60"]
    monkeypatch.setattr(sys, "argv", [*run, "--within", "0"])
    race.main()
    assert f"{len(race.NAMES)} racers are left" in capsys.readouterr().out
    found = race.so_far(argparse.Namespace(out=file, limit=60.0, seed=0, adam_steps=2_000))
    found["rows"] = [
        race.row({"problem": "burgers", "target": 1e-3, "contestant": name}, [(1.0, 0.1)])
        for name in race.NAMES
    ]
    race.save(file, found)
    monkeypatch.setattr(sys, "argv", run)
    race.main()  # nobody is left
    assert json.loads(file.read_text())["rows"] == json.loads(json.dumps(found["rows"]))
    monkeypatch.setattr(sys, "argv", [*run[:-1], "70"])
    with pytest.raises(SystemExit, match=r"limit_s = 60"):
        race.main()


def test_the_word_on_why_a_contestant_is_left_out_is_its_error(race):
    from step_time import last_word

    said = "Traceback\n  File x\nModuleNotFoundError: No module named 'c'\n-----\nJAX removed frames.\n"
    assert last_word(said) == "ModuleNotFoundError: No module named 'c'"
    assert last_word("") == "it ended without a word"
