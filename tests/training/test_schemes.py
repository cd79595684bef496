"""Every scheme of training does what it says: weights, mini-batches, penalties, windows, horizons, curricula.

Where a scheme has a formula, training is compared with the formula written out in NumPy.
"""

import dataclasses
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.errors import MethodError
from hcpinn.objective import RESIDUAL, residual
from hcpinn.planning import TrainingPlan
from hcpinn.solution import Provenance
from hcpinn.training import History, Progress, Stop, train

FAMILY = declare(
    rhs=lambda u, t, x, a, b, swing, waves: (
        a * u * (1 - b * u) + swing * np.cos(12 * t) + waves * np.sin(20 * np.pi * x) * (x > 0)
    ),
    initial=lambda x: 2 + jnp.cos(jnp.pi * x),
    parameters={"a": -1.0, "b": 0.0, "swing": 0.0, "waves": 0.0},
)
"""Decay, growth and driven motion at every x: equations that differ in data alone are compiled once."""

DECAY = FAMILY
RELAX = FAMILY.with_parameters(a=-2.0)
DRIVEN = dataclasses.replace(
    FAMILY.with_parameters(a=0.0, swing=1.0),
    horizon=0.25,
    initial=lambda x: 1 + x / 2,
    boundary=hc.Dirichlet(lambda t: 0.5 + jnp.sin(12 * t) / 12, lambda t: 1.5 + jnp.sin(12 * t) / 12),
)
T, X = np.meshgrid(np.linspace(0, 1, 41), np.linspace(-1, 1, 21), indexing="ij")


def method(**changes):
    settings = {
        "lift": hc.Decay(0.3),
        "embedding": hc.Fourier(1),
        "network": hc.MLP(8, 1),
        "points": 64,
        "stages": (adam(12),),
    }
    return hc.Method(**{**settings, **changes})


def adam(steps, **settings):
    return hc.Adam(steps=steps, **{"rate": 1e-2, "precision": "float64", **settings})


def lbfgs(steps, **settings):
    return hc.LBFGS(steps=steps, memory=20, **settings)


SOFT = {"lift": hc.NoLift(), "gate": hc.NoGate(), "embedding": hc.Plain()}


@functools.cache
def trained(chosen, problem=DECAY, seed=0):
    [outcome] = train_together([hc.Run(problem, chosen, seed)])
    return outcome


