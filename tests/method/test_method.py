"""A method is a value: comparable, kept as text, and refused when it makes no sense."""

import dataclasses
import json

import pytest

import hcpinn as hc
from declarations import declare, declare_dirichlet
from hcpinn.catalog import ENTRIES, METHODS
from hcpinn.errors import FileError, HcpinnError, MethodError, UnknownNameError
from hcpinn.method import from_dict, to_dict
from hcpinn.solution import make_trial
from hcpinn.training.validation import check_stage
from hcpinn.trial import Lift

OWN = hc.Method(
    name="mine",
    lift=hc.Decay(0.25),
    embedding=hc.Plain(),
    network=hc.MLP(12, 3, "sin"),
    points=77,
    sampler="sobol",
    stages=(hc.LBFGS(steps=3, memory=7), hc.Adam(steps=5, rate=2e-3, precision="float64"), hc.LBFGS(steps=1)),
)


@pytest.mark.parametrize(
    "method",
    [hc.Method(), OWN, *(METHODS[m](e.problem) for m in METHODS for e in ENTRIES.values())],
    ids=lambda m: m.name,
)
def test_a_method_survives_being_written_as_text(method):
    text = json.dumps(to_dict(method), allow_nan=False)
    again = from_dict(json.loads(text))
    assert again == method
    assert hash(again) == hash(method)
    assert to_dict(again) == to_dict(method)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"lift": hc.Decay(0.26)},
        {"embedding": hc.Fourier(3)},
        {"network": hc.MLP(12, 3)},
        {"points": 78},
        {"sampler": "uniform"},
        {"stages": OWN.stages[:2]},
        {"stages": (*OWN.stages[:2], hc.LBFGS(steps=2))},
    ],
)
def test_methods_that_differ_in_one_setting_differ(change):
    other = dataclasses.replace(OWN, **change)
    assert other != OWN
    assert to_dict(other) != to_dict(OWN)


def test_a_method_cannot_be_changed_by_accident():
    with pytest.raises(dataclasses.FrozenInstanceError):
        OWN.points = 1  # type: ignore[misc]


def test_the_defaults_are_the_protocol_of_the_study():
    method = hc.Method()
    assert (method.network.width, method.network.depth, method.embedding.modes) == (32, 7, 10)
    assert (method.points, method.sampler) == (16_384, "latin-hypercube")
    adam, lbfgs = method.stages
    assert (adam.label, adam.steps, adam.rate) == ("Adam", 50_000, 1e-3)
    assert (lbfgs.label, lbfgs.steps, lbfgs.precision) == ("L-BFGS", 5_000, "float64")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lift": hc.Decay}, "lift must be a Lift"),
        ({"gate": lambda t: t}, "gate must be a Gate"),
        ({"embedding": 10}, "embedding must be a Embedding|embedding must be an Embedding"),
        ({"network": (32, 7)}, r"network must be a Network, but is \(32, 7\)"),
        ({"points": 0}, "at least one point, but points = 0"),
        ({"points": -3}, "at least one point, but points = -3"),
        ({"points": 10.5}, r"points = 10\.5"),
        ({"points": "many"}, "points = 'many'"),
        ({"sampler": "sobel"}, "Did you mean 'sobol'"),
        ({"stages": ()}, "at least one stage"),
        ({"stages": hc.Adam()}, r"stages must be a tuple such as \(Adam\(\), LBFGS\(\)\)"),
        ({"stages": [hc.Adam()]}, "stages must be a tuple"),
        ({"stages": (hc.Adam,)}, "stages must be a tuple"),
    ],
)
def test_methods_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(HcpinnError, match=message):
        hc.Method(**settings)


