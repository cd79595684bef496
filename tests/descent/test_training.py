"""Training does what its optimisers promise, and ends with the best parameters and a reason."""

import dataclasses
import functools
import threading
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import hcpinn as hc
from declarations import declare
from descent.small import DECAY, RELAX, assert_same_bits, method
from hcpinn.descent import History, Piecewise, Preparation, Prepared, Progress, Stop, train
from hcpinn.descent.program import even_part
from hcpinn.errors import HcpinnError, MethodError
from hcpinn.objective import RESIDUAL, Objective, residual, sampling, stack
from hcpinn.outcome import Residuals
from hcpinn.trial import Trial

HEAT = declare(rhs=lambda u: 0.1 * u.xx)

LINEAR = hc.CustomNetwork(lambda key, i, o: jnp.zeros((i, o)), lambda weights, features: features @ weights)
"""A network that is linear in its parameters, which makes the loss of a linear equation quadratic."""


@dataclasses.dataclass
class Trained:
    """What training gave one run; `theta` has a row for the one time window."""

    theta: np.ndarray
    history: History
    stop: Stop


class Start(Preparation):
    """Runs that are ready to train, without any lessons; `start_of` keeps them from test to test."""

    estimates = False
    bytes = 0

    def __init__(self, problem=DECAY, *, seeds=(0,), lift=hc.Decay(0.3), network=hc.MLP(6, 1)):
        self.trial = Trial(problem, lift=lift, gate=hc.LinearGate(), embedding=hc.Fourier(1), network=network)
        templates = [self.trial.init(jax.random.key(seed)) for seed in seeds]
        self.objective = Objective(self.trial, templates[0], chunk=256)
        self.theta = np.stack([np.asarray(ravel_pytree(t)[0]) for t in templates])
        each = [self.objective.data(sampling.interior(problem, 128, seed=seed)) for seed in seeds]
        self.first = each[0]
        self.prepared = Prepared(self.objective, *stack(each))
        self.problem = problem
        self.accuracy = SimpleNamespace(over_all=lambda windows: [None] * len(self.theta))

    @property
    def schedule(self):
        return self.method.schedule

    def prepare(self, lesson, part, theta, finished, points):
        return self.prepared

    def function(self, run, windows):
        [theta] = windows
        parameters = self.objective.unravel(jnp.asarray(theta[run]))
        return Piecewise.make(self.problem, [0.0, 1.0], [self.trial], [parameters])

    def residuals(self, run, function, points):
        return Residuals(0.0, 0.0, lambda points: np.zeros(len(points)))

    def train(self, *stages, **options):
        self.method = method(stages=stages)
        outcomes = train(self, progress=Progress(visible=False), **options)
        return [Trained(o.function.to_arrays()["theta"][None], o.history, o.stop) for o in outcomes]

    def mismatches(self, theta):
        """The residual of the first run at its points, in one row."""
        fixed, parameters = self.first.blocks[RESIDUAL].fixed[0], self.first.parameters
        return residual(self.trial, self.objective.unravel(theta), fixed, parameters).reshape(-1)

    @functools.cached_property
    def slope(self):
        """The loss of the first run as a function of its parameters, with its gradient."""
        return jax.jit(jax.value_and_grad(lambda theta: jnp.mean(self.mismatches(theta) ** 2)))

    def loss(self, theta):
        """The loss of the first run, whose only time window has the parameters theta[0]."""
        return float(self.slope(jnp.asarray(theta).reshape(-1))[0])


start_of = functools.cache(Start)


def finite(history):
    """The losses that are numbers."""
    return history.loss[np.isfinite(history.loss)]


def assert_never_up(history):
    losses = finite(history)
    assert (np.diff(losses) <= 1e-14 * losses[:-1]).all()


# Optimisers


def test_adam_takes_the_steps_of_the_textbook():
    start = start_of()
    [trained] = start.train(hc.Adam(steps=6, rate=3e-2, precision="float64"))
    theta, mean, square, losses, places = start.theta[0], 0.0, 0.0, [], []
    for step in range(1, 7):
        loss, slope = start.slope(jnp.asarray(theta))
        losses.append(float(loss))
        places.append(theta)
        mean = 0.9 * mean + 0.1 * np.asarray(slope)
        square = 0.999 * square + 0.001 * np.asarray(slope) ** 2
        theta = theta - 3e-2 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    np.testing.assert_allclose(trained.history.loss, losses, rtol=1e-10)
    assert trained.history.stages == (("Adam", 6),)
    assert trained.stop is Stop.BUDGET
    np.testing.assert_allclose(trained.theta, [places[int(np.argmin(losses))]], rtol=1e-9, atol=1e-12)


