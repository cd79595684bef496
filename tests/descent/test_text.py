"""Methods as TOML: nothing is lost on the way, and what is no method is refused in a sentence."""

import dataclasses
import json
import subprocess
import sys
import tomllib

import pytest

import hcpinn as hc
from hcpinn.catalog import ENTRIES, METHODS
from hcpinn.descent import from_dict, to_toml
from hcpinn.errors import FileError, HcpinnError
from hcpinn.papers.hao2026.ablation import SWITCHES
from hcpinn.papers.hao2026.published import published_rows

EVERYTHING = hc.Method(
    name="every thing ψ",
    lift=hc.NoLift(),
    gate=hc.NoGate(),
    embedding=hc.Characteristic("speed"),
    network=hc.ModifiedMLP(8, 2, "swish"),
    penalties=(
        hc.InitialPenalty(7, 0.5),
        hc.PeriodicPenalty(8, order=2),
        hc.DataPenalty(((0.0, 1e-300, 0.1), (1.0, -1 / 3, 1e17)), weight=3.0),
    ),
    points=10,
    sampler="uniform",
    batches=hc.Batches(3, 4),
    weights=hc.Causal(7, (0.1, 100.0), 0.9),
    resampling=hc.Resampling(9, "residual", 5),
    windows=4,
    horizons=(0.1, 0.7, 1.0),
    curriculum=hc.Curriculum("speed", (0.1, 1.0)),
    stages=(
        hc.Adam(3, 1 / 3, hc.Exponential(0.7, 11), "float64"),
        hc.Adam(4, 1e-3, hc.Cosine(0.1, 2)),
        hc.LBFGS(5, 6, 7, "float32"),
    ),
)


OTHERS = (hc.SelfAdaptive("sigmoid", 0.1, 2.0), hc.Attention(0.1, 0.9))


def from_toml(text, name="custom"):
    """The method of a TOML text."""
    return from_dict({"name": name, **tomllib.loads(text)})


@pytest.mark.parametrize("name", [*METHODS, "every row", "of one's own"])
def test_a_method_survives_being_written_as_toml(name):
    if name in METHODS:
        methods = [METHODS[name](entry.problem) for entry in ENTRIES.values()]
    elif name == "every row":
        methods = [row.train() for row in published_rows()]
    else:
        methods = [hc.Method(), EVERYTHING, *(hc.Method(weights=rule) for rule in OTHERS)]
    for method in methods:
        again = from_toml(to_toml(method))
        assert again == method
        assert hash(again) == hash(method)
        assert again.name == method.name
        assert to_toml(again) == to_toml(method)


def test_shown_as_text_a_method_is_its_toml():
    assert str(EVERYTHING) == to_toml(EVERYTHING)
    assert f"{hc.Method()}" == to_toml(hc.Method())


def test_the_text_is_plain_toml_with_a_kind_for_every_part():
    data = tomllib.loads(str(EVERYTHING))
    assert data["points"] == 10
    assert data["weights"] == {"kind": "Causal", "chunks": 7, "tolerances": [0.1, 100.0], "threshold": 0.9}
    assert [stage["kind"] for stage in data["stages"]] == ["Adam", "Adam", "LBFGS"]
    assert data["stages"][1]["schedule"] == {"kind": "Cosine", "final": 0.1, "warmup": 2}


def test_what_a_method_does_without_is_left_out():
    assert {"weights", "batches", "resampling", "curriculum"}.isdisjoint(tomllib.loads(str(hc.Method())))


def test_settings_left_out_have_their_defaults():
    assert from_toml("") == hc.Method()
    assert from_toml("points = 7") == hc.Method(points=7)
    text = """
        horizons = [0.5, 1]
        weights.kind = "SelfAdaptive"
        network = {kind = "MLP", depth = 2}

        [[stages]]
        kind = "Adam"
        steps = 12
        schedule = {kind = "Exponential"}
    """
    assert from_toml(text, name="short") == hc.Method(
        name="short",
        horizons=(0.5, 1.0),
        weights=hc.SelfAdaptive(),
        network=hc.MLP(depth=2),
        stages=(hc.Adam(steps=12, schedule=hc.Exponential()),),
    )


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(hc.Method)])
def test_any_setting_can_be_left_out(field):
    lines = {f: v for f, v in tomllib.loads(str(hc.Method(name="x"))).items() if f != field}
    assert hc.Method(name="x") == dataclasses.replace(method_of(lines), name="x")


def method_of(data):
    from hcpinn.descent import from_dict

    return from_dict(data)


# Files


def test_a_file_gives_the_method_its_name_unless_it_has_one(tmp_path):
    (tmp_path / "my own.toml").write_text("points = 12")
    assert hc.load_method(tmp_path / "my own.toml") == hc.Method(name="my own", points=12)
    assert hc.load_method(str(tmp_path / "my own.toml")).name == "my own"
    path = hc.save_method(EVERYTHING, tmp_path / "deep" / "other.toml")
    assert path == tmp_path / "deep" / "other.toml"
    assert hc.load_method(path) == EVERYTHING


def test_a_file_can_be_named_wherever_a_method_can(tmp_path):
    path = hc.save_method(hc.Method(points=12), tmp_path / "mine.toml")
    assert hc.find_method(str(path), hc.find_problem("advection")) == hc.Method(points=12)


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(FileError, match=r"There is no file .*none\.toml"):
        hc.load_method(tmp_path / "none.toml")
    with pytest.raises(FileError, match=r"Cannot read .*: Is a directory"):
        hc.load_method(tmp_path)
    (tmp_path / "picture.toml").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(FileError, match=r"picture\.toml: This is not text"):
        hc.load_method(tmp_path / "picture.toml")
    with pytest.raises(FileError, match="Cannot write"):
        hc.save_method(hc.Method(), tmp_path / "picture.toml" / "below.toml")