@pytest.mark.parametrize(
    ("stage", "settings", "message"),
    [
        (hc.Adam, {"steps": 0}, "Adam: steps must be positive, but is 0"),
        (hc.Adam, {"rate": -1e-3}, r"Adam: rate must be positive, but is -0\.001"),
        (hc.Adam, {"rate": float("nan")}, "Adam: rate must be positive, but is nan"),
        (hc.Adam, {"rate": float("inf")}, "Adam: rate must be positive, but is inf"),
        (hc.Adam, {"precision": "float16"}, "precision must be 'float32' or 'float64', but is 'float16'"),
        (hc.LBFGS, {"memory": 0}, "LBFGS: memory must be positive, but is 0"),
        (hc.LBFGS, {"search": -1}, "LBFGS: search must be positive, but is -1"),
    ],
)
def test_stages_that_make_no_sense_are_refused(stage, settings, message):
    with pytest.raises(MethodError, match=message):
        stage(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 1.5}, r"Adam: steps must be a whole number, but is 1\.5"),
        ({"steps": None}, "Adam: steps must be positive, but is None"),
        ({"rate": "fast"}, "Adam: rate must be .*'fast'"),
        ({"precision": 64}, "precision must be 'float32' or 'float64', but is 64"),
    ],
)
def test_settings_of_the_wrong_type_are_refused_in_a_sentence(settings, message):
    # The run-time types of the tests would answer first, so the stage is filled in past them.
    stage = object.__new__(hc.Adam)
    for name, value in {**dataclasses.asdict(hc.Adam()), **settings}.items():
        object.__setattr__(stage, name, value)
    with pytest.raises(MethodError, match=message):
        check_stage(stage)


class _Undescribed(Lift):
    """A part of one's own that is not even a dataclass."""

    def bind(self, problem, parameters):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ({"lift": hc.CustomLift(lambda t, x: x)}, "CustomLift"),
        ({"gate": hc.CustomGate(lambda t: t)}, "CustomGate"),
        ({"network": hc.CustomNetwork(lambda key, i, o: 0.0, lambda p, f: f)}, "CustomNetwork"),
        ({"lift": _Undescribed()}, "_Undescribed"),
    ],
)
def test_parts_of_ones_own_are_described_but_not_made_from_text(part, name):
    described = json.loads(json.dumps(to_dict(hc.Method(**part))))
    assert name in str(described)
    with pytest.raises(HcpinnError, match=rf"'{name}', which is code and not kept in files.*method="):
        from_dict(described)


@pytest.mark.parametrize(
    "text",
    [
        None,
        [],
        "paper",
        {"colour": "red"},
        {"lift": {"kind": "Decay", "colour": "red"}},
        {"lift": {"kind": "Adam", "steps": 3}},
        {"lift": {"kind": "Checkpoint", "path": "x", "identity": "y"}},
        {"points": "many"},
        {"stages": [{"kind": "Adam", "steps": -1}]},
        {"network": {"kind": ["MLP"]}},
    ],
)
def test_text_that_describes_no_method_is_refused(text):
    with pytest.raises((FileError, MethodError)):
        from_dict(text)


def test_named_methods_fit_every_problem_they_are_asked_for():
    for problem in (declare(), declare_dirichlet(), *(e.problem for e in ENTRIES.values())):
        for name in METHODS:
            method = hc.find_method(name, problem)
            assert method.name == name
            method.embedding.bind(problem)


def test_an_unknown_method_gets_the_nearest_name():
    with pytest.raises(UnknownNameError, match=r"There is no method 'papper'\. Did you mean 'paper'"):
        hc.find_method("papper", declare())
    with pytest.raises(UnknownNameError, match="There is no method 'papper'"):
        hc.solve(declare(), "papper")


@pytest.mark.parametrize("method", [3, hc.Adam(), hc.MLP(8, 2)], ids=["number", "stage", "network"])
def test_what_is_no_method_at_all_is_refused_in_a_sentence(method):
    with pytest.raises(HcpinnError, match="method"):
        hc.solve(declare(), method)


def test_every_named_method_says_what_it_is():
    for about in METHODS.values():
        assert (about.__doc__ or "").strip()


def test_an_embedding_that_is_not_periodic_is_refused_for_a_periodic_problem():
    with pytest.raises(MethodError, match="periodic"):
        make_trial(declare(), hc.Method(embedding=hc.Plain(), network=hc.MLP(8, 2)))
