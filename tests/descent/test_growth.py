"""Networks grow where their training stalls: corrections are solved for, kept, saved and told apart."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from descent import small
from hcpinn.descent import Lesson, Piecewise, Preparation, Progress, Report, Stop
from hcpinn.descent.checkpoint import Position
from hcpinn.descent.corrections import Corrector, Grown
from hcpinn.descent.lessons import Repetition, Schedule, Windows
from hcpinn.descent.segments import corrected
from hcpinn.errors import MethodError
from hcpinn.machine.precision import double

HEAT = declare(rhs=lambda u: 0.1 * u.xx - u**3, initial=lambda x: jnp.sin(jnp.pi * x))
METHOD = small.method(
    lift=hc.Semigroup(),
    embedding=hc.Fourier(2),
    lessons=6,
    resampling=hc.Resampling(every=0),
    growth=hc.Growth(width=300, most=2),
    stages=(hc.LBFGS(steps=15),),
)


@pytest.fixture(scope="module")
def grown():
    return hc.solve(HEAT, METHOD, accuracy=1e-4, progress=False)


def test_where_training_stalls_the_network_grows_until_the_accuracy_is_reached(grown):
    assert any("correction" in label for label, _ in grown.history.stages)
    assert isinstance(grown.function.parameters[0], Grown)
    assert grown.verdict.converged
    assert grown.rel_l2["u"] == pytest.approx(grown.estimated_error, rel=0.3)
    still = hc.solve(
        HEAT, dataclasses.replace(METHOD, growth=None), accuracy=1e-4, reference=False, progress=False
    )
    assert grown.estimated_error < 0.2 * still.estimated_error


@pytest.mark.parametrize(("width", "stalled"), [(8, True), (3000, False)])
def test_training_that_is_worth_more_than_corrections_of_the_same_work_has_not_stalled(width, stalled):
    method = dataclasses.replace(METHOD, growth=hc.Growth(width=width))
    accuracy = Preparation([hc.Run(HEAT, method)], accuracy=1e-9).accuracy
    position = Position(Lesson())
    assert not accuracy.stalled(position, 1e-2)  # nothing to compare with
    assert accuracy.stalled(position, 5e-3) == stalled
    # Without any gain it has; but corrections just made wait for the network to become better.
    assert accuracy.stalled(position, 5e-3) != stalled


def test_a_grown_network_is_one_function_that_files_keep(grown, tmp_path):
    grown.save(tmp_path / "grown.npz")
    again = hc.load(tmp_path / "grown.npz", problem=HEAT)
    t, x = np.linspace(0, 1, 7), np.linspace(-1, 1, 7)
    np.testing.assert_array_equal(again(t, x), grown(t, x))
    np.testing.assert_array_equal(again.dxx(t, x), grown.dxx(t, x))
    assert len(again.theta) > len(grown.function.to_arrays()["theta"])
    values, slope = jax.jvp(lambda s: grown(s, 0.3), (0.5,), (1.0,))
    assert values == pytest.approx(float(grown(0.5, 0.3)), rel=1e-5)
    assert slope == pytest.approx(float(grown.dt(0.5, 0.3)), rel=1e-3)


class Impatient(Progress):
    """Breaks off once the first correction is made."""

    met = False

    def __init__(self):
        super().__init__(visible=False)

    def stage(self, label, steps, done):
        self.met |= "correction" in label

    @property
    def interrupted(self):
        return self.met


def test_a_training_that_is_interrupted_while_it_grows_resumes_to_the_same_bits(grown, tmp_path):
    runs = [hc.Run(HEAT, METHOD)]
    options = {"out": tmp_path, "reference": False}
    [broken] = hc.solve_batch(runs, progress=Impatient(), accuracy=1e-12, **options)
    assert broken.stop is Stop.INTERRUPTED
    [resumed] = hc.solve_batch(runs, progress=False, resume=True, accuracy=1e-4, **options)
    assert resumed.history.stages == grown.history.stages
    np.testing.assert_array_equal(resumed.theta, grown.theta)
    assert resumed.estimated_error == grown.estimated_error


def test_segments_may_differ_in_size_and_still_join_exactly():
    method = small.method(windows=3)
    with double():
        preparation = Preparation([hc.Run(HEAT, method)])
        network = preparation.unravel(jnp.asarray(preparation.theta[0]))
        rng = np.random.default_rng(0)

        def layer(width):
            inputs = network[0]["weight"].shape[0]
            hidden = {"weight": rng.normal(size=(inputs, width)), "bias": rng.normal(size=width)}
            output = {"weight": rng.normal(size=(width, 1)), "bias": np.zeros(1)}
            return jax.tree.map(jnp.asarray, [hidden, output])

        arrays = {"theta": np.tile(preparation.theta[0], 3)}
        plain = Piecewise.from_arrays(HEAT, method, arrays)
        sizes = [Grown(network, (layer(3),)), network, Grown(network, (layer(5), layer(2)))]
        own = Piecewise.make(HEAT, [0, 1 / 3, 2 / 3, 1], [s.trial for s in plain.segments], sizes)
        read = Piecewise.from_arrays(HEAT, method, own.to_arrays())
    assert [isinstance(s.parameters, Grown) for s in read.segments] == [True, False, True]
    assert [len(jax.tree.leaves(s.parameters)) for s in read.segments] == [8, 4, 12]
    x = np.linspace(-1, 1, 9)
    for edge in (1 / 3, 2 / 3):
        before, after = (
            read.derivative(jnp.asarray(np.column_stack([np.full(9, t), x])), (0, 0))
            for t in (edge - 1e-9, edge + 1e-9)
        )
        np.testing.assert_allclose(before, after, atol=1e-6)
    for name, array in own.to_arrays().items():
        np.testing.assert_array_equal(read.to_arrays()[name], array)


def test_a_correction_of_a_linear_equation_takes_one_least_squares_problem():
    """uₜ = −u, where u is a number at each x."""
    with double():
        preparation = Preparation([hc.Run(small.DECAY, small.method(network=hc.MLP(3, 1)))])
        [trial] = preparation.trials(Lesson(), [])
        network = preparation.unravel(jnp.asarray(preparation.theta[0]))
        corrector, settings = Corrector(trial, width=150), {"sampler": "latin-hypercube", "seed": 0}
        layers, left = corrector.correct(corrected(trial), Grown(network), label="first", **settings)
        function = Piecewise.make(small.DECAY, [0.0, 1.0], [corrected(trial)], [Grown(network, (layers,))])
        t, x = (a.ravel() for a in np.meshgrid(np.linspace(0, 1, 11), np.linspace(-1, 1, 11)))
        found = function.derivative(jnp.asarray(np.column_stack([t, x])), (0, 0))[:, 0]
        size = np.sqrt(np.mean(function.segments[0].squares(np.column_stack([t, x]))))
    np.testing.assert_allclose(found, np.exp(-t) * (2 + np.cos(np.pi * x)), atol=3e-4)
    assert left < 2e-3
    assert size < 5e-3


def test_growth_takes_turns_with_training():
    schedule = Schedule((hc.Growth(most=2), Repetition(4), Windows(2)))
    first = schedule.first
    assert schedule.next(Report(first)) == Lesson(repeat=1, number=1)
    one = schedule.next(Report(first, stalled=True))
    assert one == Lesson(number=1, correction=1)
    two = schedule.next(Report(one))
    assert two == Lesson(number=2, correction=2)
    assert schedule.next(Report(two)) == Lesson(repeat=1, number=3)
    assert schedule.next(Report(one, stalled=True)) == Lesson(repeat=1, number=2)
    assert schedule.next(Report(one, good=True)) == Lesson(window=1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lessons": 1}, "growth follows the error"),
        ({"penalties": (hc.InitialPenalty(),)}, "growth needs conditions that hold"),
        ({"growth": 3}, "growth must be a Growth"),
    ],
)
def test_growth_that_cannot_be_is_refused(changes, message):
    with pytest.raises(MethodError, match=message):
        dataclasses.replace(METHOD, **changes)
    with pytest.raises(MethodError, match="width must be a whole number"):
        hc.Growth(width=0)
