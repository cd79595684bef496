"""`hcpinn study`: what it says, how it exits, and what it refuses."""

import json

import pytest

from command_line import assert_refused, hcpinn
from hcpinn.study import Store, named_studies

FILE = """
problems = ["advection"]
parameters = {c = 2}
methods = ["mine.toml"]
"""
MINE = """
points = 64
network = {kind = "MLP", width = 6, depth = 1}
embedding = {kind = "Fourier", modes = 1}
stages = [{kind = "Adam", steps = 400, precision = "float64"}]
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "mine.toml").write_text(MINE)
    (tmp_path / "grid.toml").write_text(FILE)
    return tmp_path / "grid.toml"


def test_the_list_shows_every_study_that_has_a_name():
    code, said, _ = hcpinn("study", "--list")
    assert code == 0
    for name in named_studies():
        assert name in said


def test_a_dry_run_tells_what_is_ahead_and_does_nothing(file, tmp_path):
    out = tmp_path / "out"
    code, said, complaint = hcpinn(
        "study", file, "ablation-gray-scott", "--dry-run", "--seeds", "0-2", "--out", out
    )
    assert (code, complaint) == (0, "")
    words = " ".join(said.split())
    assert "ablation gray-scott 42 0 9" in words
    assert "45 different runs" in words
    assert "GiB" in words
    part = ("--problem", "gray-*", "--method", "pbc+ic2*", "--method", "sa")
    code, said, _ = hcpinn("study", file, "ablation", *part, "--dry-run", "--out", out)
    assert (code, " ".join(said.split()).count("ablation")) == (0, 1)
    assert "15 different runs" in said
    assert not out.exists()


def test_time_that_is_up_and_runs_that_fail_show_in_the_exit_code(file, tmp_path):
    out = tmp_path / "out"
    code, said, _ = hcpinn("study", file, "--out", out, "--max-seconds", "0")
    assert code == 3
    assert "0 runs done, 1 left" in said
    code, said, _ = hcpinn("study", file, "--out", out)
    assert code == 0
    assert f"1 run done; kept in {out}" in said
    (record,) = Store(out).records()
    assert record.summary["steps"] == 400
    (tmp_path / "mine.toml").write_text(MINE + 'curriculum = {kind = "Curriculum", parameter = "speed"}')
    code, said, _ = hcpinn("study", file, "--out", out)
    assert code == 1
    assert "failed. There is no parameter of the curriculum 'speed'" in said
    assert "0 runs done, 1 failed" in said
    assert len(Store(out).records()) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Name a study"),
        (["papper"], "There is no study 'papper'. Did you mean 'paper'?"),
        (["none.toml"], "There is no file none.toml"),
        (["dirichlet", "--seeds", "a"], "--seeds takes whole numbers, as in 0,1,2 or 0-9; not 'a'"),
        (["dirichlet", "--seeds", "-1"], "--seeds takes whole numbers"),
        (["ablation", "--method", "pcb"], "There is no method 'pcb' of the study 'ablation'. Did you mean"),
        (["dirichlet", "--steps", "10"], "steps takes 2 whole numbers"),
        (["dirichlet", "--cluster", "slurm"], "There is no kind of cluster 'slurm'"),
        (["dirichlet", "--cluster", "ray", "--processes", "2"], "give processes or a cluster, not both"),
        (["dirichlet", "--cluster", "ray:127.0.0.1:1"], "There is no Ray cluster at '127.0.0.1:1'"),
    ],
)
def test_nonsense_is_answered_in_one_sentence(arguments, words, tmp_path):
    code, said, complaint = hcpinn("study", *arguments, "--out", tmp_path / "out")
    assert_refused(code, complaint, words)
    assert said == ""


def test_a_store_of_another_version_is_refused(tmp_path):
    (tmp_path / "store.json").write_text(json.dumps({"kind": "study store", "version": 9}))
    code, _, complaint = hcpinn("study", "dirichlet", "--out", tmp_path)
    assert_refused(code, complaint, "is a study store of version 9")