def test_lbfgs_finds_the_least_squares_solution_of_a_quadratic_loss_and_never_goes_up():
    start = start_of(HEAT, network=LINEAR)
    zero = jnp.zeros(start.objective.size)
    matrix, offset = np.asarray(jax.jacobian(start.mismatches)(zero)), np.asarray(start.mismatches(zero))
    best = np.linalg.lstsq(matrix, -offset, rcond=None)[0]
    [trained] = start.train(hc.LBFGS(steps=120))
    assert start.loss(trained.theta) <= start.loss(best) * (1 + 1e-9)
    np.testing.assert_allclose(matrix @ (trained.theta[0] - best), 0.0, atol=1e-6)
    assert_never_up(trained.history)
    assert trained.stop in (Stop.PRECISION, Stop.FLAT)


def test_lbfgs_reaches_machine_precision_where_the_solution_is_within_reach():
    # With no decay the lift is u₀, and u₀ t is all that is missing: one weight on cos πx.
    problem = declare(rhs=lambda u, x: np.cos(np.pi * x))
    start = start_of(problem, lift=hc.Decay(0.0), network=LINEAR)
    [trained] = start.train(hc.LBFGS(steps=60))
    assert start.loss(trained.theta) < 1e-28
    solved = np.asarray(
        start.trial(start.objective.unravel(jnp.asarray(trained.theta[0])), jnp.asarray([[0.7, 0.2]]))
    )
    np.testing.assert_allclose(solved, 1.7 * np.cos(0.2 * np.pi), rtol=1e-13)


def test_float32_steps_are_followed_by_float64_steps():
    start = start_of()
    [trained] = start.train(hc.Adam(steps=20, rate=1e-2), hc.LBFGS(steps=20))
    single, double = trained.history.loss[:20], trained.history.loss[20:]
    assert trained.history.stages == (("Adam", 20), ("L-BFGS", 20))
    np.testing.assert_array_equal(single, single.astype(np.float32))
    assert (double != double.astype(np.float32)).any()
    assert double[0] <= single.min() * (1 + 1e-4)
    assert_never_up(dataclasses.replace(trained.history, loss=double))
    assert double[-1] < double[0]
    assert trained.theta.dtype == np.float64
    assert start.loss(trained.theta) <= double[-1]


# Reasons to stop


def test_a_vanishing_gradient_ends_training_after_the_steps_it_took():
    constant = declare(rhs=lambda u: 0.1 * u.xx, initial=lambda x: 1.0 + 0 * x)
    [trained] = start_of(constant, lift=hc.Decay(0.0), network=LINEAR).train(hc.LBFGS(steps=500))
    assert trained.stop is Stop.FLAT
    assert trained.history.stages == (("L-BFGS", 1),)
    np.testing.assert_array_equal(trained.history.loss, [0.0])


ROOT = declare(rhs=lambda u: np.sqrt(u), initial=lambda x: 2 + jnp.cos(jnp.pi * x))
"""An equation that makes no sense once u is negative."""


def test_a_loss_that_becomes_nan_keeps_the_best_parameters_and_ends_all_stages():
    start = start_of(ROOT)
    wild = hc.Adam(steps=10, rate=1e3, precision="float64")
    [trained] = start.train(wild, hc.LBFGS(steps=10))
    assert trained.stop is Stop.NOT_FINITE
    assert trained.stop.failed
    assert np.isfinite(trained.theta).all()
    assert start.loss(trained.theta) == pytest.approx(np.nanmin(trained.history.loss), rel=1e-12)
    assert dict(trained.history.stages).get("L-BFGS", 0) == 0


def test_a_loss_that_is_nan_from_the_start_leaves_the_parameters_alone():
    start = start_of(declare(rhs=lambda u: np.sqrt(u - 100)))
    [trained] = start.train(hc.Adam(steps=10, precision="float64"))
    assert trained.stop is Stop.NOT_FINITE
    np.testing.assert_array_equal(trained.theta, start.theta)


