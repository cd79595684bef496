"""Studies are declared in Python, as files or by name, and nonsense is answered in a sentence."""

import pytest

import hcpinn as hc
from hcpinn.errors import HcpinnError
from hcpinn.study import Study, find_study, grid, load_study
from small_studies import DECAY, method, study

FILE = """
title = "A grid"
problems = ["advection"]
methods = ["pbc+ic1+sa", "mine.toml", "baseline"]
seeds = 2
parameters = {c = [1, 2.5]}

[budget]
steps = [20, 10]
points = 256
"""


@pytest.fixture
def write(tmp_path):
    (tmp_path / "mine.toml").write_text('network = {kind = "MLP", width = 5, depth = 1}\n')

    def write(text):
        (tmp_path / "grid.toml").write_text(text)
        return tmp_path / "grid.toml"

    return write


def test_a_file_declares_all_combinations(write):
    read = load_study(write(FILE))
    assert (read.name, read.title) == ("grid", "A grid")
    (section,) = read.sections
    made = [(r.problem.parameters["c"], r.method.name, r.seed) for r in section.runs]
    assert made == [(c, m, s) for c in (1.0, 2.5) for m in ("pbc+ic1+sa", "mine", "baseline") for s in (0, 1)]
    assert {r.method.points for r in section.runs} == {256}
    assert {tuple(stage.steps for stage in r.method.stages) for r in section.runs} == {(20, 10)}
    assert section.runs[2].method.network == hc.MLP(5, 1)
    assert section.labels[0] == section.labels[1] == "advection, c = 1, pbc+ic1+sa"
    assert len(set(section.keys)) == 12


def test_a_file_may_have_sections_and_include_named_studies(write):
    text = """
    include = ["ablation-advection-c60"]
    seeds = [3]
    [[section]]
    name = "first"
    problems = ["advection"]
    methods = ["baseline"]
    [[section]]
    problems = ["gray-scott"]
    methods = ["mb"]
    seeds = [1, 2]
    accuracy = 1e-3
    """
    read = load_study(write(text))
    assert [s.name for s in read.sections] == ["ablation advection-c60", "first", "grid 2"]
    assert [len(s.runs) for s in read.sections] == [8, 1, 2]
    assert [r.seed for r in read.runs] == [3] * 9 + [1, 2]
    assert [s.accuracy for s in read.sections] == [1e-2, 1e-2, 1e-3]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            'problems = ["advektion"]\nmethods = ["paper"]',
            "no problem 'advektion'. Did you mean 'advection'?",
        ),
        ('problems = ["advection"]\nmethods = ["papper"]', "no method 'papper'. Did you mean 'paper'?"),
        ('problems = ["advection"]\nmethods = ["none.toml"]', "There is no file"),
        (
            'problems = ["advection"]\nmethods = ["paper"]\nparameters = {d = 1}',
            "no parameter 'd' of advection",
        ),
        ('problems = ["advection"]\nmethods = ["paper"]\nparameters = {c = "x"}', "c is a number or a list"),
        ('problems = ["advection"]\nmethods = ["paper"]\nseeds = [-1]', "seeds is a list of whole numbers"),
        ('problems = ["advection"]\nmethods = ["paper"]\naccuracy = 0', "accuracy must be positive"),
        (
            'problems = ["advection"]\nmethods = ["paper"]\nbudget = {steps = [1]}',
            "steps takes 2 whole numbers",
        ),
        ('problems = ["advection"]\nmethods = ["paper"]\nbudget = {stpes = 1}', "Did you mean 'steps'?"),
        ('problem = "advection"', "no setting 'problem' of a study. Did you mean 'problems'?"),
        ('methods = ["paper"]', "names no problems"),
        ('problems = "advection"', "problems is a list"),
        ('include = ["ablatoin"]', "no study 'ablatoin'. Did you mean 'ablation'?"),
        ("section = [1]", "A section is a table"),
        ("", "names no problems"),
        ("problems = [", "This is not TOML"),
        ('problems = ["advection"]\nmethods = ["paper"]\nseeds = 1000000000000', "up to 100,000"),
        (
            'problems = ["advection"]\nmethods = ["paper"]\nseeds = 99999\nparameters = {c = [1, 2]}',
            "has 199,998 runs",
        ),
    ],
)
def test_files_that_make_no_sense_are_named_with_what_is_wrong(write, text, words):
    with pytest.raises(HcpinnError) as caught:
        load_study(write(text))
    assert words in str(caught.value)
    assert "grid.toml: " in str(caught.value)


def test_names_of_studies_have_suggestions(tmp_path):
    with pytest.raises(
        HcpinnError, match="no study 'ablation-allen-can-1'. Did you mean 'ablation-allen-cahn-1'"
    ):
        find_study("ablation-allen-can-1")
    with pytest.raises(HcpinnError, match="There is no file"):
        load_study(tmp_path / "none.toml")


def test_studies_in_python_are_checked():
    with pytest.raises(HcpinnError, match="no runs"):
        study()
    with pytest.raises(HcpinnError, match="1 runs, but 2 labels"):
        study(hc.Run(DECAY, method()), labels=("a", "b"))
    (section,) = study(hc.Run(DECAY, method())).sections
    with pytest.raises(HcpinnError, match="two sections 'only'"):
        Study("twice", "", (section, section))
    with pytest.raises(HcpinnError, match="no sections"):
        Study("empty", "", ())


def test_other_seeds_replace_those_of_every_row():
    section = grid("g", [DECAY], ["quick", "expert"], parameters={"k": [1.0, 2.0]}, seeds=(0, 1))
    changed = Study("s", "", (section,)).with_seeds([5, 6, 7])
    assert len(changed.runs) == 12
    assert {r.seed for r in changed.runs} == {5, 6, 7}
    assert changed.sections[0].labels == tuple(label for label in section.labels[::2] for _ in range(3))
