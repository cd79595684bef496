"""A method is a value: comparable, kept as text, and refused when it makes no sense."""

import dataclasses
import functools
import json

import pytest

import hcpinn as hc
from declarations import declare, declare_dirichlet
from hcpinn.catalog import ENTRIES, METHODS
from hcpinn.descent import Preparation, from_dict, to_dict
from hcpinn.errors import FileError, HcpinnError, MethodError, UnknownNameError
from hcpinn.objective import check_penalties
from hcpinn.trial import Lift, make_trial

OWN = hc.Method(
    name="mine",
    lift=hc.Decay(0.25),
    embedding=hc.Plain(),
    network=hc.MLP(12, 3, "sin"),
    points=77,
    sampler="sobol",
    penalties=(hc.PeriodicPenalty(8, order=1), hc.DataPenalty(((0.5, 0.0, 1.0), (1.0, 0.5, -1.0)))),
    batches=hc.Batches(2, 40),
    weights=hc.Causal(4, (0.5, 2.0)),
    resampling=hc.Resampling(7, "residual", 4),
    horizons=(0.5, 1.0),
    curriculum=hc.Curriculum("c", (0.5, 1.0)),
    stages=(hc.LBFGS(steps=3, memory=7), hc.Adam(5, 2e-3, hc.Cosine(0.1), "float64"), hc.LBFGS(steps=1)),
)


@pytest.mark.parametrize("name", ["of one's own", *METHODS])
def test_a_method_survives_being_written_as_text(name):
    named = [METHODS[name](e.problem) for e in ENTRIES.values()] if name in METHODS else [hc.Method(), OWN]
    for method in named:
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
        {"stages": (OWN.stages[0], hc.Adam(5, 2e-3, hc.Cosine(0.2), "float64"), OWN.stages[2])},
        {"penalties": OWN.penalties[:1]},
        {"penalties": (hc.PeriodicPenalty(8, order=1), hc.DataPenalty(((0.5, 0.0, 1.0),)))},
        {"batches": None},
        {"batches": hc.Batches(3, 40)},
        {"weights": None},
        {"weights": hc.Causal(4, (0.5, 2.5))},
        {"resampling": hc.Resampling(7, "residual", 5)},
        {"windows": 2},
        {"horizons": (1.0,)},
        {"curriculum": hc.Curriculum("c", (0.25, 1.0))},
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
    assert (method.network, method.embedding) == (hc.MLP(32, 7), hc.Fourier(10))
    assert (method.points, method.sampler) == (16_384, "latin-hypercube")
    adam, lbfgs = method.stages
    assert adam == hc.Adam(steps=50_000, rate=1e-3)
    assert (lbfgs.label, lbfgs.steps, lbfgs.precision) == ("L-BFGS", 5_000, "float64")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lift": hc.Decay}, "lift must be a Lift"),
        ({"gate": lambda t: t}, "gate must be a Gate"),
        ({"embedding": 10}, "embedding must be a Embedding|embedding must be an Embedding"),
        ({"network": (32, 7)}, r"network must be a Network, but is \(32, 7\)"),
        ({"points": 0}, "at least one of its points and at most .*, but points = 0"),
        ({"points": -3}, "at least one of its points and at most .*, but points = -3"),
        ({"points": 10.5}, r"points = 10\.5"),
        ({"points": "many"}, "points = 'many'"),
        ({"sampler": "sobel"}, "Did you mean 'sobol'"),
        ({"stages": ()}, "at least one stage"),
        ({"stages": hc.Adam()}, r"stages must be a tuple such as \(Adam\(\), LBFGS\(\)\)"),
        ({"stages": [hc.Adam()]}, "stages must be a tuple"),
        ({"stages": (hc.Adam,)}, "stages must be a tuple"),
        ({"name": 3}, "The name of a method must be text, but is 3"),
        ({"penalties": hc.InitialPenalty()}, r"penalties must be a tuple such as \(InitialPenalty\(\),\)"),
        ({"penalties": [hc.InitialPenalty()]}, "penalties must be a tuple"),
        ({"weights": "self-adaptive"}, "weights must be a WeightRule, but is 'self-adaptive'"),
        ({"batches": 5}, "batches must be a Batches, but is 5"),
        ({"resampling": 1000}, "resampling must be a Resampling, but is 1000"),
        ({"curriculum": "c"}, "curriculum must be a Curriculum, but is 'c'"),
        ({"windows": 0}, "at least one of its windows and at most .*, but windows = 0"),
        ({"windows": 1.5}, r"windows = 1\.5"),
        ({"horizons": ()}, r"growing shares that ends in 1\.0"),
        ({"horizons": 0.5}, r"growing shares that ends in 1\.0.*but is 0\.5"),
        ({"horizons": (0.5,)}, r"ends in 1\.0.*but is \(0\.5,\)"),
        ({"horizons": (0.5, 0.25, 1.0)}, "growing shares"),
        ({"horizons": (0.0, 1.0)}, "growing shares"),
        ({"horizons": (0.5, 1.5)}, "growing shares"),
        ({"horizons": (float("nan"), 1.0)}, "growing shares"),
        ({"horizons": [0.5, 1.0]}, "must be a tuple of growing shares"),
    ],
)
def test_methods_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(HcpinnError, match=message):
        hc.Method(**settings)


