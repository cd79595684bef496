"""The step that is timed is the step that training takes."""

import numpy as np
import pytest

import hcpinn as hc
from hcpinn.descent import Preparation, Progress, train
from hcpinn.speed import BenchCase, TrainingStep, model_problem, time_steps

SMALL = hc.Method(embedding=hc.Fourier(1), network=hc.MLP(8, 2), points=64, stages=(hc.Adam(steps=20),))


def test_losses_are_those_of_training():
    runs = [hc.Run(model_problem(), SMALL, seed) for seed in range(2)]
    step = TrainingStep(runs)
    losses = np.asarray(step.advance(20))
    outcomes = train(Preparation(runs), progress=Progress(visible=False))
    for number, outcome in enumerate(outcomes):
        np.testing.assert_array_equal(losses[:, number, 0], outcome.history.loss[:20])


@pytest.mark.parametrize(
    ("settings", "streams"), [({}, 4), ({"order": 6}, 8), ({"dimensions": 3}, 8), ({"fields": 4}, 4)]
)
def test_model_problems_have_the_wanted_shape(settings, streams):
    problem = model_problem(**settings)
    trial = BenchCase(**settings, points=8, width=4, depth=1, modes=1).step().program.objective.trial
    assert len(problem.components) == settings.get("fields", 1)
    assert len(problem.space) == settings.get("dimensions", 1)
    assert len(hc.jets.closure(trial.indices)) == streams


@pytest.mark.parametrize("settings", [{"order": 7}, {"fields": 0}, {"dimensions": 4}])
def test_other_model_problems_are_refused(settings):
    with pytest.raises(hc.HcpinnError, match=next(iter(settings))):
        model_problem(**settings)


def test_rounds_end_at_the_limit():
    calls = []
    timing = time_steps(lambda: calls.append(0), steps=1, rounds=5, seconds=0.0, limit=0.0)
    assert timing.rounds == 1
    assert len(calls) == 3  # first, second, and one round
    assert timing.fastest <= timing.median <= timing.slowest
