"""The race to a given accuracy: its tasks are those of the catalogue, and its table says who arrived."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import hcpinn as hc

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize("name", ["allen-cahn-1", "allen-cahn-2", "burgers", "kuramoto-sivashinsky"])
def test_a_classical_solution_of_a_task_agrees_with_the_reference_of_its_problem(name, tmp_path, race):
    problem = hc.find_problem(DECLARATIONS.get(name, name))
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


def test_the_table_says_who_arrived_who_did_not_and_who_was_left_out(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    from time_to_accuracy import as_table

    fixed = {"problem": "allen-cahn-2", "target": 1e-3}
    arrived = {**fixed, "contestant": "A", "reached_s": 12.34, "last_s": 12.34, "curve": [[12.34, 9e-4]]}
    late = {
        **fixed,
        "contestant": "B",
        "reached_s": None,
        "last_s": 60.0,
        "curve": [[1.0, 0.2], [60.0, None]],
    }
    table = as_table({"rows": [arrived, late], "left_out": {"C": "No module named 'c'"}})
    assert table.splitlines()[2:] == [
        "| A | 12.3 s |",
        "| B | not reached: 2.0e-01 at best in 60 s |",
        "| C | left out: No module named 'c' |",
    ]


def test_the_word_on_why_a_contestant_is_left_out_is_its_error(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    from step_time import last_word

    said = "Traceback\n  File x\nModuleNotFoundError: No module named 'c'\n-----\nJAX removed frames.\n"
    assert last_word(said) == "ModuleNotFoundError: No module named 'c'"
    assert last_word("") == "it ended without a word"