BY_LINE_SEARCH = (hc.LBFGS(),)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"weights": hc.SelfAdaptive(), "stages": BY_LINE_SEARCH},
            "weights need a first-order stage such as Adam, and this method has none",
        ),
        ({"weights": hc.Causal(), "stages": BY_LINE_SEARCH}, "weights need a first-order stage"),
        ({"batches": hc.Batches(), "stages": BY_LINE_SEARCH}, "batches need a first-order stage"),
        ({"batches": hc.Batches(5, 3000)}, "5 mini-batches of 3,000 do not make an epoch of 16,384 points"),
        ({"batches": hc.Batches(2, 20_000)}, "2 mini-batches of 20,000 do not make an epoch"),
        ({"batches": hc.Batches(5, 16_000)}, "5 mini-batches of 16,000 do not make an epoch"),
        ({"batches": hc.Batches(), "points": 128}, "5 mini-batches of 3,280 do not make an epoch of 128"),
    ],
)
def test_parts_that_make_no_sense_together_are_refused(settings, message):
    with pytest.raises(MethodError, match=message):
        hc.Method(**settings)


def test_parts_that_suit_each_other_are_accepted():
    for rule in (hc.Causal(), hc.SelfAdaptive(), hc.Attention()):
        hc.Method(weights=rule, resampling=hc.Resampling(by="residual"), batches=hc.Batches())
    hc.Method(weights=hc.SelfAdaptive(), batches=hc.Batches(5, 3280), stages=(hc.LBFGS(), hc.Adam()))
    hc.Method(horizons=(0.25, 1), windows=3, curriculum=hc.Curriculum("c"))


@pytest.mark.parametrize(
    ("part", "settings", "message"),
    [
        (hc.Resampling, {"every": -1}, "every must be a whole number of steps, but is -1"),
        (hc.Resampling, {"every": 2.5}, r"every must be a whole number of steps, but is 2\.5"),
        (hc.Resampling, {"by": "residuals"}, "no kind of resampling 'residuals'. Did you mean 'residual'"),
        (hc.Resampling, {"candidates": 1}, "candidates must be at least 2, but is 1"),
        (hc.Curriculum, {"parameter": "c", "factors": ()}, r"ends in 1\.0, as in \(0\.5, 1\.0\), not \(\)"),
        (hc.Curriculum, {"parameter": "c", "factors": (0.5,)}, r"ends in 1\.0"),
        (hc.Curriculum, {"parameter": "c", "factors": [0.5, 1.0]}, "takes a tuple"),
        (hc.Curriculum, {"parameter": "c", "factors": (float("inf"), 1.0)}, "inf"),
        (hc.Exponential, {"factor": 1.5}, r"factor between 0 and 1.*1\.5"),
        (hc.Exponential, {"every": 0}, "whole number of steps, not 0.9 and 0"),
        (hc.Cosine, {"final": -0.1}, r"from 0 to 1, not -0\.1"),
        (hc.Cosine, {"warmup": -1}, "warmup must be a whole number of steps, but is -1"),
    ],
)
def test_orders_of_training_that_make_no_sense_are_refused(part, settings, message):
    with pytest.raises(HcpinnError, match=message):
        part(**settings)