def train_together(runs):
    plan = TrainingPlan(runs)
    outcomes = train(plan, progress=Progress(visible=False))
    return [Outcome(plan, own.theta, own.history, own.stop, own.weights) for own in outcomes]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What training gave a run, and the plan it followed."""

    plan: TrainingPlan
    theta: np.ndarray
    history: History
    stop: Stop
    weights: dict

    @functools.cached_property
    def last(self):
        """The objective at the end, over the points of the last phase."""
        prepared = self.plan.prepare(len(self.plan.phases) - 1, 0, self.theta, [], None)
        return jax.jit(prepared.objective.measure)(jnp.asarray(self.theta[0]), prepared.data)

    @property
    def squares(self):
        """|r|² at each point at the end."""
        return np.asarray(self.last.squares[RESIDUAL])

    @functools.cached_property
    def solution(self):
        """The function that was trained, which nobody has judged."""
        [run] = self.plan.runs
        return hc.Solution(
            problem=run.problem,
            method=run.method,
            seed=run.seed,
            theta=self.theta.ravel(),
            history=self.history,
            stop=self.stop,
            seconds=0.0,
            provenance=Provenance("", {}),
            verdict=hc.Verdict("suspect", None, ()),
        )


def relative(values, exact):
    return np.linalg.norm(values - exact) / np.linalg.norm(exact)


def coordinates(plan, phase, part=0, theta=None, finished=()):
    """The residual points of a phase, of the first run."""
    prepared = plan.prepare(phase, part, plan.theta if theta is None else theta, list(finished), None)
    places = np.asarray(prepared.data.blocks[RESIDUAL].fixed[0].coordinates)
    return places if places.ndim == 2 else places[0]


# Weights and rates, written out


class ByHand:
    """Adam as in the textbook, on a loss Σ wᵢ rᵢ² / N whose weights a function of r² gives."""

    def __init__(self):
        plan = TrainingPlan([hc.Run(DECAY, method())])
        data = plan.prepare(0, 0, plan.theta, [], None).data
        [trial] = plan.trials(0, 1.0, [])
        unravel = jax.flatten_util.ravel_pytree(trial.init(jax.random.key(0)))[1]
        fixed = data.blocks[RESIDUAL].fixed[0]
        self.times = np.asarray(fixed.coordinates[:, 0])
        self.theta = plan.theta[0]

        def squares(theta):
            return jnp.sum(residual(trial, unravel(theta), fixed, data.parameters) ** 2, axis=1)

        self.squares = jax.jit(squares)
        self.slope = jax.jit(jax.grad(lambda theta, weights: jnp.mean(weights * squares(theta))))

    def train(self, steps, weigh, rate=lambda step: 1e-2):
        """Losses, mean squared residuals, and the weights at the end."""
        theta, mean, square, losses, terms = self.theta, 0.0, 0.0, [], []
        weights = weigh(np.asarray(self.squares(theta)))
        for step in range(steps):
            now = np.asarray(self.squares(theta))
            slope = np.asarray(self.slope(theta, weights))
            losses.append(np.mean(weights * now))
            terms.append(np.mean(now))
            mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
            sizes = mean / (1 - 0.9 ** (step + 1)), square / (1 - 0.999 ** (step + 1))
            theta = theta - rate(step) * sizes[0] / (np.sqrt(sizes[1]) + 1e-8)
            weights = weigh(now)
        return losses, terms, weights


by_hand = functools.cache(ByHand)


def climbing(*, rate):
    """Self-adaptive weights: Adam's ascent of Σ λᵢ² rᵢ² / N from λ = 1."""
    state = {"value": 1.0, "mean": 0.0, "square": 0.0, "step": 0}

    def weigh(squares):
        up = 2 * state["value"] * squares / len(squares)
        state["step"] += 1
        state["mean"] = 0.9 * state["mean"] + 0.1 * up
        state["square"] = 0.999 * state["square"] + 0.001 * up**2
        size = np.sqrt(state["square"] / (1 - 0.999 ** state["step"])) + 1e-8
        state["value"] = state["value"] + rate * state["mean"] / (1 - 0.9 ** state["step"]) / size
        return state["value"] ** 2

    return weigh


def attentive(*, rate, memory):
    state = {"value": 0.0}

    def weigh(squares):
        state["value"] = memory * state["value"] + rate * np.sqrt(squares / squares.max())
        return state["value"] ** 2

    return weigh


def causal(times, *, chunks, tolerance):
    chunk = np.floor(times * chunks).astype(int)

    def weigh(squares):
        means = [squares[chunk == k].mean() for k in range(chunks)]
        return np.exp(-tolerance * np.array([sum(means[:k]) for k in range(chunks)]))[chunk]

    return weigh


RULES = {
    "self-adaptive": (hc.SelfAdaptive(), lambda t: climbing(rate=5e-3)),
    "attention": (hc.Attention(0.2, 0.8), lambda t: attentive(rate=0.2, memory=0.8)),
    "causal": (hc.Causal(8, (3.0,)), lambda t: causal(t, chunks=8, tolerance=3.0)),
}


@pytest.mark.parametrize("name", RULES)
def test_weights_and_losses_follow_the_formulas(name):
    rule, formula = RULES[name]
    losses, terms, weights = by_hand().train(12, formula(by_hand().times))
    solution = trained(method(weights=rule))
    np.testing.assert_allclose(solution.history.loss, losses, rtol=1e-9)
    np.testing.assert_allclose(solution.history.terms["residual"], terms, rtol=1e-9)
    np.testing.assert_allclose(solution.weights["residual"].weights, weights, rtol=1e-9)
    np.testing.assert_array_equal(solution.weights["residual"].points[:, 0], by_hand().times)