def test_lbfgs_does_not_walk_into_nan():
    start = start_of(ROOT)
    [trained] = start.train(hc.LBFGS(steps=20))
    assert np.isfinite(trained.theta).all()
    assert start.loss(trained.theta) < start.loss(start.theta[0])
    assert_never_up(trained.history)


def test_divergence_keeps_the_best_parameters_and_says_so():
    start = start_of(declare(rhs=lambda u: u**3))
    [trained] = start.train(hc.Adam(steps=50, rate=1e3, precision="float64"))
    assert trained.stop is Stop.DIVERGED
    assert trained.stop.failed
    losses = finite(trained.history)
    assert losses[-1] > 1e6 * losses[0]
    assert start.loss(trained.theta) == pytest.approx(losses.min(), rel=1e-12)


def test_the_time_budget_ends_training_and_keeps_the_best():
    start = start_of()
    [trained] = start.train(hc.Adam(steps=100_000, precision="float64"), hc.LBFGS(), max_seconds=0.0)
    assert trained.stop is Stop.TIME
    assert not trained.stop.failed
    assert 0 < len(trained.history.loss) < 100_000
    assert trained.history.stages == (("Adam", len(trained.history.loss)),)
    assert start.loss(trained.theta) == pytest.approx(trained.history.loss.min(), rel=1e-12)


def test_every_reason_is_a_sentence_and_has_a_code_of_its_own():
    assert len({stop.code for stop in Stop}) == len(Stop)
    for stop in Stop:
        assert stop.value.endswith(".")
        assert stop.code > 0
        assert Stop.from_code(stop.code) is stop


# Many runs at once, and seeds


def assert_alike(together, alone):
    for one, other in zip(together, alone, strict=True):
        assert one.stop is other.stop
        np.testing.assert_allclose(one.history.loss, other.history.loss, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(one.theta, other.theta, rtol=1e-7, atol=1e-9)


def alone(runs):
    return [hc.solve(run.problem, run.method, seed=run.seed, reference=False) for run in runs]


def test_runs_with_other_seeds_lifts_and_parameters_train_together_as_they_do_alone():
    runs = [
        hc.Run(RELAX, method(), 0),
        hc.Run(RELAX, method(lift=hc.Decay(0.0)), 1),
        hc.Run(RELAX.with_parameters(a=0.5), method(lift=hc.Decay(2.0)), 0),
    ]
    together = hc.solve_batch(runs, reference=False)
    assert_alike(together[1:], alone(runs[1:]))
    assert [s.seed for s in together] == [0, 1, 0]
    assert together[2].problem.parameters["a"] == 0.5
    x = np.linspace(-1, 1, 5)
    for solution in together:
        np.testing.assert_allclose(solution(0.0, x), 2 + np.cos(np.pi * x), rtol=1e-14)


def test_line_searches_of_runs_that_train_together_do_not_disturb_each_other():
    _, second = start_of(seeds=(0, 3)).train(hc.LBFGS(steps=8))
    assert_alike([second], start_of(seeds=(3,)).train(hc.LBFGS(steps=8)))


def test_a_run_that_breaks_down_leaves_the_others_alone():
    problem = declare(
        rhs=lambda u, a: np.sqrt(u - a), initial=lambda x: 3 + jnp.cos(jnp.pi * x), parameters={"a": 0.0}
    )
    stages = tuple(hc.Adam(steps=n, rate=1e-3, precision="float64") for n in (10, 5))
    runs = [hc.Run(p, method(stages=stages)) for p in (problem, problem.with_parameters(a=100.0))]
    sound, broken = hc.solve_batch(runs, reference=False)
    assert (sound.stop, broken.stop) == (Stop.BUDGET, Stop.NOT_FINITE)
    assert sound.history.stages == (("Adam", 10), ("Adam", 5))
    assert sound.history.loss[-1] < sound.history.loss[0]
    assert not broken.verdict.converged
    assert broken.summary()["final_loss"] is None


def test_runs_over_other_horizons_train_as_alone_or_are_refused():
    own = hc.CustomNetwork(hc.MLP(6, 1).init, lambda parameters, features: hc.MLP(6, 1)(parameters, features))
    runs = [hc.Run(p, method(network=own), 0) for p in (DECAY, dataclasses.replace(DECAY, horizon=4.0))]
    try:
        together = hc.solve_batch(runs, reference=False)
    except MethodError:
        return
    assert_alike(together, alone(runs))


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"network": hc.MLP(6, 2)}, "network"),
        ({"embedding": hc.Fourier(2)}, "embedding"),
        ({"points": 64}, "points"),
        ({"sampler": "sobol"}, "sampler"),
        ({"gate": hc.CustomGate(lambda t: 2 * t)}, "gate"),
        ({"stages": (hc.Adam(steps=13),)}, "stages"),
    ],
)
def test_runs_that_differ_in_shape_are_refused(change, part):
    runs = [hc.Run(DECAY, method(name="one")), hc.Run(DECAY, method(name="two", **change))]
    message = (
        rf"must have the same {part}; methods 'one' and 'two' differ.*lift, seed and the problem's parameters"
    )
    with pytest.raises(MethodError, match=message):
        hc.solve_batch(runs, reference=False)


