"""A saved solution is the same solution when it is opened again, and nothing else is opened."""

import dataclasses
import io
import json
import shutil
import zipfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import hcpinn as hc
from declarations import declare
from hcpinn.descent import History, Piecewise, PointWeights, Stop
from hcpinn.errors import FileError, HcpinnError
from hcpinn.machine.files import read_archive, write_archive
from hcpinn.machine.precision import double
from hcpinn.machine.provenance import Provenance
from hcpinn.trial import make_trial

PROBLEM = hc.find_problem("allen-cahn-2").with_parameters(gamma2=3.0)
OWN = declare(name="my equation", rhs=lambda u, k: k * u.xx, parameters={"k": 0.1})
METHOD = hc.Method(
    name="mine",
    embedding=hc.Fourier(2),
    network=hc.MLP(8, 2),
    points=128,
    stages=(hc.Adam(steps=5), hc.LBFGS(steps=2)),
)
T, X = np.meshgrid(np.linspace(0, 1, 5), np.linspace(-1, 1, 7), indexing="ij")


def make(problem=PROBLEM, method=METHOD, **facts):
    """A solution with random parameters and every fact filled in."""
    with double():
        size = method.windows * ravel_pytree(make_trial(problem, method).init(jax.random.key(0)))[0].size
    x, rng = np.linspace(-1, 1, 9), np.random.default_rng(2)
    settings = {
        "problem": problem,
        "method": method,
        "seed": 7,
        "function": Piecewise.from_arrays(
            problem, method, {"theta": 0.5 * np.random.default_rng(0).standard_normal(size)}
        ),
        "estimated_error": 0.25,
        "history": History(
            np.array([1.0, 0.3, 0.1, np.nan, 1e-20, 0.1, 1 / 3]),
            (("Adam", 5), ("L-BFGS", 2)),
            {"residual": np.geomspace(1, 1e-3, 7), "periodic x": np.array([np.nan, *range(6)], float)},
        ),
        "stop": Stop.PRECISION,
        "seconds": 12.125,
        "provenance": Provenance("gpu: a card", {"hcpinn": "0.1.0", "jax": "0.10"}, "by timing"),
        "verdict": hc.Verdict("not converged", 0.3125, ("Too far off.", "Train longer.")),
        "rel_l2": {"u": 0.3125},
        "rel_l1": {"u": 0.1},
        "reference": hc.Reference(
            problem_name=problem.name,
            times=np.linspace(0, 1, 4),
            coordinates=(x,),
            values={"u": np.random.default_rng(1).standard_normal((4, 9))},
            error_estimate=1e-9,
            solver="by hand",
            notes=("rough",),
            wall_s=0.5,
        ),
        "weights": {
            name: PointWeights(rng.random((size, 2)), rng.random(size))
            for name, size in (("residual", 5), ("periodic x", 3))
        },
    }
    return hc.Solution(**{**settings, **facts})


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder with saved solutions, as they should be."""
    folder = tmp_path_factory.mktemp("saved")
    make().save(folder / "solution.npz")
    make(OWN).save(folder / "own.npz")
    return folder


@pytest.fixture
def path(saved, tmp_path):
    """A saved solution, to open or to spoil."""
    return Path(shutil.copy(saved / "solution.npz", tmp_path))


@pytest.fixture
def own_path(saved, tmp_path):
    return Path(shutil.copy(saved / "own.npz", tmp_path))


def test_every_fact_comes_back(path):
    before, after = make(), hc.load(path)
    for field in ("method", "seed", "stop", "seconds", "verdict", "rel_l2", "rel_l1", "estimated_error"):
        assert getattr(after, field) == getattr(before, field), field
    assert after.problem.name == "allen-cahn-2"
    assert dict(after.problem.parameters) == dict(PROBLEM.parameters)
    assert after.provenance.device == before.provenance.device
    assert dict(after.provenance.versions) == dict(before.provenance.versions)
    assert after.history.stages == before.history.stages
    assert after.history.loss.tobytes() == before.history.loss.tobytes()
    assert after.theta.tobytes() == before.theta.tobytes()
    assert after.summary() == before.summary()
    assert repr(after) == repr(before)


def test_a_thinned_history_is_true_and_complete_and_has_the_lowest_loss():
    loss = np.random.default_rng(0).random(55_000)
    thin = History(loss, (("Adam", 55_000),), {"initial": 2 * loss}).thinned()
    assert len(thin.loss) <= 201
    assert (thin.numbers[0], thin.numbers[-1]) == (1, 55_000)
    assert np.all(np.diff(thin.numbers) > 0)
    np.testing.assert_array_equal(thin.loss, loss[thin.numbers - 1])
    np.testing.assert_array_equal(thin.terms["initial"], 2 * loss[thin.numbers - 1])
    assert thin.loss.min() == loss.min()
    assert thin.thinned() is thin
    few = History(loss[:5], (("Adam", 5),)).thinned()
    np.testing.assert_array_equal(few.loss, loss[:5])


def test_a_lean_solution_is_the_same_function_in_less_room(tmp_path):
    loss = np.random.default_rng(0).random(20_000)
    whole = make(history=History(loss, (("Adam", 20_000),), {"residual": loss}))
    large, small = whole.save(tmp_path / "large.npz"), whole.lean().save(tmp_path / "small.npz")
    assert small.stat().st_size < large.stat().st_size / 10
    after = hc.load(small)
    np.testing.assert_array_equal(after(T, X), whole(T, X))
    assert after.history.stages == whole.history.stages
    np.testing.assert_array_equal(after.history.loss, loss[after.history.numbers - 1])
    assert after.reference is None
    assert {**after.summary(), "reference": 0} == {**whole.summary(), "reference": 0}
    after.plot_history(tmp_path / "history.png")


def test_a_solution_over_another_horizon_comes_back(tmp_path):
    shorter = PROBLEM.with_parameters(horizon=0.5)
    make(shorter).save(tmp_path / "shorter.npz")
    assert hc.load(tmp_path / "shorter.npz").problem.horizon == 0.5


def test_terms_and_weights_come_back(path):
    before, after = make(), hc.load(path)
    assert list(after.history.terms) == ["residual", "periodic x"]
    for name, values in before.history.terms.items():
        assert after.history.terms[name].tobytes() == values.tobytes()
    assert list(after.weights) == ["residual", "periodic x"]
    for name, found in before.weights.items():
        assert after.weights[name].points.tobytes() == found.points.tobytes()
        assert after.weights[name].weights.tobytes() == found.weights.tobytes()


def test_a_solution_in_time_windows_comes_back(tmp_path):
    method = dataclasses.replace(METHOD, windows=2, network=hc.MLP(8, 1), weights=hc.SelfAdaptive())
    before = make(method=method)
    after = hc.load(before.save(tmp_path / "windows.npz"))
    assert after.method == method
    assert after(T, X).tobytes() == before(T, X).tobytes()
    assert after.dtx(T, X).tobytes() == before.dtx(T, X).tobytes()
    with pytest.raises(FileError, match=r"windows\.npz.*method"):
        hc.load(tmp_path / "windows.npz", method=dataclasses.replace(method, windows=1))


def with_theta(arrays):
    """The arrays as they were before version 3."""
    other = {n: v for n, v in arrays.items() if not n.startswith("function.")}
    return {**other, "theta": arrays["function.theta"]}


def test_a_file_of_the_second_version_still_opens(path):
    """It knew one engine, whose lessons were horizons, and no estimates."""

    def before_engines(header):
        method = {**header["method"], "horizons": [0.5, 1.0, 1.0, 1.0], "early": True}
        del method["lessons"]
        kept = {n: v for n, v in header.items() if n not in ("engine", "estimated_error")}
        return {**kept, "method": method, "stop": "ACCURACY"}

    rewritten(path, version=2, header=before_engines, arrays=with_theta)
    after = hc.load(path)
    assert after.method == dataclasses.replace(METHOD, horizons=(0.5, 1.0), lessons=3)
    assert after(T, X).tobytes() == make()(T, X).tobytes()
    assert after.estimated_error is None
    assert after.stop is Stop.ESTIMATE  # for its verdict is that it has not converged


def test_a_file_of_an_unknown_engine_is_refused(path):
    rewritten(path, header=lambda h: {**h, "engine": "steam"})
    with pytest.raises(FileError, match=r"solution\.npz was made by the engine 'steam'"):
        hc.load(path)


def test_segments_of_unequal_length_come_back(tmp_path):
    method = dataclasses.replace(METHOD, windows=2, network=hc.MLP(8, 1))
    arrays = make(method=method).function.to_arrays()
    arrays["edges"][1] = 0.3
    before = make(method=method, function=Piecewise.from_arrays(PROBLEM, method, arrays))
    after = hc.load(before.save(tmp_path / "unequal.npz"))
    assert isinstance(after.function, Piecewise)
    assert [segment.end for segment in after.function.segments] == [0.3, 1.0]
    assert after(T, X).tobytes() == before(T, X).tobytes()


def test_a_file_of_the_first_version_still_opens(path):
    """It knew nothing of terms, weights and schemes."""

    def before_schemes(header):
        old = ("name", "lift", "gate", "embedding", "network", "points", "sampler", "stages")
        method = {name: value for name, value in header["method"].items() if name in old}
        for stage in method["stages"]:
            stage.pop("schedule", None)
        return {**header, "method": method}

    rewritten(
        path,
        version=1,
        header=before_schemes,
        arrays=lambda a: {n: v for n, v in with_theta(a).items() if not n.startswith(("terms.", "weights."))},
    )
    after = hc.load(path)
    assert after.method == METHOD
    assert after(T, X).tobytes() == make()(T, X).tobytes()
    assert (after.history.terms, after.weights) == ({}, {})


def test_the_reference_comes_back(path):
    before, after = make().reference, hc.load(path).reference
    for field in ("problem_name", "error_estimate", "solver", "notes", "wall_s"):
        assert getattr(after, field) == getattr(before, field), field
    np.testing.assert_array_equal(after.times, before.times)
    np.testing.assert_array_equal(after.coordinates[0], before.coordinates[0])
    np.testing.assert_array_equal(after.values["u"], before.values["u"])
    assert len(after.coordinates) == 1


def test_values_and_derivatives_come_back_bit_for_bit(path):
    before, after = make(), hc.load(path)
    assert after(T, X).tobytes() == before(T, X).tobytes()
    assert after.dxx(T, X).tobytes() == before.dxx(T, X).tobytes()


def test_what_is_unknown_stays_unknown(tmp_path):
    bare = make(
        reference=None, rel_l2=None, rel_l1=None, verdict=hc.Verdict("suspect", None, ("Nobody looked.",))
    )
    after = hc.load(bare.save(tmp_path / "bare.npz"))
    assert after.reference is None
    assert after.rel_l2 is None
    assert after.rel_l1 is None
    assert after.verdict == bare.verdict


def test_saving_goes_to_one_file_without_code(path):
    assert [p.name for p in path.parent.iterdir()] == ["solution.npz"]
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert all(name.endswith((".npy", ".json")) for name in names)
        header = json.loads(archive.read("hcpinn.json"))
        for name in names:
            if name.endswith(".npy"):
                np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
    assert (header["kind"], header["version"]) == ("solution", 3)


# Problems and methods of one's own


def test_a_problem_of_ones_own_has_to_be_given_again(own_path):
    message = r"own\.npz solves 'my equation', which is not in the catalogue.*load\(path, problem=…\)"
    with pytest.raises(FileError, match=message):
        hc.load(own_path)
    again = declare(name="my equation", rhs=lambda u, k: k * u.xx, parameters={"k": 0.1})
    assert hc.load(own_path, problem=again)(T, X).tobytes() == make(OWN)(T, X).tobytes()


@pytest.mark.parametrize(
    "changes",
    [
        {"parameters": {"k": 0.2}},
        {"rhs": lambda u, k: -k * u.xx},
        {"rhs": lambda u, k: k * u.xx + u},
        {"initial": lambda x: 2 * jnp.cos(jnp.pi * x)},
        {"horizon": 2.0},
        {"domain": hc.Interval(-2, 2)},
        {"domain": hc.Interval(-1.5, 1.5), "boundary": hc.Dirichlet(0.0)},
    ],
    ids=["parameter", "sign", "term", "initial data", "horizon", "domain", "boundary"],
)
def test_another_problem_is_refused(own_path, changes):
    other = dataclasses.replace(OWN, **changes)
    with pytest.raises(FileError, match=r"own\.npz was solved for a different problem than 'my equation'"):
        hc.load(own_path, problem=other)


def test_a_method_of_ones_own_has_to_be_given_again(tmp_path):
    own = dataclasses.replace(
        METHOD, lift=hc.CustomLift(lambda t, x: x**2 * jnp.sin(2 * jnp.pi * x) * (1 - t))
    )
    before = make(method=own)
    path = before.save(tmp_path / "a.npz")
    with pytest.raises(
        HcpinnError, match=r"'CustomLift', which is not one of hcpinn's.*code.*load\(path, method=…\)"
    ):
        hc.load(path)
    assert hc.load(path, method=own)(T, X).tobytes() == before(T, X).tobytes()


def test_another_lift_of_ones_own_is_refused(tmp_path):
    def lifted(power):
        return hc.CustomLift(lambda t, x: x**2 * jnp.sin(2 * jnp.pi * x) * (1 - t) ** power)

    one, two = (dataclasses.replace(METHOD, lift=lifted(power)) for power in (1, 2))
    path = make(method=one).save(tmp_path / "a.npz")
    with pytest.raises(FileError, match=r"a\.npz.*method"):
        hc.load(path, method=two)


@pytest.mark.parametrize(
    "change",
    [
        {"network": hc.MLP(9, 2)},
        {"network": hc.MLP(8, 3)},
        {"embedding": hc.Fourier(3)},
        {"lift": hc.Decay(2.0)},
    ],
    ids=["width", "depth", "embedding", "lift"],
)
def test_a_method_that_does_not_fit_the_file_is_refused(path, change):
    with pytest.raises(FileError, match=r"solution\.npz.*method"):
        hc.load(path, method=dataclasses.replace(METHOD, **change))


# Files that are not what they should be


def test_a_truncated_file_is_refused(path):
    content = path.read_bytes()
    for length in (0, 1, 100, len(content) // 2, len(content) - 30, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(FileError, match=r"solution\.npz cannot be read as an hcpinn solution"):
            hc.load(path)


def test_foreign_files_are_refused(tmp_path):
    with pytest.raises(FileError, match="There is no file"):
        hc.load(tmp_path / "missing.npz")
    np.savez(tmp_path / "other.npz", theta=np.ones(3))
    with pytest.raises(FileError, match="not a file of hcpinn"):
        hc.load(tmp_path / "other.npz")
    write_archive(tmp_path / "check.npz", kind="checkpoint", version=1, header={}, arrays={})
    with pytest.raises(FileError, match="holds a checkpoint, not a solution"):
        hc.load(tmp_path / "check.npz")


def rewritten(path, *, version=3, header=lambda h: h, arrays=lambda a: a):
    """The file written anew with changes."""
    old_header, old_arrays = read_archive(path, kind="solution", version=3)
    plain = {k: v for k, v in old_header.items() if k not in ("kind", "version")}
    return write_archive(
        path, kind="solution", version=version, header=header(plain), arrays=arrays(old_arrays)
    )


def test_a_newer_version_says_to_update(path):
    rewritten(path, version=4)
    with pytest.raises(
        FileError, match=r"version 4 of the solution format; .* up to version 3\. Update hcpinn"
    ):
        hc.load(path)


@pytest.mark.parametrize(
    "name",
    [
        "problem",
        "engine",
        "method",
        "seed",
        "stages",
        "stop",
        "seconds",
        "device",
        "versions",
        "verdict",
        "rel_l2",
        "reference",
    ],
)
def test_a_file_that_lacks_a_fact_is_refused(path, name):
    rewritten(path, header=lambda h: {k: v for k, v in h.items() if k != name})
    with pytest.raises(FileError, match=rf"solution\.npz is incomplete.*{name}"):
        hc.load(path)


def test_a_file_from_before_kernels_were_kept_opens(path):
    rewritten(path, header=lambda h: {k: v for k, v in h.items() if k != "kernels"})
    assert hc.load(path).provenance.kernels is None


@pytest.mark.parametrize(
    "name", ["function.theta", "loss", "reference.times", "reference.values.u", "weights.values.residual"]
)
def test_a_file_that_lacks_an_array_is_refused(path, name):
    rewritten(path, arrays=lambda a: {k: v for k, v in a.items() if k != name})
    with pytest.raises(FileError, match=r"solution\.npz is incomplete"):
        hc.load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"stop": "TIRED"},
        {"verdict": "fine"},
        {"stages": [["Adam"]]},
        {"problem": {"name": "allen-cahn-2"}},
        {"method": {"name": "x", "network": {"kind": "MLP", "colour": "red"}}},
        {"method": {"name": "x", "stages": [{"kind": "Sorcery"}]}},
        {"reference": {"solver": "by hand"}},
    ],
    ids=["stop", "verdict", "stages", "problem", "part", "stage", "reference"],
)
def test_garbled_facts_are_refused(path, change):
    rewritten(path, header=lambda h: {**h, **change})
    with pytest.raises(HcpinnError):
        hc.load(path)


def test_parameters_of_the_wrong_number_are_refused_when_opened(path):
    rewritten(path, arrays=lambda a: {**a, "function.theta": a["function.theta"][:-1]})
    with pytest.raises(FileError, match=r"solution\.npz"):
        hc.load(path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="Cannot write"):
        make().save(tmp_path / "file" / "a.npz")
