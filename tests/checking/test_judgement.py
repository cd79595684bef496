"""Stop and verdict come from the same evidence and cannot contradict each other."""

import dataclasses

import numpy as np
import pytest

import hcpinn as hc
from descent.small import DECAY, method
from hcpinn.checking import solution_of
from hcpinn.machine.provenance import Provenance
from hcpinn.outcome import History, Outcome, Residuals, Stop
from solutions import HEAT, METHOD, heat_reference

REFERENCE = heat_reference()


class Known:
    """The solution of `HEAT`, off by a share of itself, as another engine might have found it."""

    engine = "formula"
    parameters = (np.zeros(3),)

    def __init__(self, off):
        self.off = off

    def derivative(self, points, index):
        assert index == (0, 0)
        t, x = points[:, 0], points[:, 1]
        return ((1 + self.off) * np.exp(-0.1 * np.pi**2 * t) * np.cos(np.pi * x))[:, None]

    def to_arrays(self):
        return {}


def judged(off, *, stop=Stop.ESTIMATE, reference=REFERENCE, accuracy=1e-2, estimate=5e-3):
    outcome = Outcome(
        Known(off),
        stop,
        History(np.ones(1), (("Pass", 1),)),
        1.0,
        Residuals(1e-3, 1e-3, lambda points: np.zeros(len(points))),
        estimated_error=estimate,
    )
    facts = {"problem": HEAT, "method": METHOD, "seed": 0, "provenance": Provenance("", {})}
    return solution_of(outcome, reference, accuracy=accuracy, **facts)


def test_an_estimate_that_the_reference_confirms_is_an_accuracy_reached():
    good = judged(6e-3)
    assert (good.stop, good.verdict.status) == (Stop.ACCURACY, "converged")
    assert good.rel_l2["u"] == pytest.approx(6e-3)
    assert good.summary()["estimated_error"] == 5e-3
    assert good.summary()["stop_reason"] == "Reached the requested accuracy (checked independently)."


@pytest.mark.parametrize("off", [1.001e-2, 0.2])
def test_an_estimate_that_the_reference_refutes_is_told_as_what_it_was(off):
    bad = judged(off)
    assert (bad.stop, bad.verdict.status) == (Stop.ESTIMATE, "not converged")
    assert "by its own estimate the error was 5e-03" in str(bad.verdict)
    assert "Reached" not in bad.summary()["stop_reason"]


def test_without_a_reference_an_estimate_is_no_accuracy_reached():
    blind = judged(0.0, reference="Nobody computed one.")
    assert (blind.stop, blind.verdict.status) == (Stop.ESTIMATE, "suspect")


@pytest.mark.parametrize("stop", list(Stop))
@pytest.mark.parametrize("off", [0.0, 0.1])
def test_whatever_ended_an_engine_accuracy_is_reached_exactly_where_it_converged(stop, off):
    found = judged(off, stop=stop)
    assert (found.stop is Stop.ACCURACY) <= found.verdict.converged
    assert (found.stop is Stop.ESTIMATE) <= (not found.verdict.converged)
    again = dataclasses.replace(found, verdict=hc.Verdict("not converged", 0.5, ()))
    assert again.stop is not Stop.ACCURACY


def test_a_training_that_stops_by_its_estimate_agrees_with_its_verdict():
    lessons = method(lessons=30, resampling=hc.Resampling(every=0), stages=(hc.LBFGS(steps=10),))
    solution = hc.solve(DECAY, lessons, accuracy=1e-3, progress=False)
    assert solution.verdict.converged
    assert solution.stop is Stop.ACCURACY
    assert solution.estimated_error == pytest.approx(solution.rel_l2["u"], rel=0.3)
    assert 10 <= len(solution.history.loss) < 300
