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
    lessons,
    method,
    relative,
    trained,
)
from hcpinn.descent import Lesson, Preparation, Progress, Report, Stop, train
from hcpinn.descent.accuracy import Accuracy
from hcpinn.descent.lessons import Horizons, Repetition, Schedule, Windows
from hcpinn.errors import MethodError

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
    with pytest.raises(MethodError, match="use horizons="):
        hc.solve(shorter, method(curriculum=hc.Curriculum("horizon")), progress=False)


def test_a_curriculum_goes_through_its_parameters_on_one_network():
    chosen = method(curriculum=hc.Curriculum("a", (0.25, 0.5, 1.0)), stages=(adam(12), adam(6)))
    preparation = Preparation([hc.Run(RELAX, chosen)])
    values = [float(preparation.prepare(k).data.parameters["a"]) for k in lessons(preparation)]
    assert values == [-0.5, -1.0, -2.0]
    solution = trained(chosen, RELAX)
    assert solution.history.stages == tuple(
        (f"Adam, a × {f}", n) for f in ("0.25", "0.5", "1") for n in (12, 6)
    )

    # A lesson starts from the parameters that the one before ended with, on its own equation.
    _, second, _ = lessons(preparation)
    start = preparation.prepare(second)
    first = trained(method(stages=chosen.stages), RELAX.with_parameters(a=-0.5))
    measured = jax.jit(start.objective.measure)(jnp.asarray(first.theta[0]), start.data)
    assert solution.history.loss[18] == pytest.approx(float(measured.loss), rel=1e-9)


def test_a_growing_horizon_puts_points_into_the_part_of_time_that_is_open():
    chosen = method(horizons=(0.25, 0.5, 1.0), windows=2)
    preparation = Preparation([hc.Run(DECAY, chosen)])
    finished = [preparation.theta]
    times = [
        coordinates(preparation, lesson, finished=finished[: lesson.window])[:, 0]
        for lesson in lessons(preparation)
    ]
    for found, (low, high) in zip(
        times, [(0, 0.125), (0, 0.25), (0, 0.5), (0.5, 0.625), (0.5, 0.75), (0.5, 1.0)], strict=True
    ):
        assert low <= found.min() < low + 0.02 * (high - low)
        assert high - 0.02 * (high - low) < found.max() <= high
    labels = [f"Adam, window {w}/2, to {share}% of T" for w in (1, 2) for share in (25, 50, 100)]
    assert trained(chosen).history.stages == tuple((label, 12) for label in labels)


def test_each_lesson_goes_through_the_whole_schedule_with_weights_of_its_own():
    halves = {"horizons": (0.5, 1.0), "stages": (adam(12, schedule=hc.Cosine()),)}
    for rule in (None, hc.Attention(0.2, 0.8)):
        history = trained(method(weights=rule, **halves)).history
        assert history.stages == (("Adam, to 50% of T", 12), ("Adam, to 100% of T", 12))
        for lesson in np.split(history.terms["residual"], 2):
            # Its rate is down to nothing at the end, but not before.
            assert (np.abs(np.diff(lesson)) > 1e-6 * lesson[0]).all()
        assert (history.loss > 0).all()
    easy = dataclasses.replace(EASY, horizons=(0.5, 1.0), stages=EASY.stages[:1])
    _, (_, second) = trained(easy).history.stages
    assert 1 < second < 5000


def test_of_several_lessons_over_the_whole_the_one_with_the_lowest_estimate_is_kept(monkeypatch):
    seen, errors = [], iter([3.0, 1.0, 2.0])

    def estimate(self, window, found, finished):
        seen.append(found.copy())
        return np.asarray([next(errors)])

    monkeypatch.setattr(Accuracy, "in_window", estimate)
    outcome = trained(method(lessons=3, resampling=hc.Resampling(every=0), stages=(adam(5),)), seed=7)
    assert len(seen) == 3
    np.testing.assert_array_equal(outcome.theta[0], seen[1][0])
    assert outcome.stop is Stop.BUDGET


def test_a_window_is_left_as_soon_as_its_own_estimate_is_good_enough(monkeypatch):
    """It is good after two lessons in the first window, and after one in the second."""
    errors = iter([1.0, 0.01, 0.01])
    monkeypatch.setattr(Accuracy, "in_window", lambda *_: np.asarray([next(errors)]))
    chosen = method(lessons=5, windows=2, resampling=hc.Resampling(every=0), stages=(adam(5),))
    preparation = Preparation([hc.Run(DECAY, chosen)], accuracy=0.2)
    [outcome] = train(preparation, progress=Progress(visible=False))
    labels = [f"Adam, window {w}/2, to 100% of T" for w in (1, 1, 2)]
    assert outcome.history.stages == tuple((label, 5) for label in labels)
    assert outcome.stop is Stop.ESTIMATE


def test_windows_end_by_themselves_and_the_whole_is_as_accurate_as_asked_for():
    chosen = method(lessons=20, windows=3, resampling=hc.Resampling(every=0), stages=(lbfgs(20),))
    solution = hc.solve(DECAY, chosen, accuracy=1e-2, progress=False)
    per_window = [sum(f"window {w}/3" in label for label, _ in solution.history.stages) for w in (1, 2, 3)]
    assert 1 <= max(per_window) < 20
    assert solution.stop is Stop.ACCURACY
    assert solution.rel_l2["u"] <= 1e-2
    assert solution.estimated_error == pytest.approx(solution.rel_l2["u"], rel=0.3)


def test_a_schedule_asks_its_rules_in_turn():
    schedule = Schedule((Repetition(3), Horizons((0.5, 1.0)), Windows(2)))
    found = [schedule.first]
    for good in (False, False, True, False, False, False, False):
        following = schedule.next(Report(found[-1], good))
        if following is None:
            break
        found.append(following)
    assert found == [
        Lesson(0, share=0.5, number=0),
        Lesson(0, share=1.0, number=1),
        Lesson(0, share=1.0, repeat=1, number=2),
        Lesson(1, share=0.5, number=0),
        Lesson(1, share=1.0, number=1),
        Lesson(1, share=1.0, repeat=1, number=2),
        Lesson(1, share=1.0, repeat=2, number=3),
    ]