SCHEDULES = {
    "exponential": (hc.Exponential(0.5, 4), lambda k: 1e-2 * 0.5 ** (k / 4)),
    "cosine": (hc.Cosine(0.1), lambda k: 1e-2 * (0.1 + 0.9 * (1 + np.cos(np.pi * k / 12)) / 2)),
    "warm-up": (
        hc.Cosine(warmup=4),
        lambda k: 1e-2 * ((1 + 3 * k / 4) / 4 if k < 4 else (1 + np.cos(np.pi * (k - 4) / 8)) / 2),
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_learning_rates_follow_their_schedules(name):
    schedule, rate = SCHEDULES[name]
    losses, *_ = by_hand().train(12, lambda squares: 1.0, rate)
    history = trained(method(stages=(adam(12, schedule=schedule),))).history
    np.testing.assert_allclose(history.loss, losses, rtol=1e-6)


# Weights that adapt


def test_self_adaptive_weights_end_larger_where_the_residual_stayed_large():
    """Waves that the small network cannot follow for x > 0, and none for x < 0."""
    chosen = method(weights=hc.SelfAdaptive(), stages=(adam(200),))
    found = trained(chosen, FAMILY.with_parameters(waves=3.0)).weights["residual"]
    right = found.points[:, 1] > 0
    assert np.median(found.weights[right]) > 2 * np.median(found.weights[~right])
    assert (found.weights > 1).all()


def test_weights_are_frozen_while_lbfgs_runs():
    first = trained(method(weights=hc.SelfAdaptive()))
    both = trained(method(weights=hc.SelfAdaptive(), stages=(adam(12), lbfgs(12))))
    found = both.weights["residual"]
    assert found.weights.tobytes() == first.weights["residual"].weights.tobytes()
    assert np.ptp(found.weights) > 0
    losses = both.history.loss[12:]
    assert (np.diff(losses) <= 0).all()
    assert losses[-1] == pytest.approx(np.mean(found.weights * both.squares), rel=1e-10)
    assert both.history.terms["residual"][-1] == pytest.approx(np.mean(both.squares), rel=1e-10)


def test_causal_training_solves_early_times_first():
    restless = FAMILY.with_parameters(a=0.0, swing=0.5)

    def by_quarter(rule):
        found = trained(method(weights=rule, stages=(adam(200),)), restless)
        quarter = np.floor(4 * coordinates(found.plan, 0)[:, 0])
        return [np.sqrt(found.squares[quarter == k].mean()) for k in range(4)]

    plain, ordered = by_quarter(None), by_quarter(hc.Causal(8, (10.0,)))
    assert ordered[0] == min(ordered)
    assert ordered[0] < 0.75 * plain[0]
    assert ordered[3] > plain[3]


EASY = method(weights=hc.Causal(8, (1e-3, 0.1), threshold=0.95), stages=(adam(5000), lbfgs(4)))


def test_causal_training_ends_when_every_weight_has_passed_at_the_last_tolerance():
    solution = trained(dataclasses.replace(EASY, stages=EASY.stages[:1]))
    assert solution.stop is Stop.CAUSAL
    assert not solution.stop.failed
    assert 1 < len(solution.history.loss) < 5000
    found = solution.weights["residual"]
    by_time = found.weights[np.argsort(found.points[:, 0])]
    assert (np.diff(by_time) <= 0).all()
    assert by_time[0] == 1.0
    assert 0.95 < by_time[-1] < 1.0


def test_causal_training_that_ended_is_followed_by_the_next_stage():
    (_, first), (label, second) = trained(EASY).history.stages
    assert first < 5000
    assert (label, second) == ("L-BFGS", 4)


def test_attention_turns_to_the_larger_residuals():
    solution = trained(method(weights=hc.Attention(0.1, 0.9), stages=(adam(200),)))
    found, sizes = solution.weights["residual"], np.sqrt(solution.squares)
    assert (found.weights < (0.1 / (1 - 0.9)) ** 2).all()
    large, small = sizes > np.quantile(sizes, 0.9), sizes < np.quantile(sizes, 0.1)
    assert found.weights[large].mean() > 1.5 * found.weights[small].mean()


# Mini-batches


def test_every_point_is_visited_once_an_epoch_and_keeps_its_weight():
    """λ grows by its rate with each visit, so it counts them; all are measured once before training."""
    rule, batches = hc.SelfAdaptive("identity", 1e-3), hc.Batches(4, 16)
    solution = trained(method(weights=rule, batches=batches, stages=(adam(6, rate=1e-6),)))
    counts = np.round((solution.weights["residual"].weights - 1) / 1e-3).astype(int) - 1
    np.testing.assert_array_equal(np.sort(counts), np.repeat([1, 2], 32))


@pytest.mark.parametrize("rule", [None, hc.SelfAdaptive()], ids=["plain", "self-adaptive"])
def test_mini_batches_train_all_points(rule):
    solution = trained(method(weights=rule, batches=hc.Batches(3, 25), stages=(adam(200),)))
    assert solution.squares.mean() < 0.05 * solution.history.terms["residual"][0]
    assert solution.squares.max() < 0.1 * solution.history.terms["residual"][0]
    if rule:
        assert (solution.weights["residual"].weights > 1).all()


def test_the_last_parameters_are_kept_where_losses_of_steps_cannot_be_compared():
    """With one batch of all points, the last loss is that at the parameters that were kept."""
    wild = adam(12, rate=0.3)
    solution = trained(method(batches=hc.Batches(1, 64), stages=(wild,)))
    assert np.argmin(solution.history.loss) < 11
    assert solution.history.loss[-1] == pytest.approx(float(solution.last.loss), rel=1e-10)
    best = trained(method(stages=(wild,)))
    assert best.history.loss.min() == pytest.approx(float(best.last.loss), rel=1e-10)


# Penalties


SOFTLY = method(
    **SOFT,
    penalties=(hc.InitialPenalty(32, weight=10.0), hc.PeriodicPenalty(16, weight=2.0)),
    stages=(adam(200, rate=3e-2), lbfgs(60)),
)
SOFTLY_AT_EDGES = dataclasses.replace(
    SOFTLY,
    penalties=(hc.InitialPenalty(32, weight=10.0), hc.BoundaryPenalty(16, weight=2.0)),
    stages=SOFTLY.stages[:1],
)


@pytest.mark.parametrize(
    ("problem", "chosen", "names"),
    [
        (DECAY, SOFTLY, ["residual", "initial", "periodic"]),
        (DRIVEN, SOFTLY_AT_EDGES, ["residual", "initial", "boundary"]),
    ],
    ids=["periodic", "Dirichlet"],
)
def test_the_soft_baseline_makes_each_of_its_terms_small(problem, chosen, names):
    solution = trained(chosen, problem)
    terms, end = solution.history.terms, int(np.argmin(solution.history.loss))
    assert list(terms) == names
    for name, values in terms.items():
        assert values[end] < 0.1 * values[0], name
        assert values[end] == pytest.approx(float(solution.last.terms[name]), rel=1e-8), name
    weighted = sum(w * terms[name] for w, name in zip((1.0, 10.0, 2.0), names, strict=True))
    np.testing.assert_allclose(solution.history.loss, weighted, rtol=1e-12)
    assert solution.history.loss[end] == pytest.approx(float(solution.last.loss), rel=1e-10)


def test_self_adaptive_weights_cover_penalties_too():
    chosen = dataclasses.replace(SOFTLY, weights=hc.SelfAdaptive(), stages=(adam(12),))
    solution = trained(chosen)
    assert {n: len(w.weights) for n, w in solution.weights.items()} == {
        "residual": 64,
        "initial": 32,
        "periodic": 16,
    }
    assert (solution.weights["initial"].points[:, 0] == 0).all()
    assert (solution.weights["periodic"].points[:, 1] == -1).all()
    for found in solution.weights.values():
        assert (found.weights > 1).all()


def test_observations_pull_the_solution_towards_them():
    # Against the equation uₜ = 0, which leaves u₀ = 2 + cos πx, two observations say 4 at t = 1.
    still = FAMILY.with_parameters(a=0.0)
    seen = hc.DataPenalty(((1.0, -0.5, 4.0), (1.0, 0.5, 4.0)), weight=100.0)
    stages = (adam(200, rate=3e-2),)
    solution = trained(method(lift=hc.Decay(0.0), penalties=(seen,), stages=stages), still).solution
    np.testing.assert_allclose(solution(1.0, np.array([-0.5, 0.5])), 4.0, atol=0.2)
    np.testing.assert_allclose(solution(0.0, X[0]), 2 + np.cos(np.pi * X[0]), rtol=1e-14)
    assert list(solution.history.terms) == ["residual", "data"]


# Precision of each stage


def test_each_stage_works_in_its_own_precision():
    stages = (adam(12, precision="float32"), adam(12), adam(12, precision="float32"))
    history = trained(method(stages=stages)).history
    single, double, last = np.split(history.loss, [12, 24])
    for rounded in (single, last):
        np.testing.assert_array_equal(rounded, rounded.astype(np.float32))
    assert (double != double.astype(np.float32)).all()
    assert last[-1] < double[-1] < single[-1]


# Time windows

MARCH = method(windows=3, stages=(lbfgs(60),))


def assert_continuous(solution):
    """Each window starts exactly where the one before ends, and the first from the initial data."""
    trials, networks = solution.trial.trials, solution.network
    x = np.linspace(*solution.problem.domain.bounds[0], 17)
    edges = [trial.problem.start for trial in trials[1:]]
    assert len(edges) == solution.method.windows - 1
    for number, edge in enumerate(edges):
        points = jnp.stack([jnp.full(17, edge), jnp.asarray(x)], axis=1)
        before, after = (trials[k](networks[k], points) for k in (number, number + 1))
        np.testing.assert_allclose(after, before, rtol=1e-14, atol=1e-15)
        np.testing.assert_array_equal(solution.trial(networks, points), before)
    points = jnp.stack([jnp.full(17, solution.problem.start), jnp.asarray(x)], axis=1)
    initial = solution.problem.initial_values([jnp.asarray(x)])[0]
    np.testing.assert_allclose(solution.trial(networks, points)[:, 0], initial, rtol=1e-14, atol=1e-15)


def test_time_windows_join_exactly_and_solve_the_equation():
    restless = FAMILY.with_parameters(swing=2.0)
    solution = trained(MARCH, restless).solution
    assert_continuous(solution)
    assert solution.history.stages == tuple((f"L-BFGS, window {n}/3", 60) for n in (1, 2, 3))
    # uₜ = −u + 2 cos 12t
    driven = 2 * (np.cos(12 * T) + 12 * np.sin(12 * T) - np.exp(-T)) / 145
    assert relative(solution(T, X), FAMILY.initial(X) * np.exp(-T) + driven) < 5e-3


def test_soft_time_windows_are_held_together_by_the_penalty():
    solution = trained(dataclasses.replace(SOFTLY, windows=2, stages=(lbfgs(60),) * 2)).solution
    np.testing.assert_allclose(solution(0.5 + 1e-9, X[0]), solution(0.5, X[0]), atol=0.05)
    assert relative(solution(T, X), DECAY.initial(X) * np.exp(-T)) < 0.05


def test_soft_periodicity_cannot_start_a_window_exactly():
    penalties = (hc.PeriodicPenalty(16),)
    with pytest.raises(MethodError, match="A time window starts exactly from the end of the one before"):
        TrainingPlan([hc.Run(DECAY, method(embedding=hc.Plain(), penalties=penalties, windows=2))])


# Easier problems first

LOGISTIC = dataclasses.replace(
    FAMILY.with_parameters(a=20.0, b=1.0), initial=lambda x: 0.2 * (1 + 0.5 * jnp.cos(jnp.pi * x))
)
"""uₜ = 20 u (1 − u): its front is steep, and a network trained cold settles at the wrong rest, u = 0."""


@pytest.mark.parametrize(
    "scheme",
    [{"curriculum": hc.Curriculum("a")}, {"horizons": (0.25, 0.5, 0.75, 1.0)}],
    ids=["curriculum", "horizons"],
)
def test_easier_problems_first_succeed_where_training_cold_fails(scheme):
    def error(stages, **scheme):
        solution = trained(method(lift=hc.Decay(1.0), stages=stages, **scheme), LOGISTIC).solution
        assert [count for _, count in solution.history.stages] == [60] * 4
        growth = LOGISTIC.initial(X) * np.exp(20 * T)
        return relative(solution(T, X), growth / (1 - LOGISTIC.initial(X) + growth))

    assert error((lbfgs(60),) * 4) > 0.5
    assert error((lbfgs(60),), **scheme) < 0.1


def test_a_curriculum_goes_through_its_parameters_on_one_network():
    chosen = method(curriculum=hc.Curriculum("a", (0.25, 0.5, 1.0)), stages=(adam(12), adam(6)))
    plan = TrainingPlan([hc.Run(RELAX, chosen)])
    values = [
        float(plan.prepare(k, 0, plan.theta, [], None).data.parameters["a"]) for k in range(len(plan.phases))
    ]
    assert values == [-0.5, -0.5, -1.0, -1.0, -2.0, -2.0]
    solution = trained(chosen, RELAX)
    assert solution.history.stages == tuple(
        (f"Adam, a × {f}", n) for f in ("0.25", "0.5", "1") for n in (12, 6)
    )

    # A lesson starts from the parameters that the one before ended with, on its own equation.
    start = TrainingPlan([hc.Run(RELAX, chosen)]).prepare(2, 0, plan.theta, [], None)
    first = trained(method(stages=chosen.stages), RELAX.with_parameters(a=-0.5))
    measured = jax.jit(start.objective.measure)(jnp.asarray(first.theta[0]), start.data)
    assert solution.history.loss[18] == pytest.approx(float(measured.loss), rel=1e-9)


def test_a_growing_horizon_puts_points_into_the_part_of_time_that_is_open():
    chosen = method(horizons=(0.25, 0.5, 1.0), windows=2)
    plan = TrainingPlan([hc.Run(DECAY, chosen)])
    finished = [plan.theta]
    times = [coordinates(plan, k, finished=finished[: k // 3])[:, 0] for k in range(6)]
    for found, (low, high) in zip(
        times, [(0, 0.125), (0, 0.25), (0, 0.5), (0.5, 0.625), (0.5, 0.75), (0.5, 1.0)], strict=True
    ):
        assert low <= found.min() < low + 0.02 * (high - low)
        assert high - 0.02 * (high - low) < found.max() <= high
    labels = [f"Adam, window {w}/2, to {share}% of T" for w in (1, 2) for share in (25, 50, 100)]
    assert trained(chosen).history.stages == tuple((label, 12) for label in labels)


def test_each_lesson_goes_through_the_whole_schedule_with_weights_of_its_own():
    lessons = {"horizons": (0.5, 1.0), "stages": (adam(12, schedule=hc.Cosine()),)}
    for rule in (None, hc.Attention(0.2, 0.8)):
        history = trained(method(weights=rule, **lessons)).history
        assert history.stages == (("Adam, to 50% of T", 12), ("Adam, to 100% of T", 12))
        for lesson in np.split(history.terms["residual"], 2):
            # Its rate is down to nothing at the end, but not before.
            assert (np.abs(np.diff(lesson)) > 1e-6 * lesson[0]).all()
        assert (history.loss > 0).all()
    easy = dataclasses.replace(EASY, horizons=(0.5, 1.0), stages=EASY.stages[:1])
    _, (_, second) = trained(easy).history.stages
    assert 1 < second < 5000


# Points anew


def test_fresh_points_differ_from_part_to_part_and_fill_the_domain():
    plan = TrainingPlan([hc.Run(DECAY, method(resampling=hc.Resampling(4)))])
    parts = [coordinates(plan, 0, part) for part in range(3)]
    for one, other in itertools.pairwise(parts):
        assert not set(one[:, 0]) & set(other[:, 0])
    for part in parts:
        assert part.shape == (64, 2)
        for column, (low, high) in zip(part.T, ((0, 1), (-1, 1)), strict=True):
            strata = np.floor((column - low) / (high - low) * 64).astype(int)
            assert sorted(strata) == list(range(64))  # a Latin hypercube each
    np.testing.assert_array_equal(parts[2], coordinates(plan, 0, 2))


def test_training_goes_on_with_the_fresh_points():
    chosen = method(weights=hc.Causal(8), resampling=hc.Resampling(4))
    solution = trained(chosen)
    np.testing.assert_array_equal(solution.weights["residual"].points, coordinates(solution.plan, 0, 2))
    kept = trained(dataclasses.replace(chosen, resampling=None))
    np.testing.assert_allclose(solution.history.loss[:4], kept.history.loss[:4], rtol=1e-12)
    assert (np.abs(solution.history.loss / kept.history.loss - 1)[4:] > 1e-6).all()


def test_points_by_residual_are_more_where_it_is_large():
    """r = 1 + 9 on a tenth of the domain, so odds of 1 + 10/1.9 against 1 + 1/1.9."""
    step = declare(rhs=lambda u, x: -1.0 - 9.0 * (np.abs(x) < 0.1), initial=lambda x: 0 * x + 1.0)
    chosen = method(lift=hc.Decay(0.0), points=2000, resampling=hc.Resampling(5, "residual", candidates=10))
    plan = TrainingPlan([hc.Run(step, chosen)])
    zero = np.zeros_like(plan.theta)
    drawn, chosen_points = coordinates(plan, 0, 0), coordinates(plan, 0, 1, zero)
    assert np.mean(np.abs(drawn[:, 1]) < 0.1) == pytest.approx(0.1, abs=0.002)
    odds = 0.1 * (1 + 10 / 1.9), 0.9 * (1 + 1 / 1.9)
    expected = odds[0] / sum(odds)
    assert np.mean(np.abs(chosen_points[:, 1]) < 0.1) == pytest.approx(expected, abs=0.04)
    assert chosen_points.shape == (2000, 2)
    assert len(np.unique(chosen_points, axis=0)) == 2000


def test_adam_and_lbfgs_train_on_points_that_are_replaced():
    for by in ("fresh", "residual"):  # which are compiled alike
        stages = (adam(120), lbfgs(120))
        history = trained(method(resampling=hc.Resampling(60, by), stages=stages)).history
        assert history.loss[-1] < 1e-3 * history.loss[0]
        assert history.stages == (("Adam", 120), ("L-BFGS", 120))


def test_causal_weights_suit_the_points_of_every_stage():
    chosen = method(weights=hc.Causal(8), resampling=hc.Resampling(4), stages=(adam(12), lbfgs(4)))
    found = trained(chosen).weights["residual"]
    by_time = found.weights[np.argsort(found.points[:, 0])]
    assert (np.diff(by_time) <= 0).all()
    assert len(np.unique(by_time)) == 8


# All of them together


def test_schemes_combine():
    chosen = method(
        windows=2,
        horizons=(0.5, 1.0),
        curriculum=hc.Curriculum("a", (0.5, 1.0)),
        weights=hc.Causal(8),
        batches=hc.Batches(2, 32),
        resampling=hc.Resampling(50, "residual"),
        stages=(adam(200, schedule=hc.Cosine(0.1)), lbfgs(50)),
    )
    outcome = trained(chosen, RELAX)
    solution = outcome.solution
    assert_continuous(solution)
    labels = [label for label, _ in solution.history.stages]
    assert labels[:2] == [f"{s}, window 1/2, a × 0.5, to 50% of T" for s in ("Adam", "L-BFGS")]
    assert labels[-1] == "L-BFGS, window 2/2, a × 1, to 100% of T"
    assert len(labels) == 2 * 2 * 2 * 2
    assert relative(solution(T, X), RELAX.initial(X) * np.exp(-2 * T)) < 1e-2
    assert (outcome.weights["residual"].points[:, 0] >= 0.5).all()


# Many runs at once


def assert_as_alone(runs, *, atol=1e-9):
    for run, one in zip(runs, train_together(runs), strict=True):
        other = trained(run.method, run.problem, run.seed)
        assert one.stop is other.stop
        np.testing.assert_allclose(one.history.loss, other.history.loss, rtol=1e-8)
        np.testing.assert_allclose(one.theta, other.theta, rtol=1e-7, atol=atol)
        for name, values in one.history.terms.items():
            np.testing.assert_allclose(values, other.history.terms[name], rtol=1e-8)
        for name, found in one.weights.items():
            np.testing.assert_allclose(found.points, other.weights[name].points, rtol=1e-14, atol=1e-15)
            np.testing.assert_allclose(found.weights, other.weights[name].weights, rtol=1e-8)


@pytest.mark.parametrize(
    "scheme",
    [
        {"weights": hc.SelfAdaptive()},
        {"weights": hc.SelfAdaptive(), "batches": hc.Batches(3, 25)},
        {"windows": 2, "horizons": (0.5, 1.0)},
    ],
    ids=["self-adaptive", "mini-batches", "windows"],
)
def test_runs_train_together_as_they_do_alone(scheme):
    runs = [
        hc.Run(RELAX, method(**scheme), 0),
        hc.Run(RELAX.with_parameters(a=1.0), method(lift=hc.Decay(1.5), **scheme), 1),
    ]
    assert_as_alone(runs)


def test_runs_that_share_their_points_part_when_these_are_chosen_by_residual():
    chosen = method(resampling=hc.Resampling(4, "residual"))
    assert_as_alone([hc.Run(RELAX, chosen), hc.Run(RELAX, dataclasses.replace(chosen, lift=hc.Decay(1.5)))])


def test_problems_of_one_equation_train_together_whoever_declared_it():
    runs = [hc.Run(hc.find_problem(name), method()) for name in ("allen-cahn-1", "allen-cahn-2")]
    assert_as_alone(runs)


def test_problems_of_other_equations_do_not_train_together():
    first = declare(rhs=lambda u, a: -a * u, parameters={"a": 2.0})
    others = [
        declare(name="stronger", rhs=lambda u, a: -2 * a * u, parameters={"a": 2.0}),
        declare(name="driven", rhs=lambda u, a, t: -a * u * t, parameters={"a": 2.0}),
        declare(name="renamed", rhs=lambda u, b: -b * u, parameters={"b": 2.0}),
    ]
    for other in others:
        with pytest.raises(MethodError, match=f"must share their equation, but {other.name} and problem"):
            TrainingPlan([hc.Run(first, method()), hc.Run(other, method())])


def test_a_network_of_ones_own_does_not_train_together_on_features_that_differ():
    own = hc.CustomNetwork(hc.MLP(4, 1).init, lambda p, features: hc.MLP(4, 1)(p, features))
    chosen = hc.Method(
        lift=hc.NoLift(),
        gate=hc.NoGate(),
        embedding=hc.Characteristic(),
        network=own,
        points=16,
        penalties=(hc.InitialPenalty(8), hc.PeriodicPenalty(8)),
        curriculum=hc.Curriculum("c", (0.5, 1.0)),
    )
    slow, fast = (hc.find_problem("advection").with_parameters(c=c) for c in (2.0, 4.0))
    with pytest.raises(MethodError, match="With a CustomNetwork.*must have the same embedding"):
        TrainingPlan([hc.Run(slow, chosen), hc.Run(fast, chosen)])
    plan = TrainingPlan([hc.Run(fast, chosen)])
    point = jnp.asarray([[0.5, 0.0]])
    lessons = [plan.prepare(k, 0, plan.theta, [], None).objective.trial.embed(point) for k in (0, 2)]
    np.testing.assert_allclose(np.ravel(lessons), [-1.0 / np.pi - 1, -2.0 / np.pi - 1])


def test_a_run_that_breaks_down_keeps_its_best_parameters_while_others_go_on_with_new_points():
    root = declare(
        rhs=lambda u, a: np.sqrt(u - a), initial=lambda x: 3 + jnp.cos(jnp.pi * x), parameters={"a": 0.0}
    )
    chosen = method(resampling=hc.Resampling(4))
    runs = [hc.Run(p, chosen) for p in (root, root.with_parameters(a=100.0))]
    sound, broken = train_together(runs)
    assert (sound.stop, broken.stop) == (Stop.BUDGET, Stop.NOT_FINITE)
    assert (len(sound.history.loss), len(broken.history.loss)) == (12, 1)
    np.testing.assert_array_equal(broken.theta[0], broken.plan.theta[1])


def test_of_several_lessons_over_the_whole_the_one_that_does_best_on_points_apart_is_kept(monkeypatch):
    seen = []

    def score(self, phase, theta, finished):
        seen.append(theta.copy())
        return np.asarray([[3.0], [1.0], [2.0]][phase])

    monkeypatch.setattr(TrainingPlan, "score", score)
    several = method(horizons=(1.0, 1.0, 1.0), resampling=hc.Resampling(every=0), stages=(adam(5),))
    solution = trained(several)
    assert len(seen) == 3
    np.testing.assert_array_equal(solution.theta[0], seen[1][0])


def test_points_apart_are_others_than_those_trained_on_and_the_score_is_the_loss_there():
    several = method(horizons=(1.0, 1.0), resampling=hc.Resampling(every=0))
    plan = TrainingPlan([hc.Run(DECAY, several, seed=1)])
    (score,) = plan.score(0, plan.theta, [])
    assert score == pytest.approx(plan.residual_rms(0, plan.theta, "check") ** 2, rel=0.5)
    assert score != pytest.approx(plan.residual_rms(0, plan.theta, "interior") ** 2, rel=1e-6)
    alone = TrainingPlan([hc.Run(DECAY, method(), seed=1)])
    assert alone.score(0, alone.theta, []) is None