BROKEN = {
    "points = = 3": "This is not TOML: Invalid value (at line 1, column 10)",
    "points = 3\npoints = 4": "This is not TOML: Cannot overwrite a value (at ",
    'colour = "red"': "There is no setting 'colour' of Method. Known: batches, curriculum,",
    "poins = 3": "no setting 'poins' of Method. Did you mean 'points'?",
    'lift = {kind = "Decay", rates = 1.0}': "no setting 'rates' of Decay. Did you mean 'rate'?",
    'network = {kind = "MPL"}': "a part 'MPL', which is not one of hcpinn's",
    'network = {kind = "CustomNetwork"}': "'CustomNetwork', which is not one of hcpinn's",
    "network = {width = 3}": "names its kind, as in kind = \"MLP\", but one with the settings 'width'",
    "lift = {kind = 3}": "names its kind",
    "lift = 3": "lift must be a Lift, but is 3",
    'lift = {kind = "Adam"}': "lift must be a Lift, but is Adam(",
    'lift = {kind = "Checkpoint", path = "x", identity = "y"}': "lift must be a Lift, but is Checkpoint(",
    'lift = {kind = "Decay", rate = "fast"}': "decay rate of a lift must be zero or positive, but is 'fast'",
    'network = {kind = "MLP", width = "wide"}': "whole numbers of at least 1 as width and depth, not 'wide'",
    'network = {kind = "MLP", width = 3.5}': "whole numbers of at least 1 as width and depth, not 3.5",
    'network = {kind = "MLP", activation = "relu"}': "There is no activation 'relu'. Did you mean 'gelu'?",
    'embedding = {kind = "Fourier", modes = 2.5}': "at least one mode, but modes = 2.5",
    'points = "many"': "points = 'many'",
    "points = 2020-01-01": "points = datetime.date(2020, 1, 1)",
    "name = 3": "The name of a method must be text, but is 3",
    "sampler = 3": "There is no sampler '3'",
    "windows = 1.5": "windows = 1.5",
    "horizons = [0.5, 0.4]": "growing shares that ends in 1.0",
    'horizons = ["half", 1.0]': "growing shares that ends in 1.0",
    'stages = "Adam"': "stages must be a tuple",
    'stages = {kind = "Adam"}': "stages must be a tuple",
    'stages = [{kind = "Adam", steps = "many"}]': "Adam: steps must be positive, but is 'many'",
    'stages = [{kind = "Adam", steps = 2.5}]': "Adam: steps must be a whole number up to 2,147,483,647, but is 2.5",
    'stages = [{kind = "Adam", schedule = "cosine"}]': "schedule must be one such as Exponential(), but is",
    'stages = [{kind = "Adam", schedule = {kind = "Cosine", final = "low"}}]': "Cosine cannot be made with final = 'low'",
    'weights = {kind = "SelfAdaptive", mask = "cube"}': "There is no mask 'cube'",
    'weights = {kind = "SelfAdaptive", rate = "x"}': "SelfAdaptive cannot be made with rate = 'x'",
    'weights = {kind = "Causal", tolerances = 3}': "tolerances",
    'weights = {kind = "Adam"}': "weights must be a WeightRule",
    'batches = {kind = "Batches", count = "x"}': "not 'x' and 3280",
    'curriculum = {kind = "Curriculum"}': "Curriculum cannot be made with no settings at all",
    'penalties = [{kind = "InitialPenalty", weight = "x"}]': "InitialPenalty: weight must be positive, but is 'x'",
    'penalties = [{kind = "DataPenalty", rows = [[1.0], [1.0, 2.0]]}]': "DataPenalty takes rows of numbers",
}

LOAD_ALL = """
import json, sys, hcpinn
from pathlib import Path

path, said = Path(sys.argv[1]), {}
for text in json.loads(sys.stdin.read()):
    path.write_text(text)
    try:
        said[text] = repr(hcpinn.load_method(path))
    except hcpinn.HcpinnError as error:
        said[text] = str(error)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What users are told, without the run-time types of the tests, which would answer first."""
    path = tmp_path_factory.mktemp("broken") / "broken.toml"
    done = subprocess.run(
        [sys.executable, "-c", LOAD_ALL, str(path)],
        input=json.dumps(list(BROKEN)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return path, json.loads(done.stdout)


@pytest.mark.parametrize("text", BROKEN)
def test_text_that_is_no_method_is_refused_in_a_sentence_that_names_the_file(said, text):
    path, answers = said
    assert answers[text].startswith(f"{path}: ")
    assert BROKEN[text] in answers[text]
    assert "\n" not in answers[text]
    assert "__init__" not in answers[text] or "missing" in answers[text]
    assert answers[text].endswith((".", "…"))


# Rows by name


def test_rows_are_found_by_their_switches():
    problem = hc.find_problem("allen-cahn-1")
    assert hc.find_method("pbc+ic1+sa", problem).name == "pbc+ic1+sa"
    assert hc.find_method("sa+ic1+pbc", problem) == hc.find_method("pbc+ic1+sa", problem)
    for switch in SWITCHES:
        hc.find_method(switch, problem)
    with pytest.raises(HcpinnError, match="ic1 and ic2 exclude each other"):
        hc.find_method("ic1+ic2", problem)
    with pytest.raises(HcpinnError, match=r"There is no method 'pbc\+ic3'"):
        hc.find_method("pbc+ic3", problem)