def test_a_warm_up_must_leave_steps_of_its_stage():
    with pytest.raises(MethodError, match="A warm-up of 100 steps leaves none of the stage's 100"):
        hc.Adam(steps=100, schedule=hc.Cosine(warmup=100))
    hc.Adam(steps=101, schedule=hc.Cosine(warmup=100))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"curriculum": hc.Curriculum("gama2")},
            r"no parameter of the curriculum 'gama2' of allen-cahn-1\. Did you mean 'gamma2'",
        ),
        (
            {"curriculum": hc.Curriculum("gamma2", (1e9, 1.0))},
            r"'gamma2' of allen-cahn-1 lies between -1000 and 1000, but is 5e\+09",
        ),
        (
            {"embedding": hc.Plain(), "penalties": (hc.PeriodicPenalty(),), "windows": 2},
            r"starts exactly from the end of the one before.*not make periodic along x.*windows=1",
        ),
        ({"embedding": hc.Plain()}, r"not be periodic along x.*or add PeriodicPenalty\(\)"),
        ({"lift": hc.NoLift(), "gate": hc.NoGate()}, r"Nothing holds the initial data.*InitialPenalty\(\)"),
        ({"lift": hc.NoLift()}, r"NoLift\(\) and NoGate\(\) go together"),
        ({"penalties": (hc.InitialPenalty(),)}, "hold exactly already, so InitialPenalty"),
        ({"penalties": (hc.PeriodicPenalty(),)}, "periodic along x already, so PeriodicPenalty"),
        ({"penalties": (hc.BoundaryPenalty(),)}, "BoundaryPenalty has no effect on allen-cahn-1"),
        ({"penalties": (hc.DataPenalty(((0.0, 0.0),)),)}, r"a row of 3 numbers \(t, x, u\), but 2"),
        (
            {"penalties": (hc.DataPenalty(((0.5, 0.0, 1.0),)), hc.DataPenalty(((1.0, 0.0, 1.0),)))},
            "put all rows into one DataPenalty",
        ),
        ({"embedding": hc.Characteristic()}, "no parameter 'c' of allen-cahn-1"),
    ],
)
def test_methods_that_do_not_suit_the_problem_are_refused_before_training(settings, message):
    run = hc.Run(hc.find_problem("allen-cahn-1"), hc.Method(network=hc.MLP(4, 1), points=16, **settings))
    with pytest.raises(HcpinnError, match=message):
        Preparation([run])


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
        ({"steps": 1.5}, r"Adam: steps must be a whole number up to 2,147,483,647, but is 1\.5"),
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
        stage.__post_init__()


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
    with pytest.raises(
        HcpinnError, match=rf"'{name}', which is not one of hcpinn's.*code and not kept in files.*method="
    ):
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
    with pytest.raises((FileError, MethodError, UnknownNameError)):
        from_dict(text)


SIMILAR = ("allen-cahn-1", "allen-cahn-2", "allen-cahn-dirichlet", "cahn-hilliard", "kuramoto-sivashinsky")
"""Problems whose conditions are those of another one; every row of the study's tables is tested anyway."""

ROBIN = declare(boundary=hc.Robin(0.0), initial=lambda x: 1.0 + 0 * x)


@functools.cache
def fits(problem, lift, gate, embedding, penalties):
    """Whether every condition holds, exactly or by a penalty; an error tells which one does not."""
    parts = hc.Method(lift=lift, gate=gate, embedding=embedding, penalties=penalties)
    check_penalties(make_trial(problem, parts), penalties)
    return True


def test_named_methods_fit_every_problem_they_are_asked_for():
    for problem in (declare(), declare_dirichlet(), ROBIN, *(e.problem for e in ENTRIES.values())):
        for name in METHODS:
            method = hc.find_method(name, problem)
            assert method.name == name
            if method.engine == "descent" and name != "cinn" and problem.name not in SIMILAR:
                assert fits(problem, method.lift, method.gate, method.embedding, method.penalties)


def test_the_method_for_transport_fits_transport_alone():
    advection = hc.find_problem("advection")
    method = hc.find_method("cinn", advection)
    check_penalties(make_trial(advection, method), method.penalties)
    for problem in (declare(), hc.find_problem("gray-scott")):
        with pytest.raises(HcpinnError, match="no parameter 'c'"):
            make_trial(problem, hc.find_method("cinn", problem))


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
