"""Networks grow where their training stalls: neurons are added whose output weights evolve."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from descent import small
from hcpinn.descent import Lesson, Progress, Report, Stop
from hcpinn.descent.lessons import Repetition, Schedule, Windows
from hcpinn.errors import MethodError

HEAT = declare(rhs=lambda u: 0.1 * u.xx - u**3, initial=lambda x: jnp.sin(jnp.pi * x))
METHOD = small.method(
    lift=hc.Semigroup(),
    embedding=hc.Fourier(2),
    lessons=6,
    resampling=hc.Resampling(every=0),
    growth=hc.Growth(),
    stages=(hc.LBFGS(steps=15),),
)


@pytest.fixture(scope="module")
def grown():
    return hc.solve(HEAT, METHOD, accuracy=1e-7, progress=False)


def test_where_training_stalls_the_network_grows_until_the_accuracy_is_reached(grown):
    assert grown.summary()["engine"] == "descent and evolution"
    assert any("neurons whose output weights evolve were added" in note for note in grown.notes)
    assert grown.stop in (Stop.ESTIMATE, Stop.ACCURACY)
    assert grown.verdict.converged
    assert grown.rel_l2["u"] <= 3 * grown.estimated_error <= 3e-7
    still = hc.solve(
        HEAT, dataclasses.replace(METHOD, growth=None), accuracy=1e-7, reference=False, progress=False
    )
    assert still.estimated_error > 1e-5


def test_the_trained_network_is_a_part_of_what_grows(grown):
    """Without its network the function is another, with the same initial and boundary data."""
    t, x = np.full(9, 0.5), np.linspace(-1, 1, 9)
    points = jnp.asarray(np.column_stack([t, x]))
    own = grown.function.trained.beyond_lift(points, [(0, 0)])[(0, 0)]
    assert float(jnp.abs(own).max()) > 1e-3
    np.testing.assert_array_equal(
        grown.function.trained.beyond_lift(points.at[:, 0].set(0.0), [(0, 0)])[(0, 0)], 0
    )
    np.testing.assert_allclose(grown(0.0 * t, x), np.sin(np.pi * x), atol=1e-12)
    np.testing.assert_allclose(grown(t, -1 + 0 * x), grown(t, 1 + 0 * x), atol=1e-12)


def test_what_has_grown_is_one_function_that_files_keep(grown, tmp_path):
    grown.save(tmp_path / "grown.npz")
    again = hc.load(tmp_path / "grown.npz", problem=HEAT)
    t, x = np.linspace(0, 1, 7), np.linspace(-1, 1, 7)
    np.testing.assert_array_equal(again(t, x), grown(t, x))
    np.testing.assert_array_equal(again.dxx(t, x), grown.dxx(t, x))
    assert len(again.theta) > len(grown.function.trained.to_arrays()["theta"])
    with jax.enable_x64(True):
        values, slope = jax.jvp(lambda s: grown(s, 0.3), (0.5,), (1.0,))
    assert values == pytest.approx(float(grown(0.5, 0.3)), rel=1e-9)
    assert slope == pytest.approx(float(grown.dt(0.5, 0.3)), rel=1e-7)


def test_walls_and_fields_hold_in_what_has_grown():
    """uₜ = uₓₓ + v, vₜ = vₓₓ − u, with a value given at one end and a slope at the other."""
    problem = declare(
        rhs=lambda u, v: (0.2 * u.xx + v, 0.2 * v.xx - u),
        initial=lambda x: (jnp.sin(jnp.pi * (x + 1) / 4), 0 * x),
        boundary=(hc.Dirichlet(0.0), hc.Neumann(0.0)),
    )
    method = dataclasses.replace(METHOD, lift=hc.Decay(0.0), embedding=hc.Even(2), network=hc.MLP(8, 1))
    found = hc.solve(problem, method, accuracy=1e-6, progress=False)
    assert found.function.engine == "descent and evolution"
    assert found.verdict.converged
    t = np.linspace(0, 1, 5)
    for values, slopes in zip(found(t, -1 + 0 * t), found.dx(t, 1 + 0 * t), strict=True):
        np.testing.assert_allclose(values, 0, atol=1e-9)
        np.testing.assert_allclose(slopes, 0, atol=1e-9)


class Impatient(Progress):
    """Breaks off once the network grows."""

    met = False

    def __init__(self):
        super().__init__(visible=False)

    def stage(self, label, steps, done):
        self.met |= "growth" in label

    @property
    def interrupted(self):
        return self.met


def test_a_training_that_is_interrupted_while_it_grows_resumes_to_the_same_bits(grown, tmp_path):
    runs = [hc.Run(HEAT, METHOD)]
    options = {"out": tmp_path, "reference": False}
    [broken] = hc.solve_batch(runs, progress=Impatient(), accuracy=1e-7, **options)
    assert broken.stop is Stop.INTERRUPTED
    [resumed] = hc.solve_batch(runs, progress=False, resume=True, accuracy=1e-7, **options)
    assert resumed.history.stages == grown.history.stages
    np.testing.assert_array_equal(resumed.theta, grown.theta)
    assert resumed.estimated_error == grown.estimated_error


def test_what_has_grown_so_far_outlives_an_interruption(tmp_path):
    """Few neurons do not reach the accuracy, so training goes on; what they gave stays the best."""
    method = dataclasses.replace(METHOD, growth=hc.Growth(features=12))
    runs = [hc.Run(HEAT, method)]
    whole = hc.solve_batch(runs, progress=False, accuracy=1e-11, reference=False)[0]
    assert whole.stop is Stop.BUDGET
    assert whole.function.engine == "descent and evolution"
    options = {"out": tmp_path, "reference": False, "accuracy": 1e-11, "checkpoint_every": 0.0}
    [broken] = hc.solve_batch(runs, progress=After(4), **options)
    assert broken.function.engine == "descent and evolution"
    [resumed] = hc.solve_batch(runs, progress=False, resume=True, **options)
    np.testing.assert_array_equal(resumed.theta, whole.theta)
    assert resumed.estimated_error == whole.estimated_error


class After(Progress):
    """Breaks off in a lesson of this number, counted from 1."""

    def __init__(self, lessons):
        super().__init__(visible=False)
        self.left = lessons

    def stage(self, label, steps, done):
        self.left -= "L-BFGS" in label

    @property
    def interrupted(self):
        return self.left <= 0


def test_growth_takes_turns_with_training():
    schedule = Schedule((hc.Growth(), Repetition(4), Windows(1)))
    first = schedule.first
    assert schedule.next(Report(first)) == Lesson(repeat=1, number=1)
    growing = schedule.next(Report(first, stalled=True))
    assert growing == Lesson(number=1, growing=True)
    assert schedule.next(Report(growing)) == Lesson(repeat=1, number=2)
    assert schedule.next(Report(growing, good=True)) is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lessons": 1}, "growth follows the error"),
        ({"penalties": (hc.InitialPenalty(),)}, "growth needs a lift"),
        ({"windows": 2}, "growth adds neurons over the whole of time"),
        ({"growth": 3}, "growth must be a Growth"),
    ],
)
def test_growth_that_cannot_be_is_refused(changes, message):
    with pytest.raises(MethodError, match=message):
        dataclasses.replace(METHOD, **changes)
    with pytest.raises(MethodError, match="features must be a whole number"):
        hc.Growth(features=0)
