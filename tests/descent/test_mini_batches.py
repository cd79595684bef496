"""Mini-batches visit every point in turn, and train them all."""

import numpy as np
import pytest

import hcpinn as hc
from descent.schemes import adam, method, trained


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
