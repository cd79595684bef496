"""Easier problems first: curricula and growing horizons, lesson by lesson."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from descent.schemes import (
    DECAY,
    EASY,
    FAMILY,
    RELAX,
    T,
    X,
    adam,
    coordinates,
    lbfgs,
    method,
    relative,
    trained,
)
from hcpinn.errors import MethodError
from hcpinn.planning import TrainingPlan

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


def test_a_curriculum_in_the_horizon_is_refused():
    shorter = hc.find_problem("advection").with_parameters(c=2.0, horizon=0.5)
    with pytest.raises(MethodError, match="what horizons="):
        hc.solve(shorter, method(curriculum=hc.Curriculum("horizon")), progress=False)


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
    (score,) = plan.score(0, plan.theta, [])  # type: ignore[misc]
    assert score == pytest.approx(plan.residual_rms(0, plan.theta, "check") ** 2, rel=0.5)
    assert score != pytest.approx(plan.residual_rms(0, plan.theta, "interior") ** 2, rel=1e-6)
    alone = TrainingPlan([hc.Run(DECAY, method(), seed=1)])
    assert alone.score(0, alone.theta, []) is None