def test_runs_of_other_equations_are_refused():
    other = declare(name="other", rhs=lambda u: -2 * u)
    with pytest.raises(MethodError, match="must share their equation, but other and problem do not"):
        hc.solve_batch([hc.Run(DECAY, method()), hc.Run(other, method())], reference=False)


def test_runs_whose_fields_have_other_parts_are_refused():
    wave = dataclasses.replace(DECAY, name="wave", initial=lambda x: jnp.exp(1j * jnp.pi * x))
    with pytest.raises(HcpinnError, match="wave"):
        hc.solve_batch([hc.Run(DECAY, method()), hc.Run(wave, method())], reference=False)


def test_no_runs_at_all_are_refused():
    with pytest.raises(MethodError, match="There are no runs"):
        hc.solve_batch([])


@pytest.mark.parametrize("seed", [-1, 0.5, "zero", None])
def test_seeds_that_are_none_are_refused(seed):
    with pytest.raises(MethodError, match="A seed must be a whole number of at least 0"):
        hc.solve(DECAY, method(), seed=seed, reference=False)


def test_the_same_seed_gives_the_same_bits_in_any_thread():
    first = hc.solve(DECAY, method(), seed=5, reference=False)
    results = []
    thread = threading.Thread(
        target=lambda: results.append(hc.solve(DECAY, method(), seed=5, reference=False))
    )
    thread.start()
    thread.join()
    [again] = results
    assert_same_bits(again, first)


def test_another_seed_which_may_be_an_integer_of_numpy_gives_other_bits():
    other = hc.solve(DECAY, method(), seed=np.int64(6), reference=False)
    first = start_of()
    assert type(other.seed) is int
    assert other.theta.shape == first.theta[0].shape
    assert (other.theta != first.theta[0]).all()


# A reference that is given, and none


def test_a_reference_for_other_fields_is_refused_before_training():
    x = np.linspace(-1, 1, 5)
    foreign = hc.Reference(
        problem_name="other",
        times=np.linspace(0, 1, 3),
        coordinates=(x,),
        values={"v": np.ones((3, 5))},
        error_estimate=1e-9,
        solver="by hand",
    )
    with pytest.raises(HcpinnError, match="reference"):
        hc.solve(DECAY, method(), reference=foreign)


def test_a_problem_without_a_reference_still_gets_its_solution():
    plate = declare(
        domain=hc.Box((0, 1), (0, 1)),
        boundary=hc.Dirichlet(1.0),
        rhs=lambda u: 1 - u,
        initial=lambda x, y: 1 + jnp.sin(jnp.pi * x) * jnp.sin(jnp.pi * y),
    )
    solution = hc.solve(plate, method(embedding=hc.Plain()))
    assert solution.reference is None
    assert solution.rel_l2 is None
    assert not solution.verdict.converged
    assert len(solution.history.loss) == 12


# Blocks of steps


@pytest.mark.parametrize(
    ("whole", "most", "part"),
    [(50_000, 286, 250), (5_000, 286, 250), (100, 200, 100), (6, 4, 3), (1, 2, 1), (97, 50, 49), (7, 2, 1)],
)
def test_steps_are_taken_in_blocks_of_one_length_where_that_is_possible(whole, most, part):
    assert even_part(whole, most) == part
